/**
 * The one door to the native addon.
 *
 * In: folders, a storage folder, [`Settings`], a key and a language model. Out: an [`Engine`], whose calls are the addon's
 * own less what an editor does not need. The addon is loaded by the first `openEngine`, never before. Knows nothing of
 * VS Code.
 */

import { open, readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as addon from '@sextant-code/sextant'
import { addonConfig } from './addon-config'
import type { Settings } from './settings'

export type {
  ChunkKind, Degradation, FileChunks, Hit, IndexReport, LanguageModel, Progress, RenderedContext, RenderOptions, RootOverview, SearchOptions,
  SearchResponse, SkippedPath, SkippedReason, Status, WatchEvent,
} from '@sextant-code/sextant'

/** What may change while an index is open. */
export interface EngineSettings {
  readonly settings: Settings
  /** Key of the embedding service that the settings name. */
  readonly apiKey?: string | undefined
}

export interface EngineOptions extends EngineSettings {
  /** Folder of the addon's `index.js`. */
  readonly addon: string
  readonly roots: readonly string[]
  /** Folder of the database; without one in the platform's cache folder. */
  readonly storage?: string | undefined
  readonly languageModel?: addon.LanguageModel | undefined
  readonly onLog?: ((level: 'debug' | 'info' | 'warn' | 'error', message: string) => void) | undefined
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
  /** For each folder, files by language and what was left out by reason, counted. */
  overview(): Promise<addon.RootOverview[]>
  skipped(): Promise<addon.SkippedPath[]>
  chunks(file: string): Promise<addon.FileChunks>
  /** Keeps the index current from now on; replaces a watch that goes on already. */
  watch(onEvent: (event: addon.WatchEvent) => void): Promise<void>
  unwatch(): Promise<void>
  pause(): Promise<void>
  resume(options?: CallOptions): Promise<addon.IndexReport>
  clear(): Promise<void>
  setRoots(roots: readonly string[]): Promise<void>
  /** Takes other settings from the next run and search on. A watch goes on with them. */
  configure(settings: EngineSettings): Promise<void>
  close(): Promise<void>
}

type AddonModule = typeof addon
let loaded: AddonModule | undefined

function load(folder: string): AddonModule {
  loaded ??= createRequire(join(folder, 'index.js'))('./index.js') as AddonModule
  return loaded
}

const BLOCK_BYTES = 4 << 20

/**
 * Reads the addon once, away from the event loop, and keeps nothing: the system does. Loading a file that is on the disk
 * alone would stop the loop for as long as the disk takes.
 */
async function intoMemory(folder: string): Promise<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES)
  for (const name of await readdir(folder)) {
    if (name.endsWith('.node')) {
      const file = await open(join(folder, name))
      try {
        while ((await file.read(block, 0, BLOCK_BYTES)).bytesRead > 0) {
          // The next block.
        }
      } finally {
        await file.close()
      }
    }
  }
}

export async function openEngine({ addon: folder, roots, storage, settings, apiKey, languageModel, onLog }: EngineOptions): Promise<Engine> {
  if (loaded === undefined) {
    // Why it cannot be read, loading it will say.
    await intoMemory(folder).catch(() => undefined)
  }
  const workspace = await load(folder).Workspace.open({
    roots: [...roots],
    ...(storage !== undefined && { storage }),
    config: addonConfig(settings, apiKey),
    ...(languageModel && { languageModel }),
    ...(onLog && { onLog }),
  })
  return new NativeEngine(workspace)
}

/** Puts hits into the text of a prompt. Hits come from an engine, so the addon is loaded by then. */
export function renderContext(hits: readonly addon.Hit[], options: addon.RenderOptions = {}): addon.RenderedContext {
  if (loaded === undefined) {
    throw new Error('no index was opened yet')
  }
  return loaded.renderContext([...hits], options)
}

class NativeEngine implements Engine {
  readonly #workspace: addon.Workspace

  constructor(workspace: addon.Workspace) {
    this.#workspace = workspace
  }

  async sync(options: CallOptions = {}): Promise<addon.IndexReport> { return this.#workspace.sync(callOptions(options)) }
  async resume(options: CallOptions = {}): Promise<addon.IndexReport> { return this.#workspace.resume(callOptions(options)) }
  async status(): Promise<addon.Status> { return this.#workspace.status() }
  async overview(): Promise<addon.RootOverview[]> { return this.#workspace.overview() }
  async skipped(): Promise<addon.SkippedPath[]> { return this.#workspace.skipped() }
  async chunks(file: string): Promise<addon.FileChunks> { return this.#workspace.chunks(file) }
  async pause(): Promise<void> { await this.#workspace.pause() }
  async clear(): Promise<void> { await this.#workspace.clear() }
  async setRoots(roots: readonly string[]): Promise<void> { await this.#workspace.setRoots([...roots]) }
  async close(): Promise<void> { await this.#workspace.close() }

  async search(options: addon.SearchOptions, call: CallOptions = {}): Promise<addon.SearchResponse> {
    return this.#workspace.search(options, callOptions(call))
  }

  async watch(onEvent: (event: addon.WatchEvent) => void): Promise<void> { await this.#workspace.watch({}, onEvent) }
  async unwatch(): Promise<void> { await this.#workspace.unwatch() }

  async configure({ settings, apiKey }: EngineSettings): Promise<void> {
    await this.#workspace.configure(addonConfig(settings, apiKey))
  }
}

function callOptions({ signal, onProgress }: CallOptions): addon.CallOptions {
  return { ...(signal && { signal }), ...(onProgress && { onProgress }) }
}
