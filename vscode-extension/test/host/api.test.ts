import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { SextantApi, SextantHit, SextantQuery, SextantStatus } from '../../api'
import { createApi } from '../../src/api'
import type { Ctx } from '../../src/ctx'
import type { Session, Snapshot } from '../../src/session'
import { activated, file, ready, until, withSetting } from './host'

suite('what other extensions may call', () => {
  let ctx: Ctx
  let api: SextantApi
  suiteSetup(async () => {
    ctx = await ready()
    api = await activated()
  })
  teardown(async () => { await ready() })

  const find = async (query: SextantQuery): Promise<readonly SextantHit[]> => (await api.search(query)).hits
  const paths = async (query: SextantQuery): Promise<readonly string[]> => (await find(query)).map(({ path }) => path)
  const textOf = (hits: readonly SextantHit[]): string => hits.map(({ text }) => text).join('')
  /** The states that are told while `body` runs. */
  const told = async (body: (seen: readonly SextantStatus[]) => Promise<void>): Promise<void> => {
    const seen: SextantStatus[] = []
    const subscription = api.onDidChangeStatus((status) => { seen.push(status) })
    try {
      await body(seen)
    } finally {
      subscription.dispose()
    }
  }

  test('a search finds the lines, and says what they hold', async () => {
    const { hits, degraded } = await api.search({ query: 'where is a request sent again after a failure' })
    assert.deepEqual(degraded, [])
    const [best] = hits
    assert.ok(best)
    const { path, name, kind, language, text, location, score } = best
    assert.deepEqual({ path, name, kind, language }, { path: 'src/net/retry.ts', name: 'sendWithRetry', kind: 'function', language: 'typescript' })
    assert.equal(location.uri.toString(), file('src/net/retry.ts').toString())
    const document = await vscode.workspace.openTextDocument(location.uri)
    assert.equal(document.lineAt(location.range.start.line).text, text.split('\n')[0])
    assert.equal(document.lineAt(location.range.end.line).text, text.trimEnd().split('\n').at(-1))
    assert.ok(hits.slice(1).every((other) => other.score <= score), 'best first')
  })

  test('keywords find what the question does not name', async () => {
    assert.equal((await paths({ query: 'release' }))[0], 'docs/deploy.md')
    assert.equal((await paths({ query: 'release', keywords: ['LruCache', 'evicts'] }))[0], 'src/cache/lru.ts')
  })

  test('a limit bounds the hits', async () => {
    assert.ok((await find({ query: 'session request cache' })).length > 2)
    assert.equal((await find({ query: 'session request cache', limit: 2 })).length, 2)
  })

  test('tokenBudget bounds the text; what all fits into is given whole', async () => {
    const query = 'session request cache'
    const free = await find({ query })
    const small = await find({ query, tokenBudget: 60 })
    assert.ok(small.length > 0 && small.length < free.length)
    assert.ok(textOf(small).length <= 60 * 6, `${textOf(small).length} characters`)
    const whole = await find({ query, tokenBudget: 20_000 })
    assert.ok(whole.every(({ kind }) => kind === 'full-file'))
    assert.ok(['docs/deploy.md', 'src/net/sleep.ts'].every((path) => whole.some((hit) => hit.path === path)))
  })

  test('paths narrow the search to folders and globs', async () => {
    const query = 'session request cache retry'
    assert.ok((await paths({ query })).some((path) => !/^(test|src\/auth)\//.test(path)))
    const narrowed = await paths({ query, paths: ['test/**', 'src/auth'] })
    assert.deepEqual([...new Set(narrowed)].sort(), ['src/auth/session.ts', 'test/retry.test.ts'])
  })

  test('languages narrow the search', async () => {
    const query = 'release, session, cache'
    assert.ok((await find({ query })).some(({ language }) => language !== 'markdown'))
    assert.deepEqual(await paths({ query, languages: ['markdown'] }), ['docs/deploy.md'])
  })

  test('kinds narrow the search', async () => {
    const query = 'release, session, cache'
    assert.ok((await find({ query })).some(({ kind }) => kind !== 'section'))
    const sections = await find({ query, kinds: ['section'] })
    assert.deepEqual([...new Set(sections.map(({ kind }) => kind))], ['section'])
  })

  test('a search that cannot be answered says why with a code', async () => {
    await assert.rejects(api.search({ query: '  ' }), { code: 'EMPTY_QUERY' })
    const source = new vscode.CancellationTokenSource()
    source.cancel()
    await assert.rejects(api.search({ query: 'session' }, source.token), { code: 'CANCELLED' })
  })

  test('a run of the index is told from its start to its end', async () => {
    await told(async (seen) => {
      await ctx.session.index()
      await until('a run was seen', () => seen.some(({ state }) => state === 'indexing') && seen.at(-1)?.state === 'ready')
      assert.deepEqual(seen.at(-1), api.status)
    })
    const { files, chunks } = ctx.session.snapshot.status!
    assert.deepEqual(api.status, { state: 'ready', files, chunks })
    assert.ok(files >= 7 && chunks >= files)
  })

  test('pausing, resuming and clearing are told', async () => {
    await told(async (seen) => {
      for (const [command, state] of [['pauseIndexing', 'paused'], ['resumeIndexing', 'ready'], ['clearIndex', 'cleared'], ['indexWorkspace', 'ready']] as const) {
        await vscode.commands.executeCommand(`sextant.${command}`)
        await until(`${state} is told`, () => seen.at(-1)?.state === state)
        assert.equal(api.status.state, state)
      }
    })
  })

  test('a failure is told with its code, and its end', async () => {
    await told(async (seen) => {
      // A file is no folder for a database.
      await withSetting('index.storage', file('docs/deploy.md').fsPath, async () => {
        const { failure } = await until('it has failed', () => seen.find(({ state }) => state === 'failed'))
        assert.match(failure?.code ?? '', /^[A-Z_]+$/)
        assert.match(failure?.message ?? '', /deploy\.md/)
        assert.deepEqual(api.status.failure, failure)
      }, vscode.ConfigurationTarget.Global)
      await ready()
      assert.equal('failure' in api.status, false)
    })
  })

  test('the percent of a run is told once there is something to go by', () => {
    const listeners: ((snapshot: Snapshot) => void)[] = []
    const snapshotOf = (phase: 'walk' | 'index', filesDone: number): Snapshot => ({
      state: { kind: 'indexing', progress: { phase, filesDone, filesTotal: 60 } as never }, status: undefined, report: undefined, updatedAt: undefined, trouble: [],
    })
    const session = { snapshot: snapshotOf('walk', 0), onChange: (listener: (snapshot: Snapshot) => void) => { listeners.push(listener); return { dispose: () => undefined } } } as unknown as Session
    const other = createApi({ session, context: { subscriptions: [] } as unknown as vscode.ExtensionContext } as unknown as Ctx)
    const seen: (number | undefined)[] = []
    other.onDidChangeStatus(({ percent }) => { seen.push(percent) })
    for (const snapshot of [snapshotOf('walk', 5), snapshotOf('index', 15), snapshotOf('index', 60)]) {
      listeners.forEach((listener) => { listener(snapshot) })
    }
    assert.deepEqual(seen, [undefined, 25, 100])
  })
})
