/** Puts a message into words for the search: by a model if there is one and the settings allow it, else by rule. */

import type * as vscode from 'vscode'
import type { Ctx } from '../ctx'
import { failureOf } from '../failure'
import { ask, rephrasingModel } from './models'
import { INTENT_OPTIONS, intentPrompt, parseIntent, parseRewrite, rewriteByRule, rewritePrompt, type Intent, type Rewrite, type Turn } from './rewrite'

export interface Understood extends Rewrite {
  readonly intent: Intent | 'related'
}

export interface Circumstances {
  readonly command: 'search' | 'explain' | 'related' | undefined
  /** Files that the message is about. */
  readonly scope: readonly string[]
  readonly turns: readonly Turn[]
  readonly previous: string | undefined
  readonly token: vscode.CancellationToken
}

/** Nobody waits longer for better words. */
const TIMEOUT_MS = 8000

export async function understand({ config, log }: Ctx, request: vscode.ChatRequest, message: string, { command, scope, turns, previous, token }: Circumstances): Promise<Understood> {
  const byRule = { ...rewriteByRule(message, previous), intent: intentOf(command) ?? 'other' }
  // The types promise a model; an editor without any has none to give.
  const chosen = request.model as vscode.LanguageModelChat | undefined
  if (chosen === undefined || !config.settings['chat.rephrase']) {
    return byRule
  }
  try {
    const model = await rephrasingModel(chosen, config.settings['chat.model'])
    const [rewrite, intent] = await Promise.all([
      ask(model, rewritePrompt(message, turns, scope), token, TIMEOUT_MS).then((answer) => parseRewrite(answer, message)),
      intentOf(command) ?? ask(model, intentPrompt(message), token, TIMEOUT_MS, INTENT_OPTIONS).then(parseIntent).catch(() => undefined),
    ])
    log.debug(`${model.id} put a question into words with ${rewrite.keywords.length} keywords; intent: ${intent ?? 'not named'}`)
    return { ...rewrite, intent: intent ?? 'other' }
  } catch (error) {
    log.warn(`the question is searched for as it is: ${failureOf(error).message}`)
    return byRule
  }
}

function intentOf(command: Circumstances['command']): Understood['intent'] | undefined {
  switch (command) {
    case 'search':
      return 'locate'
    case 'explain':
    case 'related':
      return command
    case undefined:
      return undefined
  }
}
