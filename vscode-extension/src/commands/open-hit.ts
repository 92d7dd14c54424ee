import type { Place } from '../places'
import { showPlace } from '../quick-search/preview'

/** Opens a file at the lines of a hit. */
export const openHit = () => async (hit?: unknown): Promise<void> => {
  if (isPlace(hit)) {
    await showPlace(hit, {})
  }
}

function isPlace(value: unknown): value is Place {
  return typeof value === 'object' && value !== null && 'root' in value && 'path' in value && 'startLine' in value && 'endLine' in value
}
