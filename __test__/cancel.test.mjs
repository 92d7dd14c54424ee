import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { test } from 'node:test'
import { bigTree, listener, openTree } from './helpers.mjs'

const CANCELLED = { code: 'CANCELLED', name: 'AbortError' }

test('an aborted signal refuses at once', async (t) => {
  const { workspace } = await openTree(t)
  await assert.rejects(workspace.sync({ signal: AbortSignal.abort() }), CANCELLED)
  await assert.rejects(workspace.search({ query: 'x' }, { signal: AbortSignal.abort() }), CANCELLED)
  assert.equal((await workspace.status()).state, 'empty')
})

test('aborting stops a running sync and leaves the last index as it was', async (t) => {
  const { workspace } = await openTree(t, bigTree())
  const abort = new AbortController()
  let seen = 0
  const run = workspace.sync({
    signal: abort.signal,
    onProgress: () => {
      seen += 1
      abort.abort()
    },
  })
  await assert.rejects(run, CANCELLED)
  assert.ok(seen >= 1)
  assert.notEqual((await workspace.status()).state, 'indexing')
  assert.equal((await workspace.sync()).files, 3000)
})

test('the caller keeps its own abort handler, and no listener stays', async (t) => {
  const { workspace } = await openTree(t)
  const abort = new AbortController()
  let called = 0
  abort.signal.onabort = () => (called += 1)
  const before = getEventListeners(abort.signal, 'abort').length
  for (let round = 0; round < 20; round += 1) {
    await workspace.sync({ signal: abort.signal })
  }
  assert.equal(getEventListeners(abort.signal, 'abort').length, before)
  abort.abort()
  assert.equal(called, 1)
})

test('close stops what runs', async (t) => {
  const { workspace } = await openTree(t, bigTree())
  const run = workspace.sync()
  const stopped = assert.rejects(run, CANCELLED)
  await workspace.close()
  await stopped
})

test('progress has its shape, comes seldom and ends before the promise settles', async (t) => {
  const { workspace } = await openTree(t, bigTree(600))
  const events = []
  const started = performance.now()
  await workspace.sync({ onProgress: (progress) => events.push(progress) })
  const settled = events.length
  const tookMs = performance.now() - started
  assert.ok(settled >= 1)
  assert.ok(settled <= tookMs / 100 + 2, `${settled} events in ${tookMs} ms`)
  for (const event of events) {
    assert.equal(Object.keys(event).join(), 'phase,filesDone,filesTotal,currentFile,remainingMs,location')
    assert.ok(['walk', 'index', 'commit'].includes(event.phase))
    assert.ok(Number.isInteger(event.filesDone) && Number.isInteger(event.filesTotal))
    assert.ok(event.currentFile === null || typeof event.currentFile === 'string')
    assert.ok(event.remainingMs === null || event.remainingMs >= 0)
  }
  await workspace.status()
  assert.equal(events.length, settled)
})

test('what the progress callback throws stops the run and is what the promise rejects with', async (t) => {
  const { workspace } = await openTree(t)
  const mine = new RangeError('mine')
  const run = workspace.sync({
    onProgress: () => {
      throw mine
    },
  })
  await assert.rejects(run, (error) => error === mine)
  assert.equal((await workspace.sync()).files, 3)
})

test('the event loop stays free while files are indexed, for calls and for a watch', async (t) => {
  // A property, not a measure: work on the JavaScript thread would block it for seconds. The bounds are wide because
  // other programs take their share of the machine.
  for (const run of [
    (workspace, onProgress) => workspace.sync({ onProgress }),
    async (workspace, onProgress) => {
      const events = listener()
      await workspace.watch({}, (event) => (event.type === 'progress' ? onProgress(event.progress) : events.listen(event)))
      await events.synced()
      await workspace.unwatch()
    },
  ]) {
    const { workspace } = await openTree(t, bigTree(2000))
    const delay = monitorEventLoopDelay({ resolution: 10 })
    const started = performance.now()
    let told = 0
    delay.enable()
    await run(workspace, () => (told += 1))
    delay.disable()
    const tookMs = performance.now() - started
    const [worst, usual] = [delay.max / 1e6, delay.percentile(99) / 1e6]
    assert.ok(worst < 250 && usual < 50, `at worst ${worst} ms, 99 of 100 below ${usual} ms`)
    assert.ok(told >= 1 && told <= tookMs / 100 + 2, `${told} reports in ${tookMs} ms`)
  }
})
