/** Keys of embedding services: kept in the editor's secret storage, never in settings, logs or diagnostics. */

import type * as vscode from 'vscode'
import type { Settings } from './settings'

export const PROVIDERS = ['openai', 'gemini', 'local'] as const
export type Provider = (typeof PROVIDERS)[number]

const nameOf = (provider: Provider): string => `sextant.embeddingKey.${provider}`

export class Keys {
  readonly #secrets: vscode.SecretStorage
  readonly onDidChange: vscode.Event<unknown>

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets
    this.onDidChange = secrets.onDidChange
  }

  async get(provider: Provider): Promise<string | undefined> {
    return this.#secrets.get(nameOf(provider))
  }

  /** The key of the service that the settings name; the embedded model has none. */
  async chosen(settings: Settings): Promise<string | undefined> {
    const provider = settings['vectorDb.embeddingModel']
    return provider === 'embedded' ? undefined : this.get(provider)
  }

  /** Stores a key; an empty one removes what is stored. */
  async set(provider: Provider, key: string): Promise<void> {
    await (key === '' ? this.#secrets.delete(nameOf(provider)) : this.#secrets.store(nameOf(provider), key))
  }
}
