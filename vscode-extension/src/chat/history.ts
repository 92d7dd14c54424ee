/** What was said before in this chat. */

import * as vscode from 'vscode'
import { isAnswerMetadata } from './follow-ups'
import type { Turn } from './conversation'

type History = vscode.ChatContext['history']

export function turnsOf(history: History): readonly Turn[] {
  return history.map((turn): Turn => turn instanceof vscode.ChatRequestTurn
    ? { role: 'user', text: turn.prompt }
    : { role: 'assistant', text: turn.response.map(textOf).join('') })
    .filter(({ text }) => text.trim() !== '')
}

/** The last question as it was searched for, else as it was asked. */
export function previousQuestion(history: History): string | undefined {
  for (const turn of history.toReversed()) {
    if (turn instanceof vscode.ChatResponseTurn && isAnswerMetadata(turn.result.metadata)) {
      return turn.result.metadata.question
    }
    if (turn instanceof vscode.ChatRequestTurn) {
      return turn.prompt
    }
  }
  return undefined
}

function textOf(part: vscode.ChatResponseTurn['response'][number]): string {
  if (part instanceof vscode.ChatResponseMarkdownPart) {
    return part.value.value
  }
  return part instanceof vscode.ChatResponseAnchorPart && part.title !== undefined ? `\`${part.title}\`` : ''
}
