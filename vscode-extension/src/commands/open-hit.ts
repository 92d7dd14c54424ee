import { ViewColumn } from 'vscode'
import type { Place } from '../places'
import { showPlace } from '../quick-search/preview'

/** Opens a file at the lines of a hit. */
export const openHit = () => async (hit?: unknown): Promise<void> => {
  if (isPlace(hit)) {
    await showPlace(hit, {})
  }
}

export const openHitToSide = () => async (hit?: unknown): Promise<void> => {
  if (isPlace(hit)) {
    await showPlace(hit, { viewColumn: ViewColumn.Beside, preview: false })
  }
}

function isPlace(value: unknown): value is Place {
  return typeof value === 'object' && value !== null && 'root' in value && 'path' in value && 'startLine' in value && 'endLine' in value
}
