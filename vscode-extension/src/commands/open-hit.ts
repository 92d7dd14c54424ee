import * as vscode from 'vscode'
import { rangeOf, uriOf, type Place } from '../places'

/** Opens a file at the lines of a hit. */
export const openHit = () => async (hit?: unknown): Promise<void> => {
  if (isPlace(hit)) {
    await vscode.window.showTextDocument(uriOf(hit), { selection: rangeOf(hit) })
  }
}

function isPlace(value: unknown): value is Place {
  return typeof value === 'object' && value !== null && 'root' in value && 'path' in value && 'startLine' in value && 'endLine' in value
}
