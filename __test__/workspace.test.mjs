import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Workspace, makeTree, openTree } from './helpers.mjs'

const REPORT_KEYS =
  'added,changed,chunks,degraded,embedded,files,removed,reused,roots,skipped,textsEmbedded,textsPending,textsReused,tookMs,unchanged'
const HIT_KEYS = 'endLine,explanation,kind,language,name,path,root,score,startLine,text'
const keys = (value) => Object.keys(value).sort().join()

test('a workspace that was never indexed says so', async (t) => {
  const { workspace, root, storage } = await openTree(t)
  const status = await workspace.status()
  assert.equal(status.state, 'empty')
  assert.deepEqual(status.roots, [root])
  assert.ok(status.storage.startsWith(storage), status.storage)
  assert.deepEqual([status.watching, status.degraded, status.progress], [false, [], null])
  assert.equal(status.lastError, null)
  const calls = [workspace.files(), workspace.skipped(), workspace.overview(), workspace.search({ query: 'token' })]
  // Handled all at once: a rejection that waits for its turn counts as unhandled.
  await Promise.all(calls.map((call) => assert.rejects(call, { code: 'INDEX_NOT_BUILT' })))
})

test('sync reports what it did, and does nothing twice', async (t) => {
  const { workspace, root } = await openTree(t)
  const first = await workspace.sync()
  assert.equal(keys(first), REPORT_KEYS)
  assert.deepEqual(first.roots, [root])
  assert.deepEqual([first.files, first.added, first.changed, first.removed, first.unchanged], [3, 3, 0, 0, 0])
  assert.ok(first.chunks >= 3)
  assert.ok(first.skipped.some(({ path, reason }) => path === 'logo.png' && reason !== ''))
  assert.deepEqual(first.degraded, [])
  const [overview] = await workspace.overview()
  assert.deepEqual([overview.root, overview.files], [root, 3])
  assert.equal(overview.languages.reduce((sum, { files }) => sum + files, 0), 3)
  assert.deepEqual(overview.skipped.flatMap(({ firstPaths }) => firstPaths).sort(), first.skipped.map(({ path }) => path).sort())
  assert.ok(overview.skipped.every(({ reason, paths, firstPaths }) => reason !== '' && paths === firstPaths.length))
  const second = await workspace.sync()
  assert.deepEqual([second.files, second.added, second.changed, second.removed, second.unchanged], [3, 0, 0, 0, 3])
  assert.equal((await workspace.status()).state, 'ready')
})

test('sync follows changed, new and removed files', async (t) => {
  const { workspace, root } = await openTree(t)
  await workspace.sync()
  writeFileSync(join(root, 'src/store/cart.py'), 'def remove_from_cart(cart, item):\n    cart.remove(item)\n')
  writeFileSync(join(root, 'new.ts'), 'export const fresh = 1\n')
  rmSync(join(root, 'docs/guide.md'))
  const report = await workspace.sync()
  assert.deepEqual([report.files, report.added, report.changed, report.removed, report.unchanged], [3, 1, 1, 1, 1])
  const { hits } = await workspace.search({ query: 'remove_from_cart' })
  assert.equal(hits[0].path, 'src/store/cart.py')
})

test('a search finds the lines, counted from 1', async (t) => {
  const { workspace, root } = await openTree(t)
  await workspace.sync()
  const answer = await workspace.search({ query: 'where do we check that a token is expired' })
  assert.equal(keys(answer), 'cached,degraded,hits,intent,keywords,omitted,query,question,strategy,tokens,tookMs,tried')
  assert.equal(answer.query, 'where do we check that a token is expired')
  assert.deepEqual(answer.degraded, [])
  const [hit] = answer.hits
  assert.equal(keys(hit), HIT_KEYS)
  assert.equal(hit.root, root)
  assert.equal(hit.path, 'src/auth/token.js')
  assert.ok(hit.startLine >= 1 && hit.startLine <= 2 && hit.endLine >= 4, `${hit.startLine}-${hit.endLine}`)
  assert.ok(hit.text.includes('isExpired'))
  assert.deepEqual(hit.explanation, [])
})

test('limit, filters, keywords and budget narrow an answer', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  const search = async (options) => (await workspace.search({ query: 'add an item to the cart', ...options })).hits
  assert.equal((await search({ limit: 1 })).length, 1)
  assert.ok((await search({ paths: ['src'] })).every(({ path }) => path.startsWith('src/')))
  assert.ok((await search({ paths: ['**/*.md'] })).every(({ path }) => path.endsWith('.md')))
  assert.ok((await search({ languages: ['python'] })).every(({ language }) => language === 'python'))
  assert.ok((await search({ kinds: ['function'] })).every(({ kind }) => kind === 'function'))
  assert.deepEqual(await search({ paths: ['nowhere'] }), [])
  assert.ok((await search({ keywords: ['parseToken'] })).some(({ path }) => path === 'src/auth/token.js'))
  assert.ok((await search({ tokenBudget: 20 })).length <= (await search({})).length)
})

test('explain says how a score came about', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  const { hits } = await workspace.search({ query: 'isExpired', explain: true })
  assert.ok(hits[0].explanation.length > 0)
  for (const { name, value } of hits[0].explanation) {
    assert.equal(typeof name, 'string')
    assert.ok(Number.isFinite(value), name)
  }
})

