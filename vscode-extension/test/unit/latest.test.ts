import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { Latest } from '../../src/latest'

interface Deferred<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, 'promise'> | undefined
  const promise = new Promise<T>((resolve, reject) => { settle = { resolve, reject } })
  return { promise, ...settle! }
}

/** Requests that begin when `Latest` lets them, and end when the test says so. */
class Requests {
  readonly started: string[] = []
  readonly aborted: string[] = []
  readonly #ends = new Map<string, Deferred<string>>()
  readonly #starts = new Map<string, Deferred<undefined>>()

  request(name: string): (signal: AbortSignal) => Promise<string> {
    const end = deferred<string>()
    const start = deferred<undefined>()
    this.#ends.set(name, end)
    this.#starts.set(name, start)
    return async (signal) => {
      this.started.push(name)
      signal.addEventListener('abort', () => { this.aborted.push(name) })
      start.resolve(undefined)
      return end.promise
    }
  }

  async began(name: string): Promise<void> { await this.#starts.get(name)?.promise }
  end(name: string): void { this.#ends.get(name)?.resolve(name) }
  fail(name: string): void { this.#ends.get(name)?.reject(new Error(name)) }
}

const DELAY_MS = 60_000

suite('the latest of many requests', () => {
  let requests: Requests
  let told: string[]
  let latest: Latest<string>
  let tell: Deferred<undefined>
  setup(() => {
    // Longer than a test takes, so that only the test lets it pass.
    mock.timers.enable({ apis: ['setTimeout'] })
    requests = new Requests()
    told = []
    tell = deferred()
    const note = (what: string): void => {
      told.push(what)
      tell.resolve(undefined)
    }
    latest = new Latest<string>(() => DELAY_MS, note, (error) => { note(String(error)) })
  })

  teardown(() => { mock.timers.reset() })

  test('the first is made at once, of those that follow only the last, and one that runs is aborted', async () => {
    latest.run(requests.request('r'))
    assert.deepEqual(requests.started, ['r'])
    latest.run(requests.request('re'))
    latest.run(requests.request('ret'))
    assert.deepEqual(requests.aborted, ['r'])
    mock.timers.tick(DELAY_MS)
    await requests.began('ret')
    requests.end('r')
    requests.end('ret')
    await tell.promise
    assert.deepEqual(requests.started, ['r', 'ret'])
    assert.deepEqual(told, ['ret'])
  })

  test('a failure is told, but not that of one that was cancelled', async () => {
    latest.run(requests.request('early'))
    latest.cancel()
    requests.fail('early')
    latest.run(requests.request('late'))
    mock.timers.tick(DELAY_MS)
    await requests.began('late')
    requests.fail('late')
    await tell.promise
    assert.deepEqual(told, ['Error: late'])
  })

  test('one that waits is not made once it is cancelled', async () => {
    latest.run(requests.request('first'))
    latest.run(requests.request('waiting'))
    latest.cancel()
    latest.run(requests.request('last'))
    mock.timers.tick(DELAY_MS)
    await requests.began('last')
    assert.deepEqual(requests.started, ['first', 'last'])
  })
})
