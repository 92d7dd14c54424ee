/**
 * How is a message of a conversation put into words for a search?
 *
 * A small model gets the message and the conversation, and answers with a question that stands by itself and with
 * keywords. Another, shorter request names the intent. Here are the prompts and the reading of the answers, which forgives
 * what models do to a format. Pure.
 */

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export interface Rewrite {
  readonly question: string
  readonly keywords: readonly string[]
}

export const INTENTS = ['locate', 'explain', 'usage', 'overview', 'other'] as const
export type Intent = (typeof INTENTS)[number]

/** What the answer to a request about the intent may hold, for models that take options. */
export const INTENT_OPTIONS = { max_tokens: 20, stop: [';'] } as const

const MOST_KEYWORDS = 8
const LONGEST_KEYWORD = 60
const HISTORY_TURNS = 6
const HISTORY_CHARACTERS = 600

export function rewritePrompt(message: string, history: readonly Turn[], scope: readonly string[]): string {
  const turns = history.slice(-HISTORY_TURNS).map(({ role, text }) => `${role}: ${text.slice(0, HISTORY_CHARACTERS)}`)
  return [
    'You prepare the search of a codebase. You do not answer the question and you do not ask back.',
    'Write the last message as one question that can be understood without the conversation: replace "it", "this", "that" by what they stand for, and keep the meaning.',
    `Then list at most ${MOST_KEYWORDS} words or identifiers that the code in question probably contains, the most telling first, with plurals or synonyms after a comma.`,
    'Answer in exactly this form, in English:\n\n## Question\nHow is a session closed when its user signs out?\n\n## Keywords\n- session, sessions\n- sign out, logout\n- close',
    ...(turns.length > 0 ? [`The conversation so far:\n${turns.join('\n')}`] : []),
    ...(scope.length > 0 ? [`The message is about these files: ${scope.join(', ')}`] : []),
    `The last message:\n${message}`,
  ].join('\n\n')
}

export function parseRewrite(answer: string, message: string): Rewrite {
  const json = fromJson(answer)
  if (json !== undefined) {
    return { question: json.question || message, keywords: clean(json.keywords) }
  }
  const lines = answer.split('\n').filter((line) => !/^\s*```/.test(line))
  const sections: { question: string[], keywords: string[] } = { question: [], keywords: [] }
  let section: string[] | undefined
  for (const line of lines) {
    const heading = /^[\s#*_>]*(question|keywords?)[\s*_]*(?::[\s*_]*(.*))?$/i.exec(line)
    if (heading?.[1] === undefined) {
      section?.push(line)
      continue
    }
    section = heading[1].toLowerCase() === 'question' ? sections.question : sections.keywords
    if (heading[2]) {
      section.push(heading[2])
    }
  }
  const question = sections.question.map((line) => line.trim()).filter((line) => line !== '').join(' ')
  return { question: question || message, keywords: clean(sections.keywords) }
}

function clean(lines: readonly string[]): readonly string[] {
  const words = lines.flatMap((line) => line.replace(/^\s*(?:[-*•+]|\d+[.)])\s+/, '').split(/[,;]/))
    .map((word) => word.replace(/[`"'*]/g, '').trim())
    .filter((word) => word !== '' && word.length <= LONGEST_KEYWORD)
  return [...new Set(words)].slice(0, MOST_KEYWORDS * 3)
}

function fromJson(answer: string): { question: string, keywords: readonly string[] } | undefined {
  const body = /\{[\s\S]*\}/.exec(answer)?.[0]
  if (body === undefined) {
    return undefined
  }
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value !== 'object' || value === null) {
      return undefined
    }
    const question = 'question' in value && typeof value.question === 'string' ? value.question.trim() : ''
    const keywords = 'keywords' in value && Array.isArray(value.keywords) ? value.keywords.filter((word): word is string => typeof word === 'string') : []
    return question === '' && keywords.length === 0 ? undefined : { question, keywords }
  } catch {
    return undefined
  }
}

export function intentPrompt(message: string): string {
  return [
    'What does somebody want who asks this about a codebase?',
    'locate: to find the place where something is done. explain: to understand how something works. usage: to know how to call or configure something. overview: to know what the whole is and how it is built. other: none of these.',
    `The message:\n${message}`,
    'Reply with one word and a semicolon.',
  ].join('\n\n')
}

export function parseIntent(answer: string): Intent | undefined {
  const words: readonly string[] = answer.toLowerCase().match(/[a-z]+/g) ?? []
  return INTENTS.find((intent) => words.includes(intent))
}

/**
 * Without a model: a message that leans on the conversation takes the words of the question before it along.
 * `previous` is the question before, as it was searched for.
 */
export function rewriteByRule(message: string, previous: string | undefined): Rewrite {
  const leans = /\b(it|its|this|that|these|those|they|them|there|same|also)\b|^(and|but|so|what about|how about|where)\b/i.test(message)
  return { question: message, keywords: leans && previous !== undefined && previous !== '' ? [previous] : [] }
}
