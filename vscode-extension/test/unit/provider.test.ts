import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine, type LanguageModel, type SearchResponse } from '../../src/engine'
import { Session } from '../../src/session'
import { readSettings, type SettingKey, type Settings } from '../../src/settings'
import { EmbeddingServer } from '../embedding-server'

const ADDON = join(__dirname, '../../../dist/addon')
const KEY = 'sk-very-secret'
const FILES = 12

/** The real addon with an embedding service on this machine. */
suite('an embedding service', () => {
  let place: string
  let server: EmbeddingServer
  let baseUrl: string
  let session: Session
  let logged: string[]
  let asked: Parameters<LanguageModel['complete']>[0][]

  setup(async () => {
    place = mkdtempSync(join(tmpdir(), 'sextant-provider-'))
    mkdirSync(join(place, 'code'))
    for (let n = 0; n < FILES; n++) {
      writeFileSync(join(place, 'code', `part${n}.ts`), `/** Counter number ${n}. */\nexport function counter${n}(): number { return ${n} }\n`)
    }
    server = new EmbeddingServer()
    baseUrl = await server.start()
    logged = []
    asked = []
    const log = (message: string): void => { logged.push(message) }
    session = new Session({
      open: openEngine,
      addon: ADDON,
      storage: () => join(place, 'storage'),
      log: { debug: log, info: log, warn: log, error: log },
      languageModel: {
        complete: (request) => {
          asked.push(request)
          return request.purpose === 'intent' ? 'explain;' : '## Question\nWhere is counter3 made?\n\n## Keywords\n- counter3\n'
        },
      },
    })
  })

  teardown(async () => {
    await session.close()
    await server.stop()
    rmSync(place, { recursive: true, force: true })
  })

  const settings = (given: Partial<Record<SettingKey, unknown>> = {}): Settings =>
    readSettings((key) => ({ 'vectorDb.embeddingModel': 'local', 'embedding.baseUrl': baseUrl, 'embedding.model': 'tiny', 'vectorDb.debounceDelay': 100, 'vectorDb.logLevel': 'debug', ...given })[key]).settings
  const apply = async (given: Partial<Record<SettingKey, unknown>> = {}, apiKey: string | undefined = KEY): Promise<void> => {
    await session.apply({ roots: [join(place, 'code')], settings: settings(given), apiKey })
  }
  const search = async (query = 'counter3'): Promise<SearchResponse> => session.search({ query, sync: true })
  const codes = ({ degraded }: SearchResponse): string[] => degraded.map(({ code }) => code)

  test('is asked at the address of the settings, with the key, the model and the dimensions', async () => {
    await apply({ 'embedding.dimensions': 16 })
    await session.index()
    await eventually(() => server.requests.length > 0)
    assert.deepEqual([...new Set(server.requests.map(({ authorization, model, dimensions }) => `${authorization ?? ''} ${model} ${dimensions ?? ''}`))], [`Bearer ${KEY} tiny 16`])
    assert.match(session.snapshot.status?.model ?? '', /tiny/)
    assert.doesNotMatch(logged.join('\n'), /very-secret/)
    assert.ok(logged.length > 1, 'the core tells the log')
  })

  test('gets at most as many texts as vectorDb.batchSize says', async () => {
    await apply({ 'vectorDb.batchSize': 2 })
    await eventually(() => server.requests.reduce((sum, { texts }) => sum + texts.length, 0) >= FILES)
    assert.equal(Math.max(...server.requests.map(({ texts }) => texts.length)), 2)
  })

  test('is not asked for the same text twice, if vectorDb.cacheEnabled is on', async () => {
    await apply()
    await session.index()
    await eventually(() => session.snapshot.report?.textsPending === 0)
    await search()
    const again = await search()
    assert.equal(again.cached, true)
    await apply({ 'vectorDb.cacheEnabled': false })
    await search()
    assert.equal((await search()).cached, false)
  })

  test('that is down is said, and words answer; without vectorDb.fallbackToKeywordSearch nothing does', async () => {
    await server.stop()
    await apply({ 'embedding.timeout': 300 })
    const answer = await search()
    assert.equal(answer.hits[0]?.path, 'part3.ts')
    assert.ok(codes(answer).some((code) => /^(EMBEDDINGS|PROVIDER)_/.test(code)), codes(answer).join())
    await apply({ 'embedding.timeout': 300, 'vectorDb.fallbackToKeywordSearch': false })
    assert.notEqual((await search()).strategy, 'tfidf')
  })

  test('is chosen and left while the index is open, and the watch goes on', async () => {
    await apply({ 'vectorDb.embeddingModel': 'embedded' }, undefined)
    await session.index()
    const { model } = session.snapshot.status ?? {}
    assert.deepEqual(server.requests, [])
    const reaches = (look: () => boolean): Promise<void> => eventually(async () => {
      await session.refresh()
      return look()
    })
    await apply()
    // The model before it answers until all vectors are there.
    await reaches(() => session.snapshot.status?.model.startsWith('local:tiny') === true)
    assert.notDeepEqual(server.requests, [])
    assert.equal(session.snapshot.status?.watching, true)
    await apply({ 'vectorDb.embeddingModel': 'embedded' }, undefined)
    await reaches(() => session.snapshot.status?.model === model)
  })

  test('topK bounds a hybrid search, searchResultLimit another, and a limit both', async () => {
    const own = { 'vectorDb.embeddingModel': 'embedded', 'hybridSearch.topK': 3, 'vectorDb.searchResultLimit': 2 }
    await apply(own, undefined)
    const hybrid = await search('counter number')
    assert.deepEqual([hybrid.strategy, hybrid.hits.length], ['hybrid', 3])
    const words = await session.search({ query: 'counter number', strategy: 'tfidf' })
    assert.equal(words.hits.length, 2)
    assert.equal((await session.search({ query: 'counter number', limit: 5 })).hits.length, 5)
    await apply({ ...own, 'cascade.hybrid': false }, undefined)
    const other = await search('counter number')
    assert.notEqual(other.strategy, 'hybrid')
    assert.equal(other.hits.length, 2)
  })

  test('mmr, temporal decay and minScoreShare change what is found', async () => {
    const own = { 'vectorDb.embeddingModel': 'embedded' }
    const retry = (name: string): string => `/** Sends a failed request again. */\nexport function ${name}(request: Request): void { send(request) }\n`
    for (const name of ['retryFirst', 'retrySecond', 'retryThird']) {
      writeFileSync(join(place, 'code', `${name}.ts`), retry(name))
    }
    writeFileSync(join(place, 'code', 'test.ts'), `import { retryFirst } from './retryFirst'\n\ntest('a request is sent again', () => { retryFirst(request) })\n`)
    utimesSync(join(place, 'code', 'retryFirst.ts'), 1e9, 1e9)
    const ranking = async (given: Partial<Record<SettingKey, unknown>>): Promise<string> => {
      await apply({ ...own, ...given }, undefined)
      return (await search('retry a failed request')).hits.map(({ path, score }) => `${path} ${score.toFixed(6)}`).join('\n')
    }
    const plain = await ranking({})
    assert.notEqual(await ranking({ 'hybridSearch.mmr.enabled': true, 'hybridSearch.mmr.lambda': 0.1 }), plain)
    assert.notEqual(await ranking({ 'hybridSearch.temporalDecay.enabled': true, 'hybridSearch.temporalDecay.halfLifeDays': 1 }), plain)
    assert.equal((await ranking({ 'cascade.minScoreShare': 1 })).split('\n').length, 1)
    assert.equal(await ranking({}), plain)
  })

  test('a small workspace is given whole to those with a budget, unless cascade.fullWorkspace is off', async () => {
    const own = { 'vectorDb.embeddingModel': 'embedded' }
    const strategy = async (given: Partial<Record<SettingKey, unknown>>): Promise<string> => {
      await apply({ ...own, ...given }, undefined)
      return (await session.search({ query: 'counter', tokenBudget: 20_000, sync: true })).strategy
    }
    assert.equal(await strategy({}), 'full')
    assert.equal(await strategy({ 'cascade.fullWorkspace': false }), 'hybrid')
  })

  test('a language model helps where it may, with a limit of 20 tokens and a stop for the intent', async () => {
    await apply({ 'vectorDb.embeddingModel': 'embedded' }, undefined)
    const history = [{ question: 'where is counter2?', answer: 'In part2.ts.' }]
    const answer = await session.search({ query: 'and the one after it?', sync: true, rewrite: true, history, attached: ['part2.ts'] })
    assert.equal(answer.question, 'Where is counter3 made?')
    assert.equal(answer.intent, 'explain')
    assert.equal(answer.hits[0]?.path, 'part3.ts')
    const intent = asked.find(({ purpose }) => purpose === 'intent')
    assert.deepEqual([intent?.maxTokens, intent?.stop], [20, [';']])
    const rephrase = asked.find(({ purpose }) => purpose === 'rephrase')
    assert.match(rephrase?.messages.at(-1)?.content ?? '', /and the one after it\?$/, 'the question comes last: several chats are told apart by it')
    assert.deepEqual(rephrase?.messages.slice(1, 3), [{ role: 'user', content: 'where is counter2?' }, { role: 'assistant', content: 'In part2.ts.' }])
    asked.length = 0
    await search('and the one after it?')
    assert.equal(asked.length, 0)
  })
})

async function eventually(look: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000
  while (!await look()) {
    assert.ok(Date.now() < end, look.toString())
    await new Promise((done) => { setTimeout(done, 20) })
  }
}
