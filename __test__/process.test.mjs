import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { join } from 'node:path'
import { PACKAGE, Workspace, bigTree, makeTree, require, script } from './helpers.mjs'

/** Starting Node and its tests on a busy machine is slow; a process that hangs never ends. */
const SOON_MS = 30_000

async function ends(tree, body, code) {
  const result = await script(tree, body, { timeoutMs: SOON_MS })
  assert.deepEqual([result.code, result.signal], [code, null], result.stderr)
  return result
}

test('a process that only loads the addon ends', async (t) => {
  await ends(makeTree(t), '', 0)
})

test('a process that opens, indexes and closes ends', async (t) => {
  await ends(makeTree(t), 'const w = await open(); await w.sync(); await w.close()', 0)
})

test('a process that never closes ends as well', async (t) => {
  await ends(makeTree(t), "const w = await open(); await w.sync({ onProgress() {} }); await w.search({ query: 'x' })", 0)
})

test('a process waits for a call that nobody waits for', async (t) => {
  const body = "const w = await open(); w.sync().then((report) => console.log('files', report.files))"
  assert.equal((await ends(makeTree(t), body, 0)).stdout, 'files 3\n')
})

test('process.exit ends a process in the middle of a run, and the index stays whole', async (t) => {
  const tree = makeTree(t, bigTree())
  const body = 'const w = await open(); w.sync({ onProgress: () => process.exit(0) }); await new Promise(() => {})'
  const { stderr } = await ends(tree, body, 0)
  assert.equal(stderr, '')
  const workspace = await Workspace.open({ roots: [tree.root], storage: tree.storage })
  t.after(() => workspace.close())
  assert.equal((await workspace.sync()).files, 3000)
})

test('an uncaught error of the progress callback is reported and ends the process in the usual way', async (t) => {
  const body = "const w = await open(); await w.sync({ onProgress() { throw new Error('boom') } })"
  assert.match((await ends(makeTree(t), body, 1)).stderr, /Error: boom/)
})

const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { Workspace } = require(workerData.index)
  const run = async () => {
    const workspace = await Workspace.open({ roots: [workerData.root], storage: workerData.storage })
    if (workerData.linger) {
      workspace.sync({ onProgress: () => parentPort.postMessage('running') })
      return
    }
    await workspace.sync({ onProgress() {} })
    const { hits } = await workspace.search({ query: 'isExpired' })
    await workspace.close()
    parentPort.postMessage(hits[0].path)
  }
  run()
`

function startWorker(tree, more = {}) {
  const workerData = { ...tree, index: join(PACKAGE, 'index.js'), ...more }
  return new Worker(WORKER, { eval: true, workerData })
}

test('workers have workspaces of their own', async (t) => {
  const workers = Array.from({ length: 3 }, () => startWorker(makeTree(t)))
  const answers = await Promise.all(workers.map((worker) => once(worker, 'message')))
  assert.deepEqual(answers.flat(), Array(3).fill('src/auth/token.js'))
  await Promise.all(workers.map((worker) => worker.terminate()))
})

test('a worker that is terminated in the middle of a run takes nothing with it', async (t) => {
  const tree = makeTree(t, bigTree())
  const worker = startWorker(tree, { linger: true })
  await once(worker, 'message')
  await worker.terminate()
  const workspace = await Workspace.open({ roots: [tree.root], storage: tree.storage })
  t.after(() => workspace.close())
  assert.equal((await workspace.sync()).files, 3000)
})

test('the addon can be loaded twice', async (t) => {
  for (const key of Object.keys(require.cache)) {
    if (key.startsWith(PACKAGE) && /\.node$|[\\/]index\.js$/.test(key)) {
      delete require.cache[key]
    }
  }
  const second = require('../index.js').Workspace
  const trees = [makeTree(t), makeTree(t)]
  const opened = await Promise.all([
    Workspace.open({ roots: [trees[0].root], storage: trees[0].storage }),
    second.open({ roots: [trees[1].root], storage: trees[1].storage }),
  ])
  for (const workspace of opened) {
    assert.equal((await workspace.sync()).files, 3)
    await workspace.close()
  }
})
