import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { PACKAGE, bigTree, makeTree, require, script, sextant } from './helpers.mjs'

const HIT_KEYS = 'root,path,startLine,endLine,kind,name,language,score,text'
const keys = (value) => Object.keys(value).join()

/** The command line over a throw-away tree. */
function over(t, files) {
  const tree = makeTree(t, files)
  const run = (command, args = [], options) =>
    sextant([command, ...args, '--root', tree.root, '--storage', tree.storage], options)
  const json = async (command, args = [], options) => {
    const { code, stdout, stderr } = await run(command, [...args, '--json'], options)
    assert.equal(stdout.trim().split('\n').length, 1, `one document: ${stdout}${stderr}`)
    return { code, value: JSON.parse(stdout), stderr }
  }
  return { ...tree, run, json }
}

const ANSWER_KEYS = 'query,question,keywords,intent,strategy,tried,tookMs,degraded,hits,tokens,omitted,cached'

test('index reports what it did, and says nothing else without a terminal', async (t) => {
  const { run, json, root, storage } = over(t)
  const { code, value, stderr } = await json('index')
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(keys(value), 'roots,files,chunks,added,changed,removed,unchanged,embedded,reused,textsEmbedded,textsReused,textsPending,skipped,tookMs,degraded')
  assert.deepEqual([value.files, value.added, value.roots], [3, 3, [root]])
  assert.ok(value.skipped.some(({ path, reason }) => path === 'logo.png' && reason !== ''))
  const again = await run('index', ['--performance-mode=memory'])
  assert.match(again.stdout, /^3 files, \d+ chunks? in .*: 0 added, 0 changed, 0 removed, 3 unchanged\n/)
  // Roots may also be named like files.
  const named = await sextant(['index', root, '--storage', storage, '--json'])
  assert.equal(JSON.parse(named.stdout).unchanged, 3)
})

test('search builds the index, and answers in the documented shape', async (t) => {
  const { json } = over(t)
  const { code, value, stderr } = await json('search', ['is the token expired'])
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(keys(value), ANSWER_KEYS)
  assert.equal(keys(value.hits[0]), HIT_KEYS)
  assert.equal(value.hits[0].path, 'src/auth/token.js')
  const explained = await json('search', ['isExpired', '--explain'])
  assert.equal(keys(explained.value.hits[0]), `${HIT_KEYS},explanation`)
})

test('search for a person shows place, name, kind and numbered lines, without colours', async (t) => {
  const { run, root } = over(t)
  const { code, stdout, stderr } = await run('search', ['isExpired', '--limit=1'], { cwd: root })
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /^1\. src[\\/]auth[\\/]token\.js:\d+-\d+ {2}(?:\S+ {2})?[a-z-]+\n/)
  assert.match(stdout, /\n +2 \| export function isExpired\(token, now\) \{\n/)
  assert.ok(!stdout.includes('\x1b'))
  assert.match((await run('search', ['isExpired', '--explain'])).stdout, /\n {3}\w+.*: -?[\d.e-]+\n/)
})

test('no hits is an answer, and says what to try', async (t) => {
  const { run, json } = over(t)
  const { code, stdout } = await run('search', ['isExpired', '--path', 'nowhere'])
  assert.equal(code, 0)
  assert.match(stdout, /^no hits for "isExpired"\n.*--path/)
  assert.deepEqual((await json('search', ['isExpired', '--path', 'nowhere'])).value.hits, [])
})

test('filters and limits reach the search', async (t) => {
  const { json } = over(t)
  const hits = async (...args) => (await json('search', ['add an item to the cart', ...args])).value.hits
  assert.equal((await hits('--limit', '1')).length, 1)
  assert.ok((await hits('--path', 'docs', '--path=src/store')).every(({ path }) => !path.startsWith('src/auth')))
  assert.ok((await hits('--language', 'python')).every(({ language }) => language === 'python'))
  assert.ok((await hits('--kind', 'section')).every(({ kind }) => kind === 'section'))
  assert.equal((await json('search', ['isExpired', '--strategy', 'tfidf'])).value.strategy, 'tfidf')
})

test('a query that looks like a flag goes behind --', async (t) => {
  const { root, storage } = makeTree(t, { 'conf.js': "run('--error-on-warnings')\n" })
  const { code, stdout } = await sextant(['search', '--json', '--root', root, '--storage', storage, '--', '--error-on-warnings'])
  assert.equal(code, 0)
  assert.equal(JSON.parse(stdout).hits[0].path, 'conf.js')
})

test('--no-sync asks the index as it is', async (t) => {
  const { json, root } = over(t)
  const early = await json('search', ['isExpired', '--no-sync'])
  assert.deepEqual([early.code, early.value.error.code], [1, 'INDEX_NOT_BUILT'])
  await json('index')
  writeFileSync(join(root, 'late.py'), 'def zemirolaku(): pass\n')
  const found = async (...args) => (await json('search', ['zemirolaku', ...args])).value.hits.some(({ path }) => path === 'late.py')
  assert.equal(await found('--no-sync'), false)
  assert.equal(await found(), true)
})

