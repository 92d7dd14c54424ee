/**
 * The language model of the core: whatever a search asks goes to a model of the chat that the search is for.
 *
 * A search of the chat registers itself for as long as it runs. The core does not say for which search it asks, but what
 * it asks ends with the question: several chats at the same time get their own models.
 */

import type * as vscode from 'vscode'
import type { LanguageModel } from '../engine'
import type { Intent } from './conversation'
import { ask, rephrasingModel, type Completion } from './models'

export interface Asking {
  readonly question: string
  /** The model of the chat. */
  readonly model: vscode.LanguageModelChat
  /** Known already, so that no model is asked. */
  readonly intent: Exclude<Intent, 'related'> | undefined
}

export class Rephraser implements LanguageModel {
  readonly #wanted: () => string
  readonly #asking = new Set<Asking>()

  /** `wanted` names the model that the user prefers, if there is one. */
  constructor(wanted: () => string) {
    this.#wanted = wanted
  }

  async during<T>(asking: Asking, search: () => Promise<T>): Promise<T> {
    this.#asking.add(asking)
    try {
      return await search()
    } finally {
      this.#asking.delete(asking)
    }
  }

  readonly complete = async (request: Completion, { signal }: { signal: AbortSignal }): Promise<string> => {
    const last = request.messages.at(-1)?.content ?? ''
    const asking = [...this.#asking].find(({ question }) => last.endsWith(question)) ?? [...this.#asking].at(-1)
    if (asking === undefined) {
      throw new Error('no chat is asking any more')
    }
    if (request.purpose === 'intent' && asking.intent !== undefined) {
      return `${asking.intent};`
    }
    return ask(await rephrasingModel(asking.model, this.#wanted()), request, signal)
  }
}
