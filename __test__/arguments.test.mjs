import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Workspace, openTree } from './helpers.mjs'

const throwing = new Proxy(
  {},
  {
    get() {
      throw new TypeError('mine')
    },
    ownKeys() {
      throw new TypeError('mine')
    },
  },
)
const ODD = [undefined, null, NaN, -1, 2 ** 53, 1n, true, '', '\ud800', 'x\0y', {}, [], [undefined], () => {}, Symbol('s'), new Date(NaN), throwing]

const shown = (value) => (value === throwing ? 'a throwing proxy' : typeof value === 'symbol' ? 'a symbol' : String(JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v))))

/** Whatever happens, it happens as a promise that settles. */
async function settles(call, label) {
  let promise
  assert.doesNotThrow(() => (promise = call()), label)
  assert.ok(promise instanceof Promise, label)
  await promise.then(
    () => {},
    (error) => assert.ok(error instanceof Error && error.message !== '', label),
  )
}

test('no argument of any kind takes the process down', async (t) => {
  const { workspace, storage } = await openTree(t)
  await workspace.sync()
  for (const value of ODD) {
    const label = shown(value)
    await settles(() => Workspace.open(value).then((opened) => opened.close()), `open ${label}`)
    await settles(() => Workspace.open({ roots: value, storage }).then((opened) => opened.close()), `roots ${label}`)
    await settles(() => workspace.sync(value), `sync ${label}`)
    await settles(() => workspace.resume(value), `resume ${label}`)
    await settles(() => workspace.watch(value), `watch ${label}`)
    await settles(() => workspace.watch({ debounceDelay: value }), `debounceDelay ${label}`)
    await settles(() => workspace.watch({}, value), `onEvent ${label}`)
    await settles(() => workspace.unwatch(value), `unwatch ${label}`)
    await settles(() => workspace.setRoots(value), `setRoots ${label}`)
    await settles(() => workspace.sync({ signal: value }), `signal ${label}`)
    await settles(() => workspace.sync({ onProgress: value }), `onProgress ${label}`)
    await settles(() => workspace.search(value), `search ${label}`)
    await settles(() => workspace.search({ query: 'x' }, value), `search call ${label}`)
    await settles(() => workspace.chunks(value), `chunks ${label}`)
    await settles(() => workspace.status(value), `status ${label}`)
    await settles(() => workspace.files(value), `files ${label}`)
    await settles(() => workspace.skipped(value), `skipped ${label}`)
    await settles(() => workspace.overview(value), `overview ${label}`)
    for (const name of ['query', 'keywords', 'limit', 'tokenBudget', 'strategy', 'paths', 'languages', 'kinds', 'explain', 'sync', 'rewrite', 'history', 'attached']) {
      await settles(() => workspace.search({ query: 'x', [name]: value }), `${name} ${label}`)
    }
  }
  assert.ok((await workspace.search({ query: 'isExpired' })).hits.length > 0)
})

test('huge texts are answered or refused', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  for (const query of ['isExpired '.repeat(100_000), 'x'.repeat(1_000_000), '\ud800'.repeat(1_000_000), 'ü'.repeat(25_000_000)]) {
    await settles(() => workspace.search({ query }), `${query.length} characters`)
  }
  assert.ok((await workspace.search({ query: 'isExpired' })).hits.length > 0)
})

const searches = [
  [{ query: undefined }, /query is missing; expected a string/],
  [{ query: 5 }, /query is 5; expected a string/],
  [{ limit: 0 }, /limit is 0; expected a whole number from 1 to 1000/],
  [{ limit: -1 }, /limit is -1;/],
  [{ limit: 1001 }, /limit is 1001; .* to 1000/],
  [{ limit: 1.5 }, /limit is 1\.5;/],
  [{ limit: NaN }, /limit is NaN;/],
  [{ limit: Infinity }, /limit is Infinity;/],
  [{ limit: '5' }, /limit is "5";/],
  [{ limit: null }, /limit is null;/],
  [{ tokenBudget: 0 }, /tokenBudget is 0;/],
  [{ strategy: 'magic' }, /strategy is "magic"; expected one of auto, full,/],
  [{ paths: 'src' }, /paths is "src"; expected an array of strings/],
  [{ paths: ['a', 5] }, /paths is an array whose entry 1 is 5;/],
  [{ explain: 'yes' }, /explain is "yes"; expected true or false/],
  [{ sync: 1 }, /sync is 1;/],
  [{ kinds: ['method'] }, /kinds?.*method/],
  [{ languages: ['klingon'] }, /languages?.*klingon/],
  [{ top: 5 }, /"top"/],
]

