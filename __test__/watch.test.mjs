import assert from 'node:assert/strict'
import { once } from 'node:events'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { PACKAGE, Workspace, bigTree, listener, makeTree, openTree, script, sextant } from './helpers.mjs'

const QUICK = { debounceDelay: 50 }

async function watchTree(t, files) {
  const tree = await openTree(t, files)
  const events = listener()
  await tree.workspace.watch(QUICK, events.listen)
  return { ...tree, events }
}

const paths = async (workspace, query) => (await workspace.search({ query })).hits.map(({ path }) => path)

test('a watch builds the index and follows files that come, change, move and go', async (t) => {
  const { workspace, root, events } = await watchTree(t)
  assert.equal((await events.synced()).added, 3)
  assert.equal((await workspace.status()).watching, true)

  writeFileSync(join(root, 'late.rs'), 'fn zemirolaku() {}\n')
  await events.synced(({ added }) => added === 1)
  assert.deepEqual(await paths(workspace, 'zemirolaku'), ['late.rs'])

  writeFileSync(join(root, 'late.rs'), 'fn gokuvafiko() {}\n')
  await events.synced(({ changed }) => changed === 1)
  assert.equal((await paths(workspace, 'gokuvafiko'))[0], 'late.rs')

  renameSync(join(root, 'late.rs'), join(root, 'src/later.rs'))
  await events.synced(({ added }) => added === 1)
  assert.equal((await paths(workspace, 'gokuvafiko'))[0], 'src/later.rs')

  rmSync(join(root, 'src/later.rs'))
  await events.synced(({ removed }) => removed === 1)
  assert.ok(!(await paths(workspace, 'gokuvafiko')).includes('src/later.rs'))

  await workspace.unwatch()
  assert.equal((await workspace.status()).watching, false)
  assert.ok(events.all.every(({ type }) => type !== 'failed'), JSON.stringify(events.all))
})

test('events have their shape', async (t) => {
  const { events } = await watchTree(t, bigTree(1000))
  await events.synced()
  const keys = { progress: 'type,progress', synced: 'type,report' }
  for (const event of events.all) {
    assert.equal(Object.keys(event).join(), keys[event.type])
  }
  assert.ok(events.all.some(({ type }) => type === 'progress'))
  assert.equal(events.all.at(-1).type, 'synced')
})

test('twenty saves in a row are one update', async (t) => {
  const { workspace, root } = await openTree(t)
  const events = listener()
  await workspace.watch({ debounceDelay: 500 }, events.listen)
  await events.synced()
  for (let save = 0; save < 20; save += 1) {
    writeFileSync(join(root, 'src/store/cart.py'), `def saved_${save}():\n    pass\n`)
  }
  assert.equal((await events.synced()).changed, 1)
  assert.equal((await paths(workspace, 'saved_19'))[0], 'src/store/cart.py')
  writeFileSync(join(root, 'last.py'), 'last = 1\n')
  await events.synced(({ added }) => added === 1)
  assert.equal(events.all.filter(({ type }) => type === 'synced').length, 3)
})

test('a search that syncs knows of a change before the watch does', async (t) => {
  const { workspace, root } = await openTree(t)
  const events = listener()
  await workspace.watch({ debounceDelay: 10_000 }, events.listen)
  await events.synced()
  writeFileSync(join(root, 'late.rs'), 'fn zemirolaku() {}\n')
  const { hits } = await workspace.search({ query: 'zemirolaku', sync: true })
  assert.equal(hits[0].path, 'late.rs')
})

const LISTEN = `
  import { writeFileSync } from 'node:fs'
  const alive = setInterval(() => {}, 1000)
  const edit = () => writeFileSync(tree.root + '/late.rs', 'fn zemirolaku() {}')`

test('what the callback throws is an uncaught exception, and the watch goes on', async (t) => {
  const body = `${LISTEN}
    let thrown = 0
    process.on('uncaughtException', (error) => {
      assert.equal(error.message, 'boom')
      thrown += 1
    })
    let synced = 0
    const w = await open()
    await w.watch({ debounceDelay: 0 }, ({ type, report }) => {
      if (type === 'synced') {
        synced += 1
        if (report.files === 3) {
          edit()
        } else {
          clearInterval(alive)
          setImmediate(() => w.close().then(() => console.log(synced, thrown >= synced)))
        }
      }
      throw new Error('boom')
    })`
  const { code, signal, stdout, stderr } = await script(makeTree(t), body)
  assert.deepEqual([code, signal, stdout], [0, null, '2 true\n'], stderr)
})

test('an exception of the callback that nobody catches ends the process in the usual way', async (t) => {
  const body = `${LISTEN}
    const w = await open()
    await w.watch({}, () => { throw new Error('boom') })`
  const { code, signal, stderr } = await script(makeTree(t), body)
  assert.ok(signal === null && code !== 0, `${code} ${signal}`)
  assert.match(stderr, /Error: boom/)
})