test('--queries answers line by line', async (t) => {
  const { run, folder } = over(t)
  const file = join(folder, 'queries.jsonl')
  writeFileSync(file, '\ufeff{"query":"isExpired","id":7}\r\n\r\n{"query":"cart"}\r\n  \n{"query":" ","id":"blank"}')
  const { code, stdout } = await run('search', ['--queries', file, '--limit', '2', '--json'])
  assert.equal(code, 1)
  const [first, second, third, ...rest] = stdout.trim().split('\n').map((line) => JSON.parse(line))
  assert.deepEqual(rest, [])
  assert.equal(keys(first), `id,${ANSWER_KEYS}`)
  assert.deepEqual([first.id, first.query, first.hits[0].path], [7, 'isExpired', 'src/auth/token.js'])
  assert.ok(!('id' in second) && second.hits.length <= 2)
  assert.deepEqual([third.id, third.error.code], ['blank', 'EMPTY_QUERY'])
  const piped = await run('search', ['--queries=-'], { input: '{"query":"isExpired"}\n' })
  assert.deepEqual([piped.code, JSON.parse(piped.stdout).query], [0, 'isExpired'])
})

test('a bad line of queries is named, and nothing is answered', async (t) => {
  const { json, folder } = over(t)
  const file = join(folder, 'queries.jsonl')
  for (const line of ['{"query":5}', 'null', '[]', '{"query":"x"', 'x']) {
    writeFileSync(file, `{"query":"isExpired"}\n\n${line}\n`)
    const { code, value } = await json('search', ['--queries', file])
    assert.deepEqual([code, value.error.code], [1, 'QUERIES_INVALID'])
    assert.match(value.error.message, /^line 3 of .*queries\.jsonl/)
  }
  const missing = await json('search', ['--queries', join(folder, 'nowhere')])
  assert.deepEqual([missing.code, missing.value.error.code], [1, 'QUERIES_UNREADABLE'])
})

test('files, skipped, chunks and status say how the index stands', async (t) => {
  const { run, json, root } = over(t)
  await json('index')
  const { files } = (await json('files')).value
  assert.deepEqual(files.map(({ path }) => path), ['docs/guide.md', 'src/auth/token.js', 'src/store/cart.py'])
  assert.equal(keys(files[0]), 'root,path,language,size,chunks')
  assert.match((await run('files')).stdout, /^chunks +size {2}language +path\n[\s\S]*\n3 files\n$/)
  assert.ok((await json('skipped')).value.skipped.some(({ path }) => path === 'logo.png'))
  assert.match((await run('skipped')).stdout, /logo\.png {2}\S/)
  const chunks = (await json('chunks', ['src/auth/token.js'])).value
  assert.equal(keys(chunks), 'path,language,chunks')
  assert.equal(keys(chunks.chunks[0]), 'startLine,endLine,kind,name,tokens,text')
  assert.match((await run('chunks', ['src/auth/token.js'])).stdout, /token\.js:\d+-\d+ {2}.*[a-z-]+, \d+ tokens?\n/)
  const status = (await json('status')).value
  assert.equal(keys(status), 'state,roots,files,chunks,pendingFiles,model,storage,databaseBytes,watching,lastError,degraded,progress')
  assert.deepEqual([status.state, status.roots, status.files, status.lastError], ['ready', [root], 3, null])
  assert.deepEqual([status.watching, status.degraded, status.progress], [false, [], null])
  assert.match((await run('status')).stdout, /^state {2,}ready\n/)
})

test('clear removes the index, and whoever asks next has it built', async (t) => {
  const { json, run } = over(t)
  await json('index')
  for (const again of [['search', ['isExpired']], ['index'], ['resume']]) {
    const { code, value } = await json('clear')
    assert.deepEqual([code, value.state, value.files], [0, 'cleared', 0])
    assert.equal((await json('status')).value.state, 'cleared')
    assert.equal((await json('search', ['isExpired', '--no-sync'])).value.error.code, 'INDEX_NOT_BUILT')
    assert.equal((await run(...again)).code, 0)
    const status = (await json('status')).value
    assert.deepEqual([status.state, status.files], ['ready', 3])
  }
})

