import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as vscode from 'vscode'
import type { Insides } from '../../src/extension'
import { EmbeddingServer } from '../embedding-server'
import { ready, until, withSetting } from './host'

suite('settings of an embedding service act at once', () => {
  let insides: Insides
  let server: EmbeddingServer
  let baseUrl: string
  suiteSetup(async () => { insides = await ready() })
  setup(async () => {
    server = new EmbeddingServer()
    baseUrl = await server.start()
  })
  teardown(async () => {
    await server.stop()
    await ready()
  })

  /** Sets several settings of the user for as long as `body` runs. What has vectors of a model is not asked for them again: each test names another. */
  const withService = async (model: string, settings: Readonly<Record<string, unknown>>, body: () => Promise<void>): Promise<void> => {
    const all = Object.entries({ 'embedding.baseUrl': baseUrl, 'embedding.model': model, 'vectorDb.cacheEnabled': false, ...settings, 'vectorDb.embeddingModel': 'local' })
    const nested = all.reduceRight<() => Promise<void>>((inner, [key, value]) => () => withSetting(key, value, inner, vscode.ConfigurationTarget.Global), body)
    await nested()
  }
  const answers = (model: string): Promise<true> => until('its vectors answer', async () => {
    await insides.session.refresh()
    return insides.session.snapshot.status?.model.startsWith(`local:${model}`) === true
  })
  const asked = (model: string): EmbeddingServer['requests'] => server.requests.filter((request) => request.model === model)

  test('embedding.dimensions is what the service is asked for', async () => {
    await withService('plain', {}, async () => { await answers('plain') })
    await withService('short', { 'embedding.dimensions': 16 }, async () => { await answers('short') })
    assert.deepEqual([...new Set(asked('plain').map(({ dimensions }) => dimensions))], [undefined])
    assert.deepEqual([...new Set(asked('short').map(({ dimensions }) => dimensions))], [16])
  })

  test('vectorDb.batchSize bounds the texts of a request', async () => {
    const most = async (batchSize: number): Promise<number> => {
      const model = `batch${batchSize}`
      await withService(model, { 'vectorDb.batchSize': batchSize }, async () => { await answers(model) })
      await ready()
      return Math.max(...asked(model).map(({ texts }) => texts.length))
    }
    assert.equal(await most(2), 2)
    assert.equal(await most(3), 3)
  })

  test('embedding.timeout is how long a request may take', async () => {
    /** Milliseconds until whoever asks hangs up. */
    const patience: number[] = []
    const silent: Server = createServer((request) => {
      const started = performance.now()
      request.resume()
      request.socket.once('close', () => { patience.push(performance.now() - started) })
    })
    await new Promise<void>((done) => { silent.listen(0, '127.0.0.1', done) })
    const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`
    const waits = async (timeout: number): Promise<number> => {
      await withService(`silent${timeout}`, { 'embedding.baseUrl': silentUrl, 'embedding.timeout': timeout }, async () => {
        patience.length = 0
        await until('it hangs up', () => patience.length > 0)
      })
      return patience[0] ?? 0
    }
    try {
      const long = await waits(2000)
      assert.ok(long >= 1900, `${long} ms`)
      const short = await waits(100)
      assert.ok(short < long, `${short} and ${long} ms`)
    } finally {
      silent.closeAllConnections()
      silent.close()
    }
  })

  test('vectorDb.fallbackToKeywordSearch decides whether words answer while the service is down', async () => {
    const strategy = async (): Promise<string> => (await insides.session.search({ query: 'sendWithRetry', sync: true })).strategy
    await withService('away', { 'embedding.timeout': 200 }, async () => {
      await answers('away')
      await server.stop()
      await until('words answer', async () => await strategy() === 'tfidf')
      await withSetting('vectorDb.fallbackToKeywordSearch', false, async () => {
        await until('words are not asked', async () => await strategy() !== 'tfidf')
      }, vscode.ConfigurationTarget.Global)
      await until('words answer again', async () => await strategy() === 'tfidf')
    })
  })
})
