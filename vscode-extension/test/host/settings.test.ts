import assert from 'node:assert/strict'
import { statSync, utimesSync } from 'node:fs'
import * as vscode from 'vscode'
import type { Ctx } from '../../src/ctx'
import type { Settings } from '../../src/settings'
import { activated, callsOf, file, ready, remove, until, withSetting, write } from './host'

suite('settings act at once', () => {
  let ctx: Ctx
  suiteSetup(async () => { ctx = await ready() })
  teardown(async () => { await ready() })

  const finds = async (query: string, path: string): Promise<boolean> => (await ctx.session.search({ query, sync: true })).hits.some((hit) => hit.path === path)
  const reads = (look: () => boolean): Promise<true> => until(() => `the setting acts; ${JSON.stringify(ctx.session.snapshot.state)}`, look)

  /** Not in a file of the workspace, which is indexed and so changes scores by itself. */
  const forUser = async (key: string, value: unknown, body: () => Promise<void>): Promise<void> => withSetting(key, value, body, vscode.ConfigurationTarget.Global)

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
    await forUser('cascade.minScoreShare', 0.999, async () => { await until('fewer hits', async () => await hits() < all) })
  })

  test('cascade.fullWorkspace decides whether a small workspace is answered whole', async () => {
    const strategy = async (): Promise<string> => (await ctx.session.search({ query: 'session', tokenBudget: 20_000, sync: true })).strategy
    assert.equal(await strategy(), 'full')
    await withSetting('cascade.fullWorkspace', false, async () => { await until('not whole', async () => await strategy() !== 'full') })
  })

  /** A ranking with its scores, by what is set now. */
  const ranking = async (query = 'what is done with a failed request'): Promise<string> =>
    JSON.stringify((await ctx.session.search({ query, sync: true })).hits.map(({ path, startLine, score }) => [path, startLine, score]))
  const scoreOf = async (query: string, path: string): Promise<number> => (await ctx.session.search({ query, sync: true })).hits.find((hit) => hit.path === path)?.score ?? 0

  test('hybridSearch.mmr.enabled prefers hits that differ, as far as hybridSearch.mmr.lambda says', async () => {
    const plain = await ranking()
    let diverse = ''
    await forUser('hybridSearch.mmr.lambda', 0, async () => {
      await reads(() => ctx.config.settings['hybridSearch.mmr.lambda'] === 0)
      assert.equal(await ranking(), plain, 'lambda alone does nothing')
      await forUser('hybridSearch.mmr.enabled', true, async () => {
        await until('other hits', async () => await ranking() !== plain)
        diverse = await ranking()
        await forUser('hybridSearch.mmr.lambda', 1, async () => { await until('relevance alone counts', async () => await ranking() !== diverse) })
      })
    })
    await until('as before', async () => await ranking() === plain)
  })

  test('hybridSearch.temporalDecay.enabled halves the score of what is as old as hybridSearch.temporalDecay.halfLifeDays', async () => {
    const old = file('docs/deploy.md').fsPath
    const query = 'rolling back a release'
    const changed = statSync(old).mtime
    const monthAgo = new Date(Date.now() - 30 * 24 * 3600 * 1000)
    utimesSync(old, monthAgo, monthAgo)
    try {
      const plain = await scoreOf(query, 'docs/deploy.md')
      const isShare = async (share: number): Promise<boolean> => Math.abs(await scoreOf(query, 'docs/deploy.md') / plain - share) < 0.01
      await forUser('hybridSearch.temporalDecay.enabled', true, async () => {
        await until('half after 30 days, the default', () => isShare(0.5))
        await forUser('hybridSearch.temporalDecay.halfLifeDays', 15, async () => { await until('a quarter after 2 times 15 days', () => isShare(0.25)) })
      })
      await until('as before', () => isShare(1))
    } finally {
      utimesSync(old, changed, changed)
    }
  })

  test('vectorDb.cacheEnabled off keeps no answers', async () => {
    const cached = async (): Promise<boolean> => (await ctx.session.search({ query: 'what is done with a failed request', sync: true })).cached
    await until('it is kept', cached)
    await withSetting('vectorDb.cacheEnabled', false, async () => { await until('nothing is kept', async () => !await cached() && !await cached()) })
    await until('it is kept again', cached)
  })

  test('hybridSearch.vectorWeight and hybridSearch.textWeight change scores, each by itself', async () => {
    const query = 'what throws away the element that is stale'
    const even = await ranking(query)
    const seen = new Set([even])
    await forUser('hybridSearch.vectorWeight', 0.5, async () => {
      await forUser('hybridSearch.textWeight', 0.1, async () => {
        await until('words count less', async () => !seen.has(await ranking(query)))
        seen.add(await ranking(query))
        await forUser('hybridSearch.vectorWeight', 0.9, async () => { await until('meaning counts more', async () => !seen.has(await ranking(query))) })
      })
    })
    await until('as before', async () => await ranking(query) === even)
  })

  test('vectorDb.enableBackgroundProcessing ends and starts the watch', async () => {
    await withSetting('vectorDb.enableBackgroundProcessing', false, async () => { await reads(() => ctx.session.snapshot.status?.watching === false) })
    await reads(() => ctx.session.snapshot.status?.watching === true)
  })

  /** What the open index is told of settings while `body` runs. */
  const configured = async (body: (isTold: (look: (settings: Settings) => boolean) => Promise<void>) => Promise<void>): Promise<void> => {
    const engine = await ctx.session.engine()
    await callsOf(engine, 'configure', engine.configure.bind(engine), async (calls) => {
      await body(async (look) => {
        await until('the index is told', () => calls.some(([{ settings }]) => look(settings)))
        // Until it has taken it.
        assert.equal(await ctx.session.engine(), engine)
      })
    })
  }

  test('vectorDb.performanceMode reaches the open index', async () => {
    await configured(async (isTold) => {
      await withSetting('vectorDb.performanceMode', 'memory', async () => { await isTold((settings) => settings['vectorDb.performanceMode'] === 'memory') })
      await withSetting('vectorDb.performanceMode', 'performance', async () => { await isTold((settings) => settings['vectorDb.performanceMode'] === 'performance') })
    })
  })

  test('vectorDb.debounceDelay is how long a save waits', async () => {
    /** Milliseconds from a save to the run that it causes. */
    const delay = async (debounceDelay: number, path: string): Promise<number> => {
      let took = 0
      await configured(async (isTold) => {
        await withSetting('vectorDb.debounceDelay', debounceDelay, async () => {
          await isTold((settings) => settings['vectorDb.debounceDelay'] === debounceDelay)
          const started = performance.now()
          await write(path, 'export const savedNow = 1\n')
          await until('the save is seen', () => ctx.session.snapshot.report?.added === 1)
          took = performance.now() - started
        })
      })
      await remove(path)
      await until('the deletion is seen', () => ctx.session.snapshot.report?.removed === 1)
      return took
    }
    const patient = await delay(3000, 'src/patient.ts')
    assert.ok(patient >= 3000, `${patient} ms`)
    const quick = await delay(100, 'src/quick.ts')
    assert.ok(quick < patient, `${quick} ms`)
  })

  test('index.storage moves the database', async () => {
    const storage = vscode.Uri.joinPath(ctx.context.globalStorageUri, 'elsewhere').fsPath
    await withSetting('index.storage', storage, async () => { await reads(() => ctx.session.snapshot.status?.storage === storage && ctx.session.snapshot.state.kind === 'ready') }, vscode.ConfigurationTarget.Global)
    await reads(() => ctx.session.snapshot.status?.storage === ctx.context.storageUri?.fsPath)
  })

  test('vectorDb.logLevel decides what the log shows', async () => {
    ctx.log.show()
    const log = (): string => vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'output' && document.getText().includes('activated in'))?.document.getText() ?? ''
    await until('the log is seen', () => log() !== '')
    let nth = 0
    /** The levels of the lines that a run, a search and an error of our own write. */
    const levels = async (): Promise<string> => {
      const before = log().length
      nth += 1
      await ctx.session.index()
      await ctx.session.search({ query: `what is logged, ${nth}`, sync: true })
      ctx.log.error(`the end of part ${nth}`)
      await until('the last line is seen', () => log().includes(`the end of part ${nth}`))
      return [...new Set(Array.from(log().slice(before).matchAll(/ \[(\w+)\] /g), ([, level]) => level))].sort().join()
    }
    assert.equal(await levels(), 'error,info')
    await withSetting('vectorDb.logLevel', 'error', async () => { await until('errors alone', async () => await levels() === 'error') })
    await withSetting('vectorDb.logLevel', 'debug', async () => { await until('all', async () => await levels() === 'debug,error,info') })
    await until('as before', async () => await levels() === 'error,info')
  })

  test('the index stays open whatever is set', async () => {
    const engine = await ctx.session.engine()
    await withSetting('vectorDb.performanceMode', 'memory', async () => {
      await withSetting('ignore.exclude', ['/docs/'], async () => { await until('the rule acts', async () => !await finds('rolling back a release', 'docs/deploy.md')) })
    })
    assert.equal(await ctx.session.engine(), engine)
  })

  test('a weight that is left out is what the other leaves of 1', async () => {
    await forUser('hybridSearch.vectorWeight', 0.75, async () => { await reads(() => ctx.config.settings['hybridSearch.textWeight'] === 0.25) })
    await reads(() => ctx.config.settings['hybridSearch.textWeight'] === 0.5)
  })

  test('a value out of range is corrected', async () => {
    await withSetting('hybridSearch.topK', 500, async () => { await reads(() => ctx.config.settings['hybridSearch.topK'] === 50) })
  })
})
