/** Which language model does which work, and how is it asked? */

import * as vscode from 'vscode'
import type { LanguageModel } from '../engine'

export type Completion = Parameters<LanguageModel['complete']>[0]

/** The model that the settings name, else the smallest of those that the one in the chat comes from. */
export async function rephrasingModel(chosen: vscode.LanguageModelChat, wanted: string): Promise<vscode.LanguageModelChat> {
  if (wanted !== '') {
    const all = await vscode.lm.selectChatModels()
    const named = all.find(({ id, family, name }) => [id, family, name].includes(wanted))
    if (named !== undefined) {
      return named
    }
  }
  const siblings = await vscode.lm.selectChatModels({ vendor: chosen.vendor })
  return [chosen, ...siblings].reduce((best, model) => size(model) < size(best) ? model : best)
}

/** Models do not tell their size: those with such a name come first, then those that take the least. */
function size({ family, name, maxInputTokens }: vscode.LanguageModelChat): number {
  const small = /\b(mini|nano|flash|haiku|small|lite|tiny)\b/i.test(`${family} ${name}`.replaceAll('-', ' '))
  return small ? maxInputTokens : maxInputTokens + Number.MAX_SAFE_INTEGER / 2
}

/** Asks for a short text, whole. */
export async function ask(model: vscode.LanguageModelChat, { messages, maxTokens, stop, purpose }: Completion, signal: AbortSignal): Promise<string> {
  const source = new vscode.CancellationTokenSource()
  const cancel = (): void => { source.cancel() }
  signal.addEventListener('abort', cancel)
  try {
    const response = await model.sendRequest(messages.map(messageOf), {
      justification: 'To put your question into words for the search of the codebase.',
      // Not every model takes options; a longer answer about the words does no harm.
      modelOptions: purpose === 'intent' ? { max_tokens: maxTokens, stop } : {},
    }, source.token)
    let text = ''
    for await (const part of response.text) {
      text += part
    }
    return text
  } finally {
    signal.removeEventListener('abort', cancel)
    source.dispose()
  }
}

/** Models of the editor know no system; what it would say comes first as a user's message. */
function messageOf({ role, content }: Completion['messages'][number]): vscode.LanguageModelChatMessage {
  return role === 'assistant' ? vscode.LanguageModelChatMessage.Assistant(content) : vscode.LanguageModelChatMessage.User(content)
}