test('wrong usage ends with 2, names the near miss, and is JSON where JSON was asked for', async () => {
  const cases = [
    [[], /command is missing/],
    [['serch', 'x'], /did you mean search\?/],
    [['search', 'x', '--rot', '.'], /no flag --rot here; did you mean --root\?/],
    [['search', 'x', '-r'], /no flag -r here/],
    [['search', 'x', '--strategy', 'hybird'], /did you mean hybrid\?/],
    [['search', 'x', '--kind=functoin'], /did you mean function\?/],
    [['search', 'x', '--limit', 'many'], /--limit is "many"/],
    [['search', 'x', '--limit', '5', '--limit', '6'], /twice/],
    [['search', 'x', '--json=1'], /takes no value/],
    [['search', 'x', '--root'], /--root needs a value/],
    [['search'], /query is missing/],
    [['search', 'x', '--queries', 'y'], /either/],
    [['files', 'x'], /takes no "x"/],
    [['chunks'], /name one file/],
    [['mcp'], /not available yet/],
    [['watch', '--debounce', 'soon'], /--debounce is "soon"/],
    [['watch', '.'], /takes no "."; name folders with --root/],
    [['index', '--performance-mode', 'ballanced'], /did you mean balanced\?/],
    [['files', '--performance-mode', 'balanced'], /no flag --performance-mode here/],
  ]
  for (const [args, message] of cases) {
    const plain = await sextant(args)
    assert.deepEqual([plain.code, plain.stdout], [2, ''], args.join(' '))
    assert.match(plain.stderr, message)
  }
  const { code, stdout, stderr } = await sextant(['search', 'x', '--rot', '.', '--json'])
  assert.deepEqual([code, stderr], [2, ''])
  const { error } = JSON.parse(stdout)
  assert.equal(keys(error), 'code,message')
  assert.equal(error.code, 'INVALID_USAGE')
})

test('what the engine refuses is wrong usage or a failure, with its code', async (t) => {
  const { json, run } = over(t)
  for (const [args, status, code] of [
    [['x', '--limit', '0'], 2, 'INVALID_ARGUMENT'],
    [['x', '--language', 'klingon'], 2, 'INVALID_ARGUMENT'],
    [[' '], 2, 'EMPTY_QUERY'],
    [['x', '--strategy', 'remote'], 1, 'STRATEGY_UNAVAILABLE'],
  ]) {
    const { code: exitCode, value } = await json('search', args)
    assert.deepEqual([exitCode, value.error.code], [status, code], args.join(' '))
  }
  const failed = await run('chunks', ['no/such.js'])
  assert.deepEqual([failed.code, failed.stdout], [1, ''])
  assert.match(failed.stderr, /^sextant: .*no\/such\.js is not indexed/)
  const missing = await sextant(['status', '--root', '/no/such/folder', '--json'])
  assert.deepEqual([missing.code, JSON.parse(missing.stdout).error.code], [1, 'ROOT_NOT_FOUND'])
})

test('help and version need nothing', async () => {
  assert.equal((await sextant(['--version'])).stdout, `${require('../package.json').version}\n`)
  for (const command of ['index', 'search', 'files', 'skipped', 'chunks', 'status', 'watch', 'pause', 'resume', 'clear']) {
    const { code, stdout } = await sextant([command, '--help'])
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^usage: sextant ${command}`))
  }
  assert.match((await sextant(['--help'])).stdout, /sextant search QUERY/)
})

test('a reader that goes away is no failure', async (t) => {
  const files = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`folder/file${index}.js`, `let a${index} = 1\n`]))
  const { root, storage, run } = over(t, files)
  await run('index')
  const args = [join(PACKAGE, 'bin', 'sextant.js'), 'files', '--root', root, '--storage', storage]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (text) => (stderr += text))
  child.stdout.once('data', () => child.stdout.destroy())
  const [code, signal] = await new Promise((resolve) => child.on('close', (...ended) => resolve(ended)))
  assert.deepEqual([code, signal, stderr], [0, null, ''])
})

test('Ctrl-C stops a run, says that the index is intact, and ends with 130', { skip: process.platform === 'win32' }, async (t) => {
  const tree = makeTree(t, bigTree())
  const body = `
    const { sync } = Workspace.prototype
    Workspace.prototype.sync = function (options) {
      const run = sync.call(this, options)
      process.kill(process.pid, 'SIGINT')
      return run
    }
    require('./lib/cli/main.js').main(['index', tree.root, '--storage', tree.storage])`
  const { code, stdout, stderr } = await script(tree, body)
  assert.deepEqual([code, stdout], [130, ''], stderr)
  assert.match(stderr, /stopping;[\s\S]*last complete index is intact/)
})

test('escape codes in a file do not reach the terminal', async (t) => {
  const { run } = over(t, { 'evil.js': 'const zemirolaku = "\x1b]0;owned\x07"\n' })
  const { stdout } = await run('search', ['zemirolaku'])
  assert.ok(stdout.includes('zemirolaku') && !stdout.includes('\x1b'))
})

test('the default root is the current folder', async (t) => {
  const { root, storage } = makeTree(t)
  const { code, stdout } = await sextant(['index', '--storage', storage, '--json'], { cwd: root })
  assert.deepEqual([code, JSON.parse(stdout).roots], [0, [root]])
  assert.ok(existsSync(storage))
})
