/** Which language model does which work, and how is it asked? */

import * as vscode from 'vscode'

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

/** Asks for a short text, whole. Rejects when it takes longer than `timeoutMs`. */
export async function ask(
  model: vscode.LanguageModelChat,
  prompt: string,
  token: vscode.CancellationToken,
  timeoutMs: number,
  modelOptions: Record<string, unknown> = {},
): Promise<string> {
  const source = new vscode.CancellationTokenSource()
  const subscription = token.onCancellationRequested(() => { source.cancel() })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      source.cancel()
      reject(new Error(`no answer within ${timeoutMs / 1000} s`))
    }, timeoutMs)
  })
  const answer = async (): Promise<string> => {
    const justification = 'To put your question into words for the search of the codebase.'
    const response = await model.sendRequest([vscode.LanguageModelChatMessage.User(prompt)], { justification, modelOptions }, source.token)
    let text = ''
    for await (const part of response.text) {
      text += part
    }
    return text
  }
  try {
    return await Promise.race([answer(), late])
  } finally {
    clearTimeout(timer)
    subscription.dispose()
    source.dispose()
  }
}
