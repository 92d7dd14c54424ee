/**
 * Shows a long run as a notification, if the settings say so. A run that is over within a second, as after a save, is
 * shown in the status bar alone.
 */

import * as vscode from 'vscode'
import type { Ctx } from './ctx'
import type { IndexState } from './session'
import { percentOf, progressLine, progressPlace } from './status-text'

const SHOWN_AFTER_MS = 1000

export function progressNotification(ctx: Ctx): vscode.Disposable {
  const { config, session, log } = ctx
  let timer: NodeJS.Timeout | undefined
  let shown = false

  const show = (): void => {
    shown = true
    const options = { location: vscode.ProgressLocation.Notification, title: 'Sextant', cancellable: true }
    void vscode.window.withProgress(options, (progress, token) => new Promise<void>((resolve) => {
      let percentBefore = 0
      let stage: Stage | undefined
      const follow = (): void => {
        const { state } = session.snapshot
        const now = stageOf(state)
        // The bar cannot go back: what is counted anew gets a new one.
        if (state.kind !== 'indexing' || now !== (stage ?? now)) {
          end()
          if (state.kind === 'indexing') {
            show()
          }
          return
        }
        stage = now
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
        pause(ctx).catch((error: unknown) => { log.error(String(error)) })
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

/** Files are counted in the first, texts for a service in the second. */
type Stage = 'files' | 'texts'

function stageOf(state: IndexState): Stage | undefined {
  return state.kind !== 'indexing' ? undefined : state.progress?.phase === 'embed' ? 'texts' : 'files'
}

/** Cancelling lasts: nothing is indexed until the user goes on, so that is said, with the way back. */
async function pause({ session }: Ctx): Promise<void> {
  await session.pause()
  const button = await vscode.window.showInformationMessage('Indexing is paused. The last complete index answers.', RESUME)
  if (button === RESUME) {
    await vscode.commands.executeCommand('sextant.resumeIndexing')
  }
}

const RESUME = 'Resume Indexing'