test('each local strategy answers, an absent one says so', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  for (const strategy of ['auto', 'embeddings', 'tfidf', 'hybrid']) {
    const answer = await workspace.search({ query: 'isExpired', strategy })
    assert.ok(answer.hits.some(({ path }) => path === 'src/auth/token.js'), strategy)
  }
  const whole = await workspace.search({ query: 'x', strategy: 'full' })
  assert.deepEqual(whole.hits.map(({ path }) => path), ['docs/guide.md', 'src/auth/token.js', 'src/store/cart.py'])
  await assert.rejects(workspace.search({ query: 'x', strategy: 'remote' }), { code: 'STRATEGY_UNAVAILABLE' })
})

test('search can sync first', async (t) => {
  const { workspace, root } = await openTree(t)
  assert.ok((await workspace.search({ query: 'isExpired', sync: true })).hits.length > 0)
  writeFileSync(join(root, 'late.rs'), 'fn zemirolaku() {}\n')
  const { hits } = await workspace.search({ query: 'zemirolaku', sync: true })
  assert.equal(hits[0].path, 'late.rs')
})

test('files, skipped and chunks say what is in the index', async (t) => {
  const { workspace, root } = await openTree(t)
  await workspace.sync()
  const files = await workspace.files()
  assert.deepEqual(files.map(({ path }) => path), ['docs/guide.md', 'src/auth/token.js', 'src/store/cart.py'])
  assert.equal(keys(files[0]), 'chunks,language,path,root,size')
  assert.equal(files[1].language, 'javascript')
  assert.ok((await workspace.skipped()).some(({ path }) => path === 'logo.png'))
  for (const name of ['src/auth/token.js', join(root, 'src/auth/token.js')]) {
    const { path, language, chunks } = await workspace.chunks(name)
    assert.deepEqual([path, language], ['src/auth/token.js', 'javascript'])
    assert.equal(keys(chunks[0]), 'endLine,kind,name,startLine,text,tokens')
    assert.ok(chunks.some((chunk) => chunk.text.includes('isExpired')))
  }
  await assert.rejects(workspace.chunks('no/such.js'), { code: 'NOT_INDEXED' })
})

test('clear removes the index, and only a sync or resume builds it anew', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  assert.equal(await workspace.clear(), undefined)
  assert.equal((await workspace.status()).state, 'cleared')
  await assert.rejects(workspace.search({ query: 'isExpired', sync: true }), { code: 'INDEX_CLEARED' })
  assert.equal((await workspace.sync()).added, 3)
  await workspace.clear()
  assert.equal((await workspace.resume()).added, 3)
})

test('an index outlives the workspace that built it', async (t) => {
  const { workspace, root, storage } = await openTree(t)
  await workspace.sync()
  await workspace.close()
  const again = await Workspace.open({ roots: [root], storage })
  t.after(() => again.close())
  assert.equal((await again.status()).state, 'ready')
  assert.ok((await again.search({ query: 'isExpired' })).hits.length > 0)
})

test('after close every call is refused, and closing again is nothing', async (t) => {
  const { workspace } = await openTree(t)
  assert.equal(await workspace.close(), undefined)
  const calls = [
    workspace.sync(),
    workspace.search({ query: 'x' }),
    workspace.status(),
    workspace.files(),
    workspace.skipped(),
    workspace.chunks('x'),
    workspace.clear(),
    workspace.watch(),
    workspace.pause(),
    workspace.resume(),
  ]
  await Promise.all(calls.map((call) => assert.rejects(call, { code: 'CLOSED' })))
  assert.equal(await workspace.close(), undefined)
})

test('several roots, also of one name, are told apart', async (t) => {
  const tree = makeTree(t, { 'one/api/main.py': 'kahirizesu = 1\n', 'two/api/main.py': 'gokuvafiko = 2\n' })
  const roots = [join(tree.root, 'one/api'), join(tree.root, 'two/api')]
  const workspace = await Workspace.open({ roots, storage: tree.storage })
  t.after(() => workspace.close())
  assert.equal((await workspace.sync()).files, 2)
  const [hit] = (await workspace.search({ query: 'gokuvafiko' })).hits
  assert.deepEqual([hit.root, hit.path], [roots[1], 'main.py'])
})

test('config decides which files belong to the workspace', async (t) => {
  const files = { 'kept.py': 'a = 1\n', 'out.gen.py': 'b = 1\n', '.gitignore': 'secret.py\n', 'secret.py': 'c = 1\n' }
  const { root, storage } = makeTree(t, files)
  const config = { ignore: { exclude: ['*.gen.py'], gitignore: false } }
  const workspace = await Workspace.open({ roots: [root], storage, config })
  t.after(() => workspace.close())
  await workspace.sync()
  const paths = (await workspace.files()).map(({ path }) => path).filter((path) => path.endsWith('.py'))
  assert.deepEqual(paths, ['kept.py', 'secret.py'])
})

test('a root that is not there, or no folder, has a code', async (t) => {
  const { root, storage } = makeTree(t)
  await assert.rejects(Workspace.open({ roots: [join(root, 'nowhere')], storage }), { code: 'ROOT_NOT_FOUND' })
  await assert.rejects(Workspace.open({ roots: [join(root, 'logo.png')], storage }), { code: 'ROOT_NOT_A_FOLDER' })
})

test('many searches at once are all answered', async (t) => {
  const { workspace } = await openTree(t)
  await workspace.sync()
  const answers = await Promise.all(Array.from({ length: 500 }, () => workspace.search({ query: 'isExpired', limit: 3 })))
  assert.ok(answers.every(({ hits }) => hits[0].path === 'src/auth/token.js'))
})
