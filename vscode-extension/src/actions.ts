/** What can be done while the index is in a state? Pure. */

import { assertNever } from './failure'
import type { IndexState } from './session'

export interface Action {
  readonly icon: string
  readonly label: string
  readonly command: { readonly id: string, readonly args: readonly string[] }
}

const action = (icon: string, label: string, id: string, ...args: readonly string[]): Action => ({ icon, label, command: { id, args } })

const SEARCH = action('search', 'Search Codebase', 'sextant.search')
const INDEX = action('sync', 'Index Workspace', 'sextant.indexWorkspace')
const PAUSE = action('debug-pause', 'Pause Indexing', 'sextant.pauseIndexing')
const RESUME = action('debug-continue', 'Resume Indexing', 'sextant.resumeIndexing')
const ALWAYS = [
  action('list-unordered', 'Show the Index', 'sextant.index.focus'),
  action('output', 'Show Log', 'sextant.showLog'),
  action('gear', 'Settings', 'workbench.action.openSettings', '@ext:sextant-code.sextant'),
]

/** What helps against a failure, if one step does. */
export function remedyOf(code: string): Action | undefined {
  switch (code) {
    case 'NO_FOLDER':
      return action('folder-opened', 'Open Folder', 'vscode.openFolder')
    case 'INDEX_CLEARED':
    case 'INDEX_NOT_BUILT':
      return INDEX
    case 'INDEX_PAUSED':
      return RESUME
    case 'STORAGE_INSIDE_ROOT':
      return action('gear', 'Open Settings', 'workbench.action.openSettings', 'sextant.index.storage')
    default:
      return undefined
  }
}

export function actionsFor(state: IndexState): readonly Action[] {
  switch (state.kind) {
    case 'off':
    case 'opening':
      return ALWAYS
    case 'indexing':
      return [PAUSE, SEARCH, ...ALWAYS]
    case 'ready':
      return [SEARCH, INDEX, PAUSE, ...ALWAYS]
    case 'paused':
      return [RESUME, SEARCH, ...ALWAYS]
    case 'empty':
    case 'cleared':
    case 'failed':
      return [INDEX, ...ALWAYS]
    default:
      return assertNever(state)
  }
}
