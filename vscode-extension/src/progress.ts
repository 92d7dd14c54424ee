/**
 * Shows a long run as a notification, if the settings say so. A run that is over within a second, as after a save, is
 * shown in the status bar alone.
 */

import * as vscode from 'vscode'
import type { Ctx } from './ctx'
import { percentOf, progressLine, progressPlace } from './status-text'

const SHOWN_AFTER_MS = 1000

export function progressNotification({ config, session, log }: Ctx): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined
  let shown = false

  const show = (): void => {
    shown = true
    const options = { location: vscode.ProgressLocation.Notification, title: 'Sextant', cancellable: true }
    void vscode.window.withProgress(options, (progress, token) => new Promise<void>((resolve) => {
      let percentBefore = 0
      const follow = (): void => {
        const { state } = session.snapshot
        if (state.kind !== 'indexing') {
          end()
          return
        }
        const percent = percentOf(state) ?? percentBefore
        progress.report({ message: progressLine(state), increment: Math.max(0, percent - percentBefore) })
        percentBefore = Math.max(percent, percentBefore)
      }
      const subscription = session.onChange(follow)
      const end = (): void => {
        subscription.dispose()
        shown = false
        resolve()
      }
      token.onCancellationRequested(() => {
        end()
        session.pause().catch((error: unknown) => { log.error(String(error)) })
      })
      follow()
    }))
  }

  const subscription = session.onChange(({ state }) => {
    if (state.kind !== 'indexing') {
      clearTimeout(timer)
      timer = undefined
      return
    }
    if (!shown && timer === undefined && progressPlace(state, config.settings) === 'notification') {
      timer = setTimeout(() => {
        timer = undefined
        const now = session.snapshot.state
        if (now.kind === 'indexing' && progressPlace(now, config.settings) === 'notification') {
          show()
        }
      }, SHOWN_AFTER_MS)
    }
  })
  return vscode.Disposable.from(subscription, { dispose: () => { clearTimeout(timer) } })
}
