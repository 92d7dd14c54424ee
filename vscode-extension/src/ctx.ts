/** What every part of the extension works with. */

import type * as vscode from 'vscode'
import type { Rephraser } from './chat/rephraser'
import type { Config } from './config'
import type { Keys } from './keys'
import type { Log } from './log'
import type { Pages } from './pages'
import type { Session } from './session'
import type { ResultsView } from './views/results-view'

export interface Ctx {
  readonly context: vscode.ExtensionContext
  readonly config: Config
  readonly keys: Keys
  readonly log: Log
  readonly rephraser: Rephraser
  readonly session: Session
  readonly pages: Pages
  readonly results: ResultsView
}

/** An `AbortSignal` for what VS Code cancels with a token. */
export function signalOf(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController()
  if (token.isCancellationRequested) {
    controller.abort()
  } else {
    token.onCancellationRequested(() => { controller.abort() })
  }
  return controller.signal
}
