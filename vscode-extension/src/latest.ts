/**
 * Runs only the latest of many requests, such as one per key stroke.
 *
 * The first runs at once; one that comes within `delayMs()` after another waits until that time has passed without one. A
 * newer one aborts an older one that still runs, and what an aborted one brings or throws is dropped.
 */
export class Latest<T> {
  readonly #delayMs: () => number
  readonly #deliver: (result: T) => void
  readonly #fail: (error: unknown) => void
  #running: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #last = -Infinity

  constructor(delayMs: () => number, deliver: (result: T) => void, fail: (error: unknown) => void) {
    this.#delayMs = delayMs
    this.#deliver = deliver
    this.#fail = fail
  }

  run(request: (signal: AbortSignal) => Promise<T>): void {
    this.cancel()
    const controller = new AbortController()
    this.#running = controller
    const start = (): void => {
      request(controller.signal).then(
        (result) => { if (!controller.signal.aborted) { this.#deliver(result) } },
        (error: unknown) => { if (!controller.signal.aborted) { this.#fail(error) } },
      )
    }
    const now = performance.now()
    const delayMs = this.#delayMs()
    const isFirst = now - this.#last >= delayMs
    this.#last = now
    if (isFirst) {
      start()
    } else {
      this.#timer = setTimeout(start, delayMs)
    }
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#running?.abort()
    this.#running = undefined
  }
}
