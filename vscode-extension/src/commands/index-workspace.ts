import * as vscode from 'vscode'
import type { Ctx } from '../ctx'
import { failureOf } from '../failure'
import { count } from '../status-text'

/** Brings the index up to date and says what that did; goes on with one that was paused or cleared before. */
export const indexWorkspace = ({ session }: Ctx) => async (): Promise<void> => {
  await session.refresh()
  // An index that was cleared may be paused as well.
  const { kind } = session.snapshot.state
  const report = await (kind === 'paused' || kind === 'cleared' ? session.resume() : session.index()).catch((error: unknown) => {
    if (failureOf(error).code !== 'INDEX_PAUSED') {
      throw error
    }
    // Whoever paused it meanwhile knows.
    return undefined
  })
  if (report === undefined) {
    return
  }
  const { added, changed, removed, files, skipped, tookMs } = report
  const news = [[added, 'new'], [changed, 'changed'], [removed, 'removed']].filter(([n]) => n !== 0).map(([n, what]) => `${n} ${what}`)
  const summary = `${count(files, 'file')} indexed in ${(tookMs / 1000).toFixed(1)} s${news.length > 0 ? `: ${news.join(', ')}` : '; nothing had changed'}.`
  const buttons = skipped.length > 0 ? ['Show Skipped Files'] : []
  void vscode.window.showInformationMessage(summary, ...buttons).then((button) => {
    if (button !== undefined) {
      void vscode.commands.executeCommand('sextant.showSkippedFiles')
    }
  })
}