test('a watch does not keep the process alive', async (t) => {
  const body = "const w = await open(); await w.watch({}, () => {}); await w.search({ query: 'x', sync: true })"
  const { code, signal, stderr } = await script(makeTree(t), body)
  assert.deepEqual([code, signal], [0, null], stderr)
})

test('process.exit ends a process in the middle of a watch, and the index stays whole', async (t) => {
  const tree = makeTree(t, bigTree())
  const body = `${LISTEN}
    const w = await open()
    await w.watch({}, ({ type }) => type === 'progress' && process.exit(0))`
  const { code, signal, stderr } = await script(tree, body)
  assert.deepEqual([code, signal, stderr], [0, null, ''])
  const workspace = await Workspace.open({ roots: [tree.root], storage: tree.storage })
  t.after(() => workspace.close())
  assert.equal((await workspace.sync()).files, 3000)
})

test('a watch goes on although nobody holds its workspace', async (t) => {
  const body = `${LISTEN}
    import { setFlagsFromString } from 'node:v8'
    import { runInNewContext } from 'node:vm'
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc')
    const begin = async () => {
      const w = await open()
      await w.watch({ debounceDelay: 0 }, ({ type, report }) => {
        if (type === 'synced' && report.files === 4) {
          console.log('found')
          clearInterval(alive)
        } else if (type === 'synced') {
          setImmediate(() => {
            collect()
            edit()
          })
        }
      })
    }
    await begin()`
  const { code, signal, stdout, stderr } = await script(makeTree(t), body)
  assert.deepEqual([code, signal, stdout], [0, null, 'found\n'], stderr)
})

const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { Workspace } = require(workerData.index)
  const run = async () => {
    const workspace = await Workspace.open({ roots: [workerData.root], storage: workerData.storage })
    setInterval(() => {}, 1000)
    await workspace.watch({ debounceDelay: 0 }, ({ type, report }) => {
      if (type === workerData.until) parentPort.postMessage(report?.files ?? null)
    })
  }
  run()