test('a refusal names the argument, the value and what was expected', async (t) => {
  const { workspace, root, storage } = await openTree(t)
  await workspace.sync()
  for (const [options, message] of searches) {
    await assert.rejects(workspace.search({ query: 'x', ...options }), { code: 'INVALID_ARGUMENT', message })
  }
  const opens = [
    [undefined, /roots is missing/],
    [{ roots: [] }, /roots is an empty array/],
    [{ roots: root }, /roots is ".*; expected an array of strings/],
    [{ roots: [''] }, /empty path/],
    [{ roots: [root], storage: '' }, /storage is "";/],
    [{ roots: [root], cofnig: {} }, /"cofnig"/],
    [{ roots: [root], config: { vectorDb: { performanceMode: 'fast' } } }, /config\.vectorDb\.performanceMode is "fast"; expected one of balanced, performance, memory/],
    [{ roots: [root], config: { hybridSearch: { vectorWeight: 2 } } }, /config\.hybridSearch\.vectorWeight is 2; expected a number from 0 to 1/],
    [{ roots: [root], config: { hybridSearch: { mmr: { lambda: '1' } } } }, /config\.hybridSearch\.mmr\.lambda is "1"; expected a number/],
    [{ roots: [root], config: { hybridSearch: { mmr: { lamda: 1 } } } }, /config\.hybridSearch\.mmr is an object with the field "lamda"; expected no fields but enabled, lambda/],
    [{ roots: [root], config: { vectorDb: { batchSize: 51 } } }, /config\.vectorDb\.batchSize is 51; expected a whole number from 1 to 50/],
    [{ roots: [root], config: { embedding: { apiKey: 12345 } } }, /config\.embedding\.apiKey is not shown; expected a string/],
    [{ roots: [root], config: { vectordb: {} } }, /"vectordb"; expected no fields but ignore, vectorDb/],
    [{ roots: [root], embedder: { id: 'a' } }, /embedder\.embed is missing; expected a function/],
    [{ roots: [root], embedder: { id: '', embed() {} } }, /embedder\.id is ""/],
    [{ roots: [root], languageModel: {} }, /languageModel\.complete is missing/],
    [{ roots: [root], onLog: 1 }, /onLog is 1; expected a function/],
    [{ roots: [root], config: { ignore: { exclude: '*.log' } } }, /config\.ignore\.exclude is "\*\.log"; expected an array of strings/],
    [{ roots: [root], config: { ignore: { gitignore: 0 } } }, /config\.ignore\.gitignore is 0; expected true or false/],
    [{ roots: [root], config: null }, /config is null; expected an object/],
  ]
  for (const [options, message] of opens) {
    const merged = options === undefined || options.storage !== undefined ? options : { ...options, storage }
    await assert.rejects(Workspace.open(merged), { code: 'INVALID_ARGUMENT', message })
  }
  await assert.rejects(workspace.sync({ signal: {} }), { code: 'INVALID_ARGUMENT', message: /signal is an object; expected an AbortSignal/ })
  await assert.rejects(workspace.sync({ onProgress: 5 }), { code: 'INVALID_ARGUMENT', message: /onProgress is 5; expected a function/ })
  await assert.rejects(workspace.chunks(''), { code: 'INVALID_ARGUMENT' })
  await assert.rejects(workspace.search({ query: ' \n' }), { code: 'EMPTY_QUERY' })
})

test('what the caller’s own getters throw is what the call rejects with', async (t) => {
  const { workspace } = await openTree(t)
  await assert.rejects(workspace.search(throwing), { name: 'TypeError', message: 'mine' })
  await assert.rejects(Workspace.open(throwing), { name: 'TypeError', message: 'mine' })
})

test('a lone half of a surrogate pair becomes the replacement character', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  assert.equal((await workspace.search({ query: 'isExpired \ud800' })).query, 'isExpired \ufffd')
  assert.equal((await workspace.search({ query: 'isExpired 😀' })).query, 'isExpired 😀')
})

test('the class has no constructor of its own, and its methods need their object', async (t) => {
  const { workspace } = await openTree(t)
  assert.throws(() => new Workspace())
  for (const receiver of [undefined, {}, Workspace]) {
    assert.throws(() => workspace.status.call(receiver))
  }
})
