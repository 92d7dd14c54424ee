/** What does a message mean in its conversation? Pure. */

import type { SearchOptions, SearchResponse } from '../engine'

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export type Command = 'search' | 'explain' | 'related'
/** What kind of answer is wanted. */
export type Intent = NonNullable<SearchResponse['intent']> | 'related'

/** Questions with their answers, oldest first, as a search takes them. */
export function exchanges(turns: readonly Turn[]): NonNullable<SearchOptions['history']> {
  const pairs: { question: string, answer?: string }[] = []
  for (const { role, text } of turns) {
    const last = pairs.at(-1)
    if (role === 'user') {
      pairs.push({ question: text })
    } else if (last !== undefined) {
      last.answer = last.answer === undefined ? text : `${last.answer}\n${text}`
    }
  }
  return pairs
}

/** What a command says about the kind of answer, so that no model need be asked. */
export function intentOf(command: Command | undefined): Exclude<Intent, 'related'> | undefined {
  switch (command) {
    case 'search':
    case 'related':
      return 'find-code'
    case 'explain':
      return 'explain'
    case undefined:
      return undefined
  }
}

/**
 * Without a model: a message that leans on the conversation takes the question before it along. `previous` is that
 * question as it was searched for.
 */
export function keywordsByRule(message: string, previous: string | undefined): string[] {
  const leans = /\b(it|its|this|that|these|those|they|them|there|same|also)\b|^(and|but|so|what about|how about)\b/i.test(message)
  return leans && previous !== undefined && previous !== '' ? [previous] : []
}
