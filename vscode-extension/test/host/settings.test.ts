import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Ctx } from '../../src/ctx'
import { activated, ready, remove, until, withSetting, write } from './host'

suite('settings act at once', () => {
  let ctx: Ctx
  suiteSetup(async () => { ctx = await ready() })
  teardown(async () => { await ready() })

  const finds = async (query: string, path: string): Promise<boolean> => (await ctx.session.search({ query, sync: true })).hits.some((hit) => hit.path === path)
  const reads = (look: () => boolean): Promise<true> => until(() => `the setting acts; ${JSON.stringify(ctx.session.snapshot.state)}`, look)

  test('vectorDb.enabled off leaves the search to words', async () => {
    const strategy = async (): Promise<string> => (await ctx.session.search({ query: 'sendWithRetry' })).strategy
    assert.equal(await strategy(), 'hybrid')
    await withSetting('vectorDb.enabled', false, async () => { await until('words alone answer', async () => await strategy() === 'tfidf') })
    await until('meaning is back', async () => await strategy() === 'hybrid')
  })

  test('ignore.exclude leaves files out and takes them back', async () => {
    await withSetting('ignore.exclude', ['/docs/'], async () => {
      await until('the rule acts', async () => !await finds('rolling back a release', 'docs/deploy.md'))
    })
    await until('the rule is gone', () => finds('rolling back a release', 'docs/deploy.md'))
  })

  test('ignore.secrets, ignore.defaults, ignore.gitignore and ignore.sextantignore open what they keep out', async () => {
    await write('build/made.ts', 'export const builtByMachine = 1\n')
    await write('hidden.ts', 'export const hiddenFromIndex = 1\n')
    await write('.sextantignore', 'hidden.ts\n')
    try {
      await until('left out', async () => !await finds('hiddenFromIndex', 'hidden.ts') && !await finds('builtByMachine', 'build/made.ts'))
      await withSetting('ignore.sextantignore', false, async () => { await until('taken back', () => finds('hiddenFromIndex', 'hidden.ts')) })
      await withSetting('ignore.defaults', false, async () => {
        await withSetting('ignore.gitignore', false, async () => { await until('built files', () => finds('builtByMachine', 'build/made.ts')) })
      })
      await withSetting('ignore.secrets', false, async () => { await until('the secret', () => finds('PAYMENT_KEY', '.env')) })
      await until('left out again', async () => !await finds('PAYMENT_KEY', '.env'))
    } finally {
      await remove('build')
      await remove('hidden.ts')
      await remove('.sextantignore')
    }
  })

  test('hybridSearch.topK bounds a search that says no limit, vectorDb.searchResultLimit one of another kind', async () => {
    const api = await activated()
    const hits = async (): Promise<number> => (await api.search({ query: 'session request cache' })).hits.length
    await withSetting('vectorDb.searchResultLimit', 2, async () => {
      await withSetting('hybridSearch.topK', 3, async () => {
        await until('3 hits', async () => await hits() === 3)
        assert.equal((await api.search({ query: 'session request cache', limit: 4 })).hits.length, 4)
        await withSetting('cascade.hybrid', false, async () => { await until('2 hits', async () => await hits() === 2) })
      })
    })
    await until('more hits', async () => await hits() > 3)
  })

  test('cascade.minScoreShare leaves out what is far from the best', async () => {
    const hits = async (): Promise<number> => (await ctx.session.search({ query: 'session request cache', sync: true })).hits.length
    const all = await hits()
    await withSetting('cascade.minScoreShare', 0.999, async () => { await until('fewer hits', async () => await hits() < all) })
  })

  test('cascade.fullWorkspace decides whether a small workspace is answered whole', async () => {
    const strategy = async (): Promise<string> => (await ctx.session.search({ query: 'session', tokenBudget: 20_000, sync: true })).strategy
    assert.equal(await strategy(), 'full')
    await withSetting('cascade.fullWorkspace', false, async () => { await until('not whole', async () => await strategy() !== 'full') })
  })

  test('mmr, temporal decay and the cache act', async () => {
    const search = async () => ctx.session.search({ query: 'what is done with a failed request', sync: true })
    const ranking = async (): Promise<string> => JSON.stringify((await search()).hits.map(({ path, startLine, score }) => [path, startLine, score]))
    const plain = await ranking()
    await withSetting('hybridSearch.mmr.enabled', true, async () => {
      await withSetting('hybridSearch.mmr.lambda', 0, async () => { await until('other hits', async () => await ranking() !== plain) })
    })
    await withSetting('hybridSearch.temporalDecay.enabled', true, async () => {
      await withSetting('hybridSearch.temporalDecay.halfLifeDays', 1, async () => { await until('other scores', async () => await ranking() !== plain) })
    })
    await until('as before', async () => await ranking() === plain)
    await until('it is kept', async () => (await search()).cached)
    await withSetting('vectorDb.cacheEnabled', false, async () => { await until('nothing is kept', async () => !(await search()).cached && !(await search()).cached) })
  })

  test('the weights of hybridSearch change scores', async () => {
    const score = async (): Promise<number | undefined> => (await ctx.session.search({ query: 'what throws away the element that is stale', sync: true })).hits[0]?.score
    let byWords: number | undefined
    await withSetting('hybridSearch.vectorWeight', 0, async () => {
      await withSetting('hybridSearch.textWeight', 1, async () => { byWords = await score() })
    })
    const byBoth = await score()
    assert.notEqual(byWords, byBoth)
  })

  test('vectorDb.enableBackgroundProcessing ends and starts the watch', async () => {
    await withSetting('vectorDb.enableBackgroundProcessing', false, async () => { await reads(() => ctx.session.snapshot.status?.watching === false) })
    await reads(() => ctx.session.snapshot.status?.watching === true)
  })

  test('vectorDb.performanceMode and debounceDelay are taken without a reload', async () => {
    await withSetting('vectorDb.performanceMode', 'memory', async () => {
      await withSetting('vectorDb.debounceDelay', 100, async () => {
        await write('src/quick.ts', 'export const quicklySeen = 1\n')
        await until('the save is seen', async () => (await ctx.session.search({ query: 'quicklySeen' })).hits[0]?.path === 'src/quick.ts')
        await remove('src/quick.ts')
        await until('the deletion is seen', async () => (await ctx.session.search({ query: 'quicklySeen' })).hits[0]?.path !== 'src/quick.ts')
      })
    })
  })

  test('index.storage moves the database', async () => {
    const storage = vscode.Uri.joinPath(ctx.context.globalStorageUri, 'elsewhere').fsPath
    await withSetting('index.storage', storage, async () => { await reads(() => ctx.session.snapshot.status?.storage === storage && ctx.session.snapshot.state.kind === 'ready') }, vscode.ConfigurationTarget.Global)
    await reads(() => ctx.session.snapshot.status?.storage === ctx.context.storageUri?.fsPath)
  })

  test('vectorDb.logLevel decides what is logged', async () => {
    await withSetting('vectorDb.logLevel', 'error', async () => { await reads(() => ctx.log.level === 'error') })
    assert.equal(ctx.log.level, 'info')
  })

  test('the index stays open whatever is set', async () => {
    const engine = await ctx.session.engine()
    await withSetting('vectorDb.performanceMode', 'memory', async () => {
      await withSetting('ignore.exclude', ['/docs/'], async () => { await until('the rule acts', async () => !await finds('rolling back a release', 'docs/deploy.md')) })
    })
    assert.equal(await ctx.session.engine(), engine)
  })

  test('a weight that is left out is what the other leaves of 1', async () => {
    await withSetting('hybridSearch.vectorWeight', 0.75, async () => { await reads(() => ctx.config.settings['hybridSearch.textWeight'] === 0.25) })
    await reads(() => ctx.config.settings['hybridSearch.textWeight'] === 0.5)
  })

  test('a value out of range is corrected', async () => {
    await withSetting('hybridSearch.topK', 500, async () => { await reads(() => ctx.config.settings['hybridSearch.topK'] === 50) })
  })
})
