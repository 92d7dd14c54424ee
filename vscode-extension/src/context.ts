/** Hits as context for a model or a colleague, with the paths that people see. */

import { renderContext, type Hit, type RenderedContext, type RenderOptions } from './engine'
import type { ShownPath } from './hit-text'

export function contextOf(hits: readonly Hit[], shown: ShownPath, options: RenderOptions = {}): RenderedContext {
  return renderContext(hits.map((hit) => ({ ...hit, path: shown(hit) })), options)
}
