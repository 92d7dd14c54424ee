/** What may somebody ask next? Pure. */

export interface AnswerMetadata {
  /** As it was searched for. */
  readonly question: string
  /** Whether a model answered. */
  readonly answered: boolean
  readonly names: readonly string[]
}

export interface FollowUp {
  /** What the button says, if not the prompt. */
  readonly label?: string
  readonly prompt: string
  readonly command?: string
}

const MOST = 3

export function followUps({ question, answered, names }: AnswerMetadata): readonly FollowUp[] {
  const [first, second] = names
  return [
    ...(answered ? [] : [{ prompt: question, command: 'explain', label: `Explain: ${question}` }]),
    ...(first === undefined ? [] : [{ prompt: `Where is ${first} tested?` }, { prompt: first, command: 'related', label: `What is related to ${first}?` }]),
    ...(second === undefined ? [] : [{ prompt: `How does ${second} work?`, command: 'explain' }]),
    ...(answered ? [{ prompt: question, command: 'search', label: 'Show the code alone' }] : []),
  ].filter(({ prompt }) => prompt !== '').slice(0, MOST)
}

export function isAnswerMetadata(value: unknown): value is AnswerMetadata {
  return typeof value === 'object' && value !== null && 'question' in value && typeof value.question === 'string'
    && 'answered' in value && 'names' in value && Array.isArray(value.names)
}
