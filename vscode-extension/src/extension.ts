/** Where VS Code enters. Everything is put together here, and taken down in `deactivate`. */

import * as vscode from 'vscode'
import type { SextantApi } from '../api'
import { createApi } from './api'
import { handler, registerParticipant } from './chat/participant'
import { registerCommands } from './commands'
import { Rephraser } from './chat/rephraser'
import { Config } from './config'
import type { Ctx } from './ctx'
import { Keys } from './keys'
import { IndexLife } from './life'
import { Log } from './log'
import { Pages } from './pages'
import { progressNotification } from './progress'
import { statusBar } from './status-bar'
import { registerTools } from './tools/tools'
import { IndexView } from './views/index-view'
import { ResultsView } from './views/results-view'

let life: IndexLife | undefined

/** What only tests see. */
export interface Insides extends Ctx {
  readonly chat: vscode.ChatRequestHandler
  readonly index: IndexView
}

/** In a test run the insides are there too. */
export interface TestApi extends SextantApi {
  readonly testing?: Insides
}

export function activate(context: vscode.ExtensionContext): TestApi {
  const started = performance.now()
  const log = new Log()
  const config = new Config((problem) => { log.warn(problem) })
  const followLevel = (): void => { log.level = config.settings['vectorDb.logLevel'] }
  followLevel()
  const keys = new Keys(context.secrets)
  const rephraser = new Rephraser(() => config.settings['chat.model'])
  const indexLife = new IndexLife(context, { config, keys, log, languageModel: rephraser })
  life = indexLife
  const ctx: Ctx = {
    context, config, log, keys, rephraser, session: indexLife.session, pages: new Pages(), results: new ResultsView(),
  }
  const index = new IndexView(ctx)
  context.subscriptions.push(
    log, config, indexLife, ctx.pages, ctx.results,
    config.onDidChange(followLevel),
    registerCommands(ctx),
    registerTools(ctx),
    registerParticipant(ctx),
    statusBar(ctx),
    progressNotification(ctx),
    index,
  )
  const api = createApi(ctx)
  // The addon is loaded once VS Code has gone on, and only if there is a folder.
  indexLife.start()
  log.info(`activated in ${(performance.now() - started).toFixed(1)} ms`)
  return context.extensionMode === vscode.ExtensionMode.Test ? Object.assign(api, { testing: { ...ctx, index, chat: handler(ctx) } }) : api
}

export async function deactivate(): Promise<void> {
  await life?.close()
}
