/**
 * The one door to the native addon.
 *
 * In: folders, a storage folder and [`Settings`]. Out: an [`Engine`], whose calls are the addon's own less what an editor
 * does not need. The addon is loaded by the first `openEngine`, never before. What the addon cannot do yet is decided
 * here and nowhere else. Knows nothing of VS Code.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as addon from '@sextant-code/sextant'
import { RULES, type SettingKey, type Settings } from './settings'

export type {
  ChunkKind, Degradation, FileChunks, Hit, IndexedFile, IndexReport, Progress, SearchOptions, SearchResponse, SkippedPath,
  Status, WatchEvent,
} from '@sextant-code/sextant'

export interface EngineOptions {
  /** Folder of the addon's `index.js`. */
  readonly addon: string
  readonly roots: readonly string[]
  /** Folder of the database. */
  readonly storage: string
  readonly settings: Settings
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: addon.Progress) => void
}

/** An open index. Every call fails with an error that has a stable `code`. */
export interface Engine {
  sync(options?: CallOptions): Promise<addon.IndexReport>
  search(options: addon.SearchOptions, call?: CallOptions): Promise<addon.SearchResponse>
  status(): Promise<addon.Status>
  files(): Promise<addon.IndexedFile[]>
  skipped(): Promise<addon.SkippedPath[]>
  chunks(file: string): Promise<addon.FileChunks>
  /** Keeps the index current from now on; replaces a watch that goes on already. */
  watch(onEvent: (event: addon.WatchEvent) => void): Promise<void>
  unwatch(): Promise<void>
  pause(): Promise<void>
  resume(options?: CallOptions): Promise<addon.IndexReport>
  clear(): Promise<void>
  setRoots(roots: readonly string[]): Promise<void>
  /** Takes other settings. What runs is stopped if it must be, and a watch goes on with them. */
  configure(settings: Settings): Promise<void>
  close(): Promise<void>
}

/** What the addon of this version does not know yet. */
const NOT_YET: readonly SettingKey[] = [
  'vectorDb.embeddingModel', 'vectorDb.maxTokens', 'vectorDb.batchSize', 'vectorDb.fallbackToKeywordSearch', 'vectorDb.cacheEnabled',
  'hybridSearch.mmr.enabled', 'hybridSearch.temporalDecay.enabled', 'embedding.baseUrl', 'embedding.model',
]

/** A sentence for each setting that somebody changed without effect, for the status and the log. */
export function unmetSettings(settings: Settings): string[] {
  return NOT_YET.filter((key) => settings[key] !== RULES[key].fallback)
    .map((key) => `The setting "sextant.${key}" has no effect in this version yet.`)
}

type AddonModule = typeof addon
type Open = (roots: readonly string[], settings: Settings) => Promise<addon.Workspace>
let loaded: AddonModule | undefined

function load(folder: string): AddonModule {
  loaded ??= createRequire(join(folder, 'index.js'))('./index.js') as AddonModule
  return loaded
}

export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { Workspace } = load(options.addon)
  const open: Open = async (roots, settings) =>
    Workspace.open({ roots: [...roots], storage: options.storage, config: addonConfig(settings) })
  const workspace = await open(options.roots, options.settings)
  return new NativeEngine(workspace, open, options)
}

class NativeEngine implements Engine {
  readonly #open: Open
  #workspace: addon.Workspace
  #settings: Settings
  #roots: readonly string[]
  #onEvent: ((event: addon.WatchEvent) => void) | undefined
  /** Calls wait for it: while the settings change there is a moment without a workspace. */
  #changing: Promise<void> = Promise.resolve()

  constructor(workspace: addon.Workspace, open: Open, { settings, roots }: EngineOptions) {
    this.#workspace = workspace
    this.#open = open
    this.#settings = settings
    this.#roots = roots
  }

  async sync(options: CallOptions = {}): Promise<addon.IndexReport> {
    return (await this.#current()).sync(callOptions(options))
  }

  async search(options: addon.SearchOptions, call: CallOptions = {}): Promise<addon.SearchResponse> {
    const workspace = await this.#current()
    try {
      return await workspace.search(options, callOptions(call))
    } catch (error) {
      // The settings changed underneath; the question stands.
      if (workspace !== await this.#current() && call.signal?.aborted !== true) {
        return this.#workspace.search(options, callOptions(call))
      }
      throw error
    }
  }

  async status(): Promise<addon.Status> { return (await this.#current()).status() }
  async files(): Promise<addon.IndexedFile[]> { return (await this.#current()).files() }
  async skipped(): Promise<addon.SkippedPath[]> { return (await this.#current()).skipped() }
  async chunks(file: string): Promise<addon.FileChunks> { return (await this.#current()).chunks(file) }
  async pause(): Promise<void> { await (await this.#current()).pause() }
  async clear(): Promise<void> { await (await this.#current()).clear() }

  async resume(options: CallOptions = {}): Promise<addon.IndexReport> {
    return (await this.#current()).resume(callOptions(options))
  }

  async watch(onEvent: (event: addon.WatchEvent) => void): Promise<void> {
    const workspace = await this.#current()
    this.#onEvent = onEvent
    await workspace.watch({ debounceDelay: this.#settings['vectorDb.debounceDelay'] }, onEvent)
  }

  async unwatch(): Promise<void> {
    this.#onEvent = undefined
    await (await this.#current()).unwatch()
  }

  async setRoots(roots: readonly string[]): Promise<void> {
    await (await this.#current()).setRoots([...roots])
    this.#roots = roots
  }

  async configure(settings: Settings): Promise<void> {
    const reopen = JSON.stringify(addonConfig(settings)) !== JSON.stringify(addonConfig(this.#settings))
    const rewatch = settings['vectorDb.debounceDelay'] !== this.#settings['vectorDb.debounceDelay']
    this.#settings = settings
    if (reopen) {
      const changed = this.#reopen()
      this.#changing = changed.catch(() => undefined)
      await changed
    } else if (rewatch && this.#onEvent !== undefined) {
      await this.watch(this.#onEvent)
    }
  }

  async close(): Promise<void> {
    await (await this.#current()).close()
  }

  async #reopen(): Promise<void> {
    await this.#workspace.close()
    this.#workspace = await this.#open(this.#roots, this.#settings)
    if (this.#onEvent !== undefined) {
      await this.#workspace.watch({ debounceDelay: this.#settings['vectorDb.debounceDelay'] }, this.#onEvent)
    }
  }

  async #current(): Promise<addon.Workspace> {
    await this.#changing
    return this.#workspace
  }
}

function addonConfig(settings: Settings): addon.Config {
  return {
    performanceMode: settings['vectorDb.performanceMode'],
    hybridSearch: {
      vectorWeight: settings['hybridSearch.vectorWeight'],
      textWeight: settings['hybridSearch.textWeight'],
    },
    ignore: {
      gitignore: settings['ignore.gitignore'],
      sextantignore: settings['ignore.sextantignore'],
      defaults: settings['ignore.defaults'],
      secrets: settings['ignore.secrets'],
      exclude: [...settings['ignore.exclude']],
    },
  }
}

function callOptions({ signal, onProgress }: CallOptions): addon.CallOptions {
  return { ...(signal && { signal }), ...(onProgress && { onProgress }) }
}
