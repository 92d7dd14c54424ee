/**
 * When does the index start, change and end? The folders and settings of the window, told to the session.
 *
 * Nothing is loaded before there is a folder. The database lies in the window's own storage, which VS Code keeps per
 * workspace, so the index is warm when the window is opened again.
 */

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as vscode from 'vscode'
import type { Config } from './config'
import { openEngine, type LanguageModel } from './engine'
import { failureOf } from './failure'
import type { Keys } from './keys'
import type { Log } from './log'
import { indexableFolders, storageOutside } from './places'
import { Session } from './session'

export interface LifeParts {
  readonly config: Config
  readonly keys: Keys
  readonly log: Log
  readonly languageModel: LanguageModel
}

export class IndexLife implements vscode.Disposable {
  readonly session: Session
  readonly #config: Config
  readonly #keys: Keys
  readonly #log: Log
  /** Reading a key takes time; only the newest change is carried out. */
  #changes = 0
  #newest: Promise<void> = Promise.resolve()
  #missing: readonly string[] = []
  readonly #subscriptions: vscode.Disposable[]

  constructor(context: vscode.ExtensionContext, { config, keys, log, languageModel }: LifeParts) {
    this.#config = config
    this.#keys = keys
    this.#log = log
    this.session = new Session({
      open: openEngine,
      addon: context.asAbsolutePath(join('dist', 'addon')),
      storage: ({ settings, roots }) => settings['index.storage'] || storageOutside(context.storageUri?.fsPath, roots),
      lookAgain: () => this.apply(),
      log,
      languageModel,
    })
    this.#subscriptions = [
      config.onDidChange(() => { void this.apply() }),
      keys.onDidChange(() => { void this.apply() }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => { void this.apply() }),
      vscode.window.onDidChangeWindowState(({ focused }) => { if (focused) { void this.#lookAgain() } }),
    ]
  }

  /** As [`apply`], once VS Code has gone on. Who searches before that waits. */
  start(): void {
    this.session.expect(new Promise((resolve) => {
      setImmediate(() => { void this.apply().finally(resolve) })
    }))
  }

  /** Makes the index what folders and settings say now; of several at once the newest, for which all wait. */
  async apply(): Promise<void> {
    const newest = this.#carryOut(++this.#changes)
    this.#newest = newest
    await newest
  }

  async #carryOut(change: number): Promise<void> {
    const { settings } = this.#config
    const apiKey = await this.#keys.chosen(settings).catch((error: unknown) => {
      this.#log.warn(`the key of the embedding service cannot be read: ${failureOf(error).message}`)
      return undefined
    })
    const folders = indexableFolders().map(({ uri }) => uri.fsPath)
    const there = await Promise.all(folders.map(isFolder))
    if (change !== this.#changes) {
      return this.#newest
    }
    this.#missing = folders.filter((_, place) => there[place] !== true)
    await this.session.apply({ roots: folders.filter((_, place) => there[place]), missing: this.#missing, settings, apiKey })
  }

  /** Another window may have paused, cleared or rebuilt the index meanwhile, and a folder may have come back. */
  async #lookAgain(): Promise<void> {
    await (this.#missing.length > 0 ? this.apply() : this.session.refresh())
  }

  async close(): Promise<void> {
    this.dispose()
    await this.session.close()
  }

  dispose(): void {
    this.#subscriptions.forEach((subscription) => { subscription.dispose() })
  }
}

const isFolder = async (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), () => false)