`

test('a worker can watch, and be terminated in the middle of it', async (t) => {
  const start = (tree, until) => new Worker(WORKER, { eval: true, workerData: { ...tree, index: join(PACKAGE, 'index.js'), until } })
  const [small, big] = [makeTree(t), makeTree(t, bigTree())]
  const workers = [start(small, 'synced'), start(big, 'progress')]
  assert.deepEqual(await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0])), [3, null])
  writeFileSync(join(small.root, 'late.rs'), 'fn zemirolaku() {}\n')
  assert.deepEqual(await once(workers[0], 'message'), [4])
  await Promise.all(workers.map((worker) => worker.terminate()))
  const workspace = await Workspace.open({ roots: [big.root], storage: big.storage })
  t.after(() => workspace.close())
  assert.equal((await workspace.sync()).files, 3000)
})

test('close ends a watch in the middle of a run, and nothing is told afterwards', async (t) => {
  const { workspace, events } = await watchTree(t, bigTree())
  await events.next(({ type }) => type === 'progress')
  await workspace.close()
  const told = events.all.length
  await assert.rejects(workspace.watch(), { code: 'CLOSED' })
  await workspace.unwatch()
  assert.equal(events.all.length, told)
})

test('watch and unwatch take effect in the order of the calls', async (t) => {
  const { workspace } = await openTree(t)
  const watching = async () => (await workspace.status()).watching
  await Promise.all([workspace.watch(QUICK), workspace.unwatch(), workspace.watch(QUICK)])
  assert.equal(await watching(), true)
  await Promise.all([workspace.watch(QUICK), workspace.unwatch()])
  assert.equal(await watching(), false)
  await workspace.unwatch()
})

test('a second watch replaces the first', async (t) => {
  const { workspace, root, events } = await watchTree(t)
  await events.synced()
  const second = listener()
  await workspace.watch(QUICK, second.listen)
  await second.synced()
  const told = events.all.length
  writeFileSync(join(root, 'late.rs'), 'fn zemirolaku() {}\n')
  await second.synced(({ added }) => added === 1)
  assert.equal(events.all.length, told)
})

test('a paused workspace answers from the last index until it is resumed', async (t) => {
  const { workspace, root, events } = await watchTree(t)
  await events.synced()
  await workspace.pause()
  assert.equal((await workspace.status()).state, 'paused')
  await assert.rejects(workspace.sync(), { code: 'INDEX_PAUSED' })
  writeFileSync(join(root, 'late.rs'), 'fn zemirolaku() {}\n')
  assert.equal((await events.next(({ type }) => type === 'failed')).code, 'INDEX_PAUSED')
  const answer = await workspace.search({ query: 'isExpired', sync: true })
  assert.deepEqual([answer.hits[0].path, answer.degraded.map(({ code }) => code)], ['src/auth/token.js', ['INDEX_PAUSED']])
  assert.equal((await workspace.resume()).files, 4)
  const { state, lastError } = await workspace.status()
  assert.deepEqual([state, lastError], ['ready', null])
  writeFileSync(join(root, 'last.rs'), 'fn gokuvafiko() {}\n')
  await events.synced(({ added }) => added === 1)
})

test('roots come and go during a watch, and searches are answered throughout', async (t) => {
  const { workspace, folder, root, events } = await watchTree(t)
  await events.synced()
  const other = join(makeTree(t, { 'main.py': 'kahirizesu = 1\n' }).folder, 'tree')
  let isDone = false
  let answered = 0
  const asking = (async () => {
    while (!isDone) {
      answered += (await workspace.search({ query: 'isExpired' }).then(() => 1, (error) => assert.equal(error.code, 'INDEX_NOT_BUILT'))) ?? 1
    }
  })()
  await workspace.setRoots([root, other])
  await events.synced(({ added }) => added === 1)
  assert.equal((await paths(workspace, 'kahirizesu'))[0], 'main.py')
  writeFileSync(join(other, 'more.py'), 'gokuvafiko = 1\n')
  await events.synced(({ added }) => added === 1)
  await workspace.setRoots([other])
  assert.deepEqual((await workspace.status()).roots, [other])
  assert.ok(!(await paths(workspace, 'isExpired')).includes('src/auth/token.js'))
  isDone = true
  await asking
  assert.ok(answered > 0)
  const refused = [workspace.setRoots([join(folder, 'nowhere')]), workspace.setRoots([folder]), workspace.setRoots([]), workspace.setRoots(['']), workspace.setRoots(folder)]
  const codes = ['ROOT_NOT_FOUND', 'STORAGE_INSIDE_ROOT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT']
  await Promise.all(refused.map((call, index) => assert.rejects(call, { code: codes[index] })))
  assert.deepEqual((await workspace.status()).roots, [other])
})

test('a change of roots cancels what indexes', async (t) => {
  const { workspace, root } = await openTree(t, bigTree())
  const other = makeTree(t).root
  let changed
  const run = workspace.sync({ onProgress: () => (changed ??= workspace.setRoots([other])) })
  await assert.rejects(run, { code: 'CANCELLED' })
  await changed
  assert.equal((await workspace.sync()).files, 3)
  await workspace.setRoots([root, other])
  assert.equal((await workspace.sync()).files, 3003)
})

test('a change of roots ends the run of a watch, which then indexes the new ones', async (t) => {
  const { workspace, events } = await watchTree(t, bigTree())
  const other = makeTree(t).root
  await events.next(({ type }) => type === 'progress')
  await workspace.setRoots([other])
  assert.equal((await events.synced(({ roots }) => roots.includes(other))).files, 3)
  assert.ok(events.all.every(({ type }) => type !== 'failed'), JSON.stringify(events.all))
})

test('an index that was cleared elsewhere stays so during a watch until it is asked for', async (t) => {
  const { workspace, root, storage, events } = await watchTree(t)
  const command = (...args) => sextant([...args, '--root', root, '--storage', storage, '--json'])
  await events.synced()
  const cleared = JSON.parse((await command('clear')).stdout)
  assert.deepEqual([cleared.state, cleared.files], ['cleared', 0])
  writeFileSync(join(root, 'late.rs'), 'fn zemirolaku() {}\n')
  assert.equal((await events.next(({ type }) => type === 'failed')).code, 'INDEX_CLEARED')
  await assert.rejects(workspace.search({ query: 'zemirolaku', sync: true }), { code: 'INDEX_CLEARED' })
  assert.equal((await workspace.status()).state, 'cleared')
  const { hits } = JSON.parse((await command('search', 'zemirolaku')).stdout)
  assert.equal(hits[0].path, 'late.rs')
  assert.equal((await workspace.status()).state, 'ready')
  writeFileSync(join(root, 'last.rs'), 'fn gokuvafiko() {}\n')
  await events.synced(({ files }) => files === 5)
})

test('what watch and setRoots are given is checked', async (t) => {
  const { workspace } = await openTree(t)
  const calls = [
    [workspace.watch({ debounceDelay: -1 }), /debounceDelay is -1; expected a whole number from 0 to 10000/],
    [workspace.watch({ debounceDelay: 10_001 }), /debounceDelay is 10001;/],
    [workspace.watch({ debounceDelay: '5' }), /debounceDelay is "5";/],
    [workspace.watch({ debounce: 5 }), /no fields but debounceDelay/],
    [workspace.watch(5), /options is 5; expected an object/],
    [workspace.watch({}, 5), /onEvent is 5; expected a function/],
    [workspace.watch({}, null), /onEvent is null; expected a function/],
    [workspace.setRoots(), /roots is undefined; expected an array of strings/],
    [workspace.setRoots([]), /roots is an empty array;/],
  ]
  await Promise.all(calls.map(([call, message]) => assert.rejects(call, { code: 'INVALID_ARGUMENT', message })))
  assert.equal((await workspace.status()).watching, false)
})
