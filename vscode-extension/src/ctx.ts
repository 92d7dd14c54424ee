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

/** Calls with an `AbortSignal` for what VS Code cancels with a token. */
export async function withSignal<T>(token: vscode.CancellationToken, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  if (token.isCancellationRequested) {
    controller.abort()
  }
  const subscription = token.onCancellationRequested(() => { controller.abort() })
  try {
    return await call(controller.signal)
  } finally {
    subscription.dispose()
  }
}
