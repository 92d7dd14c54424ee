// What one process does to the index of another, and the command line while it watches.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PACKAGE, SOON_MS, Workspace, bigTree, eventually, makeTree, sextant } from './helpers.mjs'

const FILES = 5000

/** A process that goes on while the test does something; killed after the test. */
function start(t, args) {
  const child = spawn(process.execPath, args, { cwd: PACKAGE, timeout: SOON_MS, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const process_ = { stdout: '', stderr: '', ended: undefined, child }
  child.stdout.setEncoding('utf8').on('data', (text) => (process_.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (process_.stderr += text))
  process_.closed = new Promise((resolve) =>
    child.on('close', (code, signal) => {
      process_.ended = [code, signal]
      resolve(process_.ended)
    }),
  )
  return process_
}

/** The command line in a process that goes on. */
const command = (t, tree, ...args) =>
  start(t, [join(PACKAGE, 'bin', 'sextant.js'), ...args, '--root', tree.root, '--storage', tree.storage])

/** The command line as it indexes; says on standard error how many files it has done. */
function indexing(t, tree) {
  const body = `
    const { Workspace } = require('./index.js')
    const { sync } = Workspace.prototype
    Workspace.prototype.sync = function (options) {
      const onProgress = ({ phase, filesDone }) => phase === 'index' && process.stderr.write('done ' + filesDone + '\\n')
      return sync.call(this, { ...options, onProgress })
    }
    require('./lib/cli/main.js').main(${JSON.stringify(['index', '--json', '--root', tree.root, '--storage', tree.storage])})`
  const run = start(t, ['--eval', body])
  const filesDone = () => Number(/done (\d+)\n$/.exec(run.stderr)?.[1] ?? 0)
  return { ...run, run, filesDone }
}

const json = async (tree, ...args) => {
  const { code, stdout, stderr } = await sextant([...args, '--root', tree.root, '--storage', tree.storage, '--json'])
  assert.notEqual(stdout, '', stderr)
  return { code, value: JSON.parse(stdout) }
}

test('a pause stops the run of another process, and resume goes on where it stopped', async (t) => {
  const tree = makeTree(t, bigTree(FILES))
  const workspace = await Workspace.open({ roots: [tree.root], storage: tree.storage })
  t.after(() => workspace.close())
  const { run, filesDone } = indexing(t, tree)
  await eventually(() => filesDone() >= 500 || run.ended)
  await workspace.pause()
  assert.equal((await workspace.status()).state, 'paused')
  assert.deepEqual(await run.closed, [1, null], run.stderr)
  assert.equal(JSON.parse(run.stdout).error.code, 'INDEX_PAUSED')
  assert.match(JSON.parse(run.stdout).error.message, /`sextant resume`/)
  // Nothing was published, and nothing begins.
  assert.equal((await workspace.status()).files, 0)
  assert.deepEqual([(await json(tree, 'index')).code, (await json(tree, 'search', 'compute')).value.error.code], [1, 'INDEX_PAUSED'])

  let toRead = 0
  const report = await workspace.resume({
    onProgress: ({ phase, filesTotal }) => (toRead = Math.max(toRead, phase === 'index' ? filesTotal : 0)),
  })
  assert.equal(report.added + report.unchanged, FILES)
  assert.equal(report.files, FILES)
  // What the other process had finished is not read again.
  assert.ok(toRead > 0 && toRead <= FILES - 400, `${toRead} files to read`)
})

test('pause and resume on the command line', async (t) => {
  const tree = makeTree(t)
  await json(tree, 'index')
  writeFileSync(join(tree.root, 'late.rs'), 'fn zemirolaku() {}\n')
  const paused = await json(tree, 'pause')
  assert.deepEqual([paused.code, paused.value.state, paused.value.files], [0, 'paused', 3])
  const refused = await sextant(['index', '--root', tree.root, '--storage', tree.storage])
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /paused; `sextant resume`/)
  const { value } = await json(tree, 'search', 'isExpired')
  assert.deepEqual([value.hits[0].path, value.degraded.map(({ code }) => code)], ['src/auth/token.js', ['INDEX_PAUSED']])
  const queries = join(tree.folder, 'queries.jsonl')
  writeFileSync(queries, '{"query":"isExpired"}\n')
  assert.deepEqual((await json(tree, 'search', '--queries', queries)).value.degraded.map(({ code }) => code), ['INDEX_PAUSED'])
  const resumed = await json(tree, 'resume')
  assert.deepEqual([resumed.code, resumed.value.added, resumed.value.unchanged], [0, 1, 3])
  assert.equal((await json(tree, 'status')).value.state, 'ready')
})

test('status sees that another process indexes', async (t) => {
  const tree = makeTree(t, bigTree(FILES))
  const { run, filesDone } = indexing(t, tree)
  await eventually(() => filesDone() > 0 || run.ended)
  const { value } = await json(tree, 'status')
  assert.equal(run.ended, undefined, 'the run was over too soon to be seen')
  assert.deepEqual([value.state, value.progress], ['indexing', null])
})

test('watch keeps the index current until it is told to end', async (t) => {
  const tree = makeTree(t)
  const watch = command(t, tree, 'watch', '--debounce', '50')
  await eventually(() => /^ready in .*: 3 files/.test(watch.stdout) || watch.ended)
  writeFileSync(join(tree.root, 'src/store/cart.py'), 'def zemirolaku(): pass\n')
  await eventually(() => /\n1 changed in .*; 3 files\n/.test(watch.stdout) || watch.ended)
  const { value } = await json(tree, 'search', 'zemirolaku', '--no-sync')
  assert.equal(value.hits[0].path, 'src/store/cart.py')
  writeFileSync(join(tree.root, 'late.py'), 'late = 1\n')
  await eventually(() => /\n1 added in .*; 4 files\n/.test(watch.stdout) || watch.ended)
  await json(tree, 'pause')
  writeFileSync(join(tree.root, 'later.py'), 'later = 1\n')
  await eventually(() => /^sextant: indexing is paused/.test(watch.stderr) || watch.ended)
  assert.equal(watch.ended, undefined, watch.stderr)
  watch.child.kill('SIGTERM')
  const ended = await watch.closed
  // Windows ends a process without asking it.
  if (process.platform !== 'win32') {
    assert.deepEqual(ended, [0, null], watch.stderr)
  }
})

test('watch --json prints a document a line, and builds an index that was cleared', async (t) => {
  const tree = makeTree(t)
  await json(tree, 'index')
  await json(tree, 'clear')
  const watch = command(t, tree, 'watch', '--debounce=0', '--json', '--performance-mode', 'memory')
  const lines = () => watch.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line))
  await eventually(() => lines().length > 0 || watch.ended)
  writeFileSync(join(tree.root, 'late.py'), 'late = 1\n')
  await eventually(() => lines().some(({ report }) => report?.added === 1) || watch.ended)
  await json(tree, 'pause')
  writeFileSync(join(tree.root, 'later.py'), 'later = 1\n')
  await eventually(() => lines().some(({ event }) => event === 'failed') || watch.ended)
  const shapes = new Set(lines().map((line) => Object.keys(line).join()))
  assert.deepEqual(shapes, new Set(['event,report', 'event,code,message']), watch.stderr)
  assert.equal(lines().at(-1).code, 'INDEX_PAUSED')
  watch.child.kill('SIGINT')
  const ended = await watch.closed
  if (process.platform !== 'win32') {
    assert.deepEqual([...ended, watch.stderr], [0, null, ''])
  }
})
