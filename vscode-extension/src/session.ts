/**
 * What is the index of this window doing, and who may tell it to do something else?
 *
 * In: the folders and settings wanted now (`apply`), and what the user asks for. Out: a [`Snapshot`] whenever something
 * changes. At most one engine is open; changes of folders and settings are carried out one after another, the last one
 * wanted wins. A failure is a state, shown and logged; the next change tries again. Knows nothing of VS Code.
 */

import type { Engine, EngineOptions, EngineSettings, IndexReport, LanguageModel, Progress, SearchOptions, SearchResponse, Status, WatchEvent } from './engine'
import { CodedError, failureOf, isCancelled, type Failure } from './failure'
import type { Settings } from './settings'

export type IndexState =
  /** No folder is open. */
  | { readonly kind: 'off' }
  | { readonly kind: 'opening' }
  | { readonly kind: 'indexing', readonly progress: Progress | undefined }
  | { readonly kind: 'empty' | 'ready' | 'paused' | 'cleared' }
  | { readonly kind: 'failed', readonly failure: Failure }

export interface Snapshot {
  readonly state: IndexState
  /** As the engine told last. */
  readonly status: Status | undefined
  /** The last finished run. */
  readonly report: IndexReport | undefined
  readonly updatedAt: Date | undefined
  /** What of the folders and settings wanted is not so, and why. */
  readonly trouble: readonly string[]
}

export interface Target extends EngineSettings {
  readonly roots: readonly string[]
  /** Folders of the window that are not on the disk now. */
  readonly missing?: readonly string[]
}

export interface SessionOptions {
  readonly open: (options: EngineOptions) => Promise<Engine>
  readonly addon: string
  /** Folder of the database; without one the engine's own choice. */
  readonly storage: (target: Target) => string | undefined
  /** Has folders and settings looked at and told once more. */
  readonly lookAgain?: () => Promise<void>
  /** Helps to understand questions of the chat. */
  readonly languageModel?: LanguageModel
  readonly log: Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string) => void>>
}

const LOOK_AGAIN_MS = 500

export class Session {
  readonly #options: SessionOptions
  readonly #listeners = new Set<(snapshot: Snapshot) => void>()
  #snapshot: Snapshot = { state: { kind: 'off' }, status: undefined, report: undefined, updatedAt: undefined, trouble: [] }
  #wanted: Target | undefined
  #applied: Target | undefined
  #engine: Engine | undefined
  #work: Promise<void> = Promise.resolve()
  /** Until the first folders and settings are told. */
  #starting: Promise<void> = Promise.resolve()
  #watching = false
  #timer: NodeJS.Timeout | undefined
  /** The user asked for this index although settings start none. */
  #asked = false
  #closed = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  get snapshot(): Snapshot { return this.#snapshot }

  onChange(listener: (snapshot: Snapshot) => void): { dispose(): void } {
    this.#listeners.add(listener)
    return { dispose: () => { this.#listeners.delete(listener) } }
  }

  /** Folders and settings will be told when `start` settles; until then calls wait. */
  expect(start: Promise<void>): void {
    this.#starting = start.catch(() => undefined)
  }

  /** Makes the index one of these folders with these settings; settles once that is so or has failed. */
  async apply(target: Target): Promise<void> {
    this.#wanted = target
    await this.#queue(async () => {
      if (this.#wanted === target && !this.#closed) {
        await this.#reach(target)
      }
    })
  }

  /** The open engine, once what is being changed is done. */
  async engine(): Promise<Engine> {
    await this.#starting
    await this.#work
    if (this.#engine !== undefined) {
      return this.#engine
    }
    const { state } = this.#snapshot
    if (state.kind === 'failed') {
      throw new CodedError(state.failure.code, state.failure.message)
    }
    throw new CodedError('NO_FOLDER', 'Open a folder first: Sextant searches the folders of this window that are on this machine.')
  }

  /** Builds the index or brings it up to date; also after `clear`, and against the settings if they start none. */
  async index(): Promise<IndexReport> {
    return this.#run((engine, call) => engine.sync(call))
  }

  async resume(): Promise<IndexReport> {
    return this.#run((engine, call) => engine.resume(call))
  }

  async pause(): Promise<void> {
    await (await this.engine()).pause()
    await this.refresh()
  }

  async clear(): Promise<void> {
    await (await this.engine()).clear()
    this.#set({ report: undefined, updatedAt: undefined })
    await this.refresh()
  }

