/** Every command of the extension. The manifest lists the same names; a test compares them. */

import * as vscode from 'vscode'
import { remedyOf } from './actions'
import { askInChat } from './commands/ask-in-chat'
import { clearIndex } from './commands/clear-index'
import { clearResults, copyResults, openResults, searchAgain } from './commands/results'
import { copyDiagnostics } from './commands/copy-diagnostics'
import { indexWorkspace } from './commands/index-workspace'
import { initIgnoreFile } from './commands/init-ignore-file'
import { openHit, openHitToSide } from './commands/open-hit'
import { pauseIndexing, resumeIndexing } from './commands/pause'
import { setApiKey } from './commands/set-api-key'
import { showActions } from './commands/show-actions'
import { showLog } from './commands/show-log'
import { showSkippedFiles } from './commands/show-skipped-files'
import type { Ctx } from './ctx'
import { failureOf, friendly, isCancelled } from './failure'
import { searchCodebase } from './quick-search/quick-search'

type Command = (ctx: Ctx) => (...args: readonly unknown[]) => Promise<void>

export const COMMANDS: Readonly<Record<string, Command>> = {
  'sextant.search': searchCodebase,
  'sextant.indexWorkspace': indexWorkspace,
  'sextant.pauseIndexing': pauseIndexing,
  'sextant.resumeIndexing': resumeIndexing,
  'sextant.clearIndex': clearIndex,
  'sextant.showSkippedFiles': showSkippedFiles,
  'sextant.showLog': showLog,
  'sextant.initIgnoreFile': initIgnoreFile,
  'sextant.copyDiagnostics': copyDiagnostics,
  'sextant.setApiKey': setApiKey,
  'sextant.showActions': showActions,
  'sextant.askInChat': askInChat,
  'sextant.openHit': openHit,
  'sextant.openHitToSide': openHitToSide,
  'sextant.searchAgain': searchAgain,
  'sextant.openResults': openResults,
  'sextant.copyResults': copyResults,
  'sextant.clearResults': clearResults,
}

export function registerCommands(ctx: Ctx): vscode.Disposable {
  return vscode.Disposable.from(...Object.entries(COMMANDS).map(([name, command]) => {
    const run = command(ctx)
    return vscode.commands.registerCommand(name, async (...args: readonly unknown[]) => {
      try {
        await run(...args)
      } catch (error) {
        await report(ctx, name, error)
      }
    })
  }))
}

async function report({ log }: Ctx, name: string, error: unknown): Promise<void> {
  if (isCancelled(error)) {
    return
  }
  const failure = failureOf(error)
  log.error(`${name}: ${failure.code}: ${failure.message}`)
  const remedy = remedyOf(failure.code)
  // Not awaited by whoever ran the command: the message may stay for long.
  void vscode.window.showErrorMessage(friendly(failure), ...(remedy === undefined ? [] : [remedy.label]), SHOW_LOG).then((button) => {
    if (button === SHOW_LOG) {
      log.show()
    } else if (button !== undefined && remedy !== undefined) {
      void vscode.commands.executeCommand(remedy.command.id, ...remedy.command.args)
    }
  })
  return Promise.resolve()
}

const SHOW_LOG = 'Show Log'
