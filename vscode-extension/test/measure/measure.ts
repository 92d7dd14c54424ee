/** What the measuring suites share: the stopwatch, the event loop's delay, and where the numbers go. */

import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import * as vscode from 'vscode'

export interface Stopwatch {
  readonly activations: readonly { readonly file: string, readonly loadMs: number, readonly from: number, readonly activateMs: number }[]
  readonly addons: readonly { readonly from: number, readonly loadMs: number }[]
  readonly first: Promise<{ readonly ms: number, readonly hits: readonly string[], readonly files: number, readonly refused: Readonly<Record<string, number>> }>
}

/** Time that passes is part of what is measured: an idle window, fingers that rest. */
export const pause = (milliseconds: number): Promise<void> => new Promise((done) => { setTimeout(done, milliseconds) })

export async function stopwatch(): Promise<Stopwatch> {
  const found = await vscode.extensions.getExtension<Stopwatch>('sextant-tests.stopwatch')?.activate()
  assert.ok(found, 'the stopwatch runs')
  return found
}

/** How this window's extensions started: ours, and the others as a reference. */
export async function starts(): Promise<{ load: number, activate: number, from: number, others: { load: number[], activate: number[] }, addonMs: number[] }> {
  const { activations, addons } = await stopwatch()
  const isOurs = (file: string): boolean => file.replaceAll('\\', '/').endsWith('/dist/extension.js') && file.includes(join('vscode-extension', 'dist'))
  const ours = activations.find(({ file }) => isOurs(file))
  assert.ok(ours, `Sextant was seen to start, among ${activations.map(({ file }) => file).join(', ')}`)
  const others = activations.filter(({ file }) => !isOurs(file))
  return {
    load: ours.loadMs,
    activate: ours.activateMs,
    from: ours.from,
    others: { load: others.map(({ loadMs }) => loadMs), activate: others.map(({ activateMs }) => activateMs) },
    addonMs: addons.map(({ loadMs }) => loadMs),
  }
}

/** Is Sextant's addon part of this process? Asks the system's loader, not the extension. */
export function addonLoaded(): boolean {
  const report = process.report
  Object.assign(report, { excludeNetwork: true })
  const { sharedObjects } = report.getReport() as { sharedObjects: string[] }
  assert.ok(sharedObjects.length > 0)
  return sharedObjects.some((path) => /sextant[^/\\]*\.node$/.test(path))
}

/** One line of results; scripts/measure.mjs reads them. */
export function tell(what: string, values: unknown): void {
  const file = process.env['SEXTANT_MEASURE_OUT']
  assert.ok(file, 'npm run measure sets SEXTANT_MEASURE_OUT')
  appendFileSync(file, `${JSON.stringify({ what, values, load: loadavg() })}\n`)
}

/** Whether a line of results is there. */
export const told = (what: string): boolean => readFileSync(process.env['SEXTANT_MEASURE_OUT'] ?? '', 'utf8').includes(`{"what":"${what}"`)

export interface Stall {
  /** Milliseconds since the start of the watch. */
  readonly at: number
  readonly ms: number
  /** Of them: how long the thread ran, and how long it waited for a processor although it could have run. */
  readonly ranMs: number | undefined
  readonly waitedMs: number | undefined
  /** Garbage collection in that time; it waits for helper threads, which need a processor, too. */
  readonly gcMs: number
}

export interface LoopDelay {
  readonly seconds: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** The longest that the thread itself ran between two looks; what other processes cost is not in it. */
  readonly longestRun: number | undefined
  /** Share of the time in which the loop was busy. */
  readonly busy: number
  readonly stalls: readonly Stall[]
}

const TICK_MS = 5
const STALL_MS = 10

/**
 * The delay of this process's event loop: Node's own histogram (its values contain the millisecond between two looks), and
 * a list of stalls by a timer that says what the thread did meanwhile.
 */
export class LoopWatch {
  readonly #histogram = monitorEventLoopDelay({ resolution: 1 })
  readonly #started = performance.now()
  readonly #utilization = performance.eventLoopUtilization()
  readonly #stalls: Omit<Stall, 'gcMs'>[] = []
  readonly #collections: { readonly from: number, readonly ms: number }[] = []
  readonly #observer = new PerformanceObserver((list) => {
    this.#collections.push(...list.getEntries().map(({ startTime, duration }) => ({ from: startTime - this.#started, ms: duration })))
  })
  #longestRun: number | undefined
  #last = performance.now()
  #thread = threadTimes()
  readonly #timer = setInterval(() => { this.#tick() }, TICK_MS)

  constructor() {
    this.#histogram.enable()
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  stop(): LoopDelay {
    clearInterval(this.#timer)
    this.#histogram.disable()
    this.#observer.disconnect()
    return {
      seconds: (performance.now() - this.#started) / 1000,
      p50: this.#histogram.percentile(50) / 1e6,
      p99: this.#histogram.percentile(99) / 1e6,
      max: this.#histogram.max / 1e6,
      longestRun: this.#longestRun,
      busy: performance.eventLoopUtilization(this.#utilization).utilization,
      stalls: this.#stalls.map((stall) => ({ ...stall, gcMs: this.#collectedIn(stall) })),
    }
  }

  #collectedIn({ at, ms }: { readonly at: number, readonly ms: number }): number {
    return this.#collections.filter(({ from }) => from >= at && from <= at + TICK_MS + ms).reduce((sum, collection) => sum + collection.ms, 0)
  }

  #tick(): void {
    const now = performance.now()
    const thread = threadTimes()
    const ms = now - this.#last - TICK_MS
    const part = (place: 0 | 1): number | undefined => thread && this.#thread && (thread[place] - this.#thread[place]) / 1e6
    const [ranMs, waitedMs] = [part(0), part(1)]
    if (ranMs !== undefined) {
      this.#longestRun = Math.max(this.#longestRun ?? 0, ranMs)
    }
    if (ms > STALL_MS) {
      this.#stalls.push({ at: this.#last - this.#started, ms, ranMs, waitedMs })
    }
    this.#last = now
    this.#thread = thread
  }
}

/** Nanoseconds that this thread ran and waited for a processor; Linux alone tells. */
function threadTimes(): [number, number] | undefined {
  try {
    const [ran, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ').map(Number)
    return [ran ?? 0, waited ?? 0]
  } catch {
    return undefined
  }
}

/** A plain walk of the same folders: names and sizes, one folder at a time, nothing read. */
export async function plainWalk(folders: readonly string[]): Promise<{ ms: number, files: number }> {
  const from = performance.now()
  let files = 0
  const walk = async (folder: string): Promise<void> => {
    const entries = await readdir(folder, { withFileTypes: true })
    await Promise.all(entries.filter((entry) => entry.isFile()).map((entry) => stat(join(folder, entry.name))))
    files += entries.filter((entry) => entry.isFile()).length
    for (const entry of entries.filter((each) => each.isDirectory())) {
      await walk(join(folder, entry.name))
    }
  }
  for (const folder of folders) {
    await walk(folder)
  }
  return { ms: performance.now() - from, files }
}

/** Records what JavaScript runs while `body` does; the file opens in the editor. */
export async function profiled<T>(file: string | undefined, body: () => Promise<T>): Promise<T> {
  if (file === undefined) {
    return body()
  }
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 500 })
  await session.post('Profiler.start')
  try {
    return await body()
  } finally {
    const { profile } = await session.post('Profiler.stop')
    writeFileSync(file, JSON.stringify(profile))
    session.disconnect()
  }
}

export const roots = (): string[] => (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath)
