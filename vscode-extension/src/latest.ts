/**
 * Runs only the latest of many requests, such as one per key stroke.
 *
 * A request waits for `delayMs` without another; a newer one aborts an older one that still runs, and what an aborted one
 * brings or throws is dropped. Pure.
 */
export class Latest<T> {
  readonly #delayMs: number
  readonly #deliver: (result: T) => void
  readonly #fail: (error: unknown) => void
  #running: AbortController | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(delayMs: number, deliver: (result: T) => void, fail: (error: unknown) => void) {
    this.#delayMs = delayMs
    this.#deliver = deliver
    this.#fail = fail
  }

  run(request: (signal: AbortSignal) => Promise<T>): void {
    this.cancel()
    const controller = new AbortController()
    this.#running = controller
    this.#timer = setTimeout(() => {
      request(controller.signal).then(
        (result) => { if (!controller.signal.aborted) { this.#deliver(result) } },
        (error: unknown) => { if (!controller.signal.aborted) { this.#fail(error) } },
      )
    }, this.#delayMs)
  }

  cancel(): void {
    clearTimeout(this.#timer)
    this.#running?.abort()
    this.#running = undefined
  }
}