  /** Answers a question. A language model helps only if `rewrite` says so: nobody else has one to ask. */
  async search(options: SearchOptions, signal?: AbortSignal): Promise<SearchResponse> {
    const find = async (): Promise<SearchResponse> => {
      const engine = await unlessAborted(this.engine(), signal)
      return engine.search({ rewrite: false, ...options }, signal ? { signal } : {})
    }
    try {
      return await find()
    } catch (error) {
      const isStopped = failureOf(error).code === 'CANCELLED'
      if (signal?.aborted === true || !isStopped && !isAboutFolders(error)) {
        throw error
      }
      // Folders came or went meanwhile: the answer is that of those that are there now.
      await (isStopped ? Promise.resolve() : this.#lookAgain())
      return find()
    }
  }

  /** Asks the engine how it stands. */
  async refresh(): Promise<void> {
    const engine = this.#engine
    if (engine === undefined) {
      return
    }
    try {
      const status = await engine.status()
      if (engine === this.#engine) {
        this.#set({ status, state: stateOf(status) })
        clearTimeout(this.#timer)
        if (status.state === 'indexing') {
          this.#refreshLater()
        }
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#queue(() => this.#closeEngine())
    this.#listeners.clear()
  }

  /** Has folders and settings told once more: what stood in the way may be gone, or a folder with it. */
  async #lookAgain(): Promise<void> {
    const target = this.#applied
    if (target !== undefined) {
      await (this.#options.lookAgain ?? (() => this.apply(target)))()
    }
  }

  /**
   * Asks again after a while. Another window that indexes tells us nothing, and a run of the watch that finds nothing to
   * do ends without a word.
   */
  #refreshLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => { void this.refresh() }, LOOK_AGAIN_MS)
    this.#timer.unref()
  }

  async #reach(target: Target): Promise<void> {
    const before = this.#applied
    this.#applied = target
    const missing = target.missing ?? []
    this.#set({ trouble: missing.map((folder) => `The folder ${folder} is not there; it is taken up once it is.`) })
    if (target.roots.length === 0) {
      await this.#closeEngine()
      this.#set({ state: { kind: 'off' }, status: undefined, report: undefined })
      if (missing.length > 0) {
        this.#fail(new CodedError('ROOT_NOT_FOUND', `there is no folder ${missing.join(', ')}; connect or restore it`))
      }
      return
    }
    const moved = before !== undefined && this.#options.storage(before) !== this.#options.storage(target)
    try {
      if (this.#engine === undefined || moved) {
        await this.#closeEngine()
        await this.#openEngine(target)
      } else {
        await this.#change(this.#engine, target, before)
      }
      await this.#follow(target.settings)
    } catch (error) {
      await this.#closeEngine()
      this.#fail(error)
    }
  }

  /** Tells an open engine of other folders and settings. What it refuses, it goes on without, and that is told. */
  async #change(engine: Engine, target: Target, before: Target | undefined): Promise<void> {
    const changes: readonly (readonly [string, () => Promise<void>])[] = [
      ['folders', async () => { if (!sameList(before?.roots ?? [], target.roots)) { await engine.setRoots(target.roots) } }],
      ['settings', () => engine.configure(target)],
    ]
    for (const [what, change] of changes) {
      try {
        await change()
      } catch (error) {
        const { code, message } = failureOf(error)
        this.#options.log.error(`${code}: ${message}`)
        this.#set({ trouble: [...this.#snapshot.trouble, `The new ${what} are not in use: ${message}`] })
        // The next change tries again.
        this.#applied = before ?? target
      }
    }
  }

  async #openEngine(target: Target): Promise<void> {
    const { roots, settings, apiKey } = target
    this.#asked = false
    this.#set({ state: { kind: 'opening' } })
    const started = performance.now()
    this.#engine = await this.#options.open({
      addon: this.#options.addon,
      roots,
      storage: this.#options.storage(target),
      settings,
      apiKey,
      languageModel: this.#options.languageModel,
      onLog: (level, message) => { this.#options.log[level](message) },
    })
    this.#options.log.info(`opened the index of ${roots.length} folder(s) in ${Math.round(performance.now() - started)} ms`)
    const { state } = await this.#engine.status()
    const isKeptBack = state === 'paused' || state === 'cleared'
    if (settings['index.startOnOpen'] && !settings['vectorDb.enableBackgroundProcessing'] && !isKeptBack) {
      // Nobody waits for this run, and no watch will make it.
      void this.index().catch((error: unknown) => { this.#fail(error) })
    }
  }

  /** Starts, keeps or ends the watch, as the settings say. */
  async #follow(settings: Settings): Promise<void> {
    const engine = this.#engine
    if (engine === undefined) {
      return
    }
    const starts = settings['index.startOnOpen'] || this.#asked
    if (settings['vectorDb.enableBackgroundProcessing'] && starts) {
      if (!this.#watching) {
        this.#watching = true
        await engine.watch((event) => { this.#onEvent(engine, event) })
      }
    } else if (this.#watching) {
      this.#watching = false
      await engine.unwatch()
    }
    await this.refresh()
  }

  async #closeEngine(): Promise<void> {
    const engine = this.#engine
    this.#engine = undefined
    this.#watching = false
    clearTimeout(this.#timer)
    try {
      await engine?.close()
    } catch (error) {
      this.#options.log.error(`closing the index: ${failureOf(error).message}`)
    }
  }

  async #run(call: (engine: Engine, options: { onProgress(progress: Progress): void }) => Promise<IndexReport>): Promise<IndexReport> {
    const { state } = this.#snapshot
    if (state.kind === 'failed' && (this.#engine === undefined || isAboutFolders(state.failure))) {
      await this.#lookAgain()
    }
    const engine = await this.engine()
    this.#asked = true
    this.#set({ state: { kind: 'indexing', progress: undefined } })
    try {
      const report = await call(engine, { onProgress: (progress) => { this.#onEvent(engine, { type: 'progress', progress }) } })
      this.#done(report)
      return report
    } finally {
      await this.refresh()
      if (this.#applied !== undefined && engine === this.#engine) {
        const { settings } = this.#applied
        void this.#queue(() => this.#follow(settings)).catch((error: unknown) => { this.#fail(error) })
      }
    }
  }

  #onEvent(engine: Engine, event: WatchEvent): void {
    if (engine !== this.#engine) {
      return
    }
    switch (event.type) {
      case 'progress':
        this.#set({ state: { kind: 'indexing', progress: event.progress } })
        this.#refreshLater()
        return
      case 'synced':
        this.#done(event.report)
        void this.refresh()
        return
      case 'failed':
        if (event.code === 'INDEX_PAUSED' || event.code === 'INDEX_CLEARED' || event.code === 'CANCELLED') {
          void this.refresh()
        } else {
          const error = new CodedError(event.code, event.message)
          this.#fail(error)
          if (isAboutFolders(error)) {
            // The others go on without the one that is gone.
            void this.#lookAgain().catch((failure: unknown) => { this.#fail(failure) })
          }
        }
    }
  }

  #done(report: IndexReport): void {
    const { added, changed, removed, files, tookMs } = report
    this.#options.log.info(`index up to date: ${files} files; ${added} added, ${changed} changed, ${removed} removed in ${Math.round(tookMs)} ms`)
    report.degraded.forEach(({ code, message }) => { this.#options.log.warn(`${code}: ${message}`) })
    this.#set({ report, updatedAt: new Date() })
  }

  #fail(error: unknown): void {
    if (isCancelled(error)) {
      return
    }
    const failure = failureOf(error)
    this.#options.log.error(`${failure.code}: ${failure.message}`)
    this.#set({ state: { kind: 'failed', failure } })
  }

  #set(change: Partial<Snapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change }
    for (const listener of this.#listeners) {
      try {
        listener(this.#snapshot)
      } catch (error) {
        // Whoever listens has trouble of its own; the index has none.
        this.#options.log.error(failureOf(error).message)
      }
    }
  }

  async #queue(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work)
    this.#work = done.catch(() => undefined)
    await done
  }
}

function stateOf(status: Status): IndexState {
  if (status.lastError !== null && status.state !== 'indexing' && status.state !== 'paused' && status.state !== 'cleared') {
    return { kind: 'failed', failure: status.lastError }
  }
  return status.state === 'indexing' ? { kind: 'indexing', progress: status.progress ?? undefined } : { kind: status.state }
}

const isAboutFolders = (error: unknown): boolean => /^ROOT_/.test(typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '')

/** What `promise` brings, unless the caller does not want it any more. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) {
    return promise
  }
  let stop = (): void => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => { reject(new CodedError('CANCELLED', 'cancelled')) }
    signal.addEventListener('abort', stop, { once: true })
  })
  if (signal.aborted) {
    stop()
  }
  try {
    return await Promise.race([aborted, promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const sameList = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((value, place) => value === right[place])
