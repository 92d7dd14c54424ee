/** Keys of embedding services: kept in the editor's secret storage, never in settings, logs or diagnostics. */

import type * as vscode from 'vscode'

export const PROVIDERS = ['openai', 'gemini', 'local'] as const
export type Provider = (typeof PROVIDERS)[number]

const nameOf = (provider: Provider): string => `sextant.embeddingKey.${provider}`

export class Keys {
  readonly #secrets: vscode.SecretStorage

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets
  }

  async get(provider: Provider): Promise<string | undefined> {
    return this.#secrets.get(nameOf(provider))
  }

  /** Stores a key; an empty one removes what is stored. */
  async set(provider: Provider, key: string): Promise<void> {
    await (key === '' ? this.#secrets.delete(nameOf(provider)) : this.#secrets.store(nameOf(provider), key))
  }
}
