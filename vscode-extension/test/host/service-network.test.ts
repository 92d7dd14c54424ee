import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import * as vscode from 'vscode'
import type { Insides } from '../../src/extension'
import { EmbeddingServer, Proxy, type Certificate } from '../embedding-server'
import { ready, remove, until, withSetting, write } from './host'

/** A name that no resolver knows: only the proxy leads there. */
const HOST = 'embeddings.example.com'
/** A service that costs money embeds no more files than this by itself. */
const MOST_FILES = 750

suite('an embedding service behind a proxy, with an authority of its own', () => {
  let insides: Insides
  let folder: string
  let authority: string
  let certificate: Certificate
  let server: EmbeddingServer
  let proxy: Proxy
  let proxyUrl: string
  /** Another in each test: what has vectors of a model is not asked for them again. */
  let model = 'tiny0'
  let nth = 0

  suiteSetup(async () => {
    insides = await ready()
    folder = mkdtempSync(join(tmpdir(), 'sextant-authority-'))
    const root = await generate([{ name: 'commonName', value: 'Authority of a test' }], {
      algorithm: 'sha256',
      extensions: [{ name: 'basicConstraints', cA: true, critical: true }, { name: 'keyUsage', keyCertSign: true, critical: true }],
    })
    const leaf = await generate([{ name: 'commonName', value: HOST }], {
      algorithm: 'sha256',
      ca: { key: root.private, cert: root.cert },
      extensions: [
        { name: 'basicConstraints', cA: false }, { name: 'extKeyUsage', serverAuth: true }, { name: 'subjectAltName', altNames: [{ type: 2, value: HOST }] },
      ],
    })
    authority = join(folder, 'authority.pem')
    writeFileSync(authority, root.cert)
    certificate = { key: leaf.private, cert: leaf.cert }
  })
  suiteTeardown(() => { rmSync(folder, { recursive: true }) })
  setup(async () => {
    nth += 1
    model = `tiny${nth}`
    server = new EmbeddingServer(certificate)
    await server.start()
    proxy = new Proxy(() => server.port)
    proxyUrl = await proxy.start()
  })
  teardown(async () => {
    await proxy.stop()
    await server.stop()
    await ready()
  })

  /** Sets several settings for as long as `body` runs; the service is chosen last. */
  const withService = async (settings: Readonly<Record<string, unknown>>, body: () => Promise<void>): Promise<void> => {
    const all = Object.entries({ 'embedding.baseUrl': `https://${HOST}/v1`, 'embedding.model': model, 'embedding.timeout': 500, 'vectorDb.cacheEnabled': false, ...settings, 'vectorDb.embeddingModel': 'local' })
    const nested = all.reduceRight<() => Promise<void>>((inner, [key, value]) => () => withSetting(key, value, inner), body)
    await nested()
  }
  const answers = (): Promise<true> => until('its vectors answer', async () => {
    await insides.session.refresh()
    return insides.session.snapshot.status?.model.startsWith(`local:${model}`) === true
  })
  const saidIn = async (expected: RegExp): Promise<true> => until(`an answer says ${expected}`, async () => {
    const { degraded } = await insides.session.search({ query: 'sendWithRetry', sync: true })
    return degraded.some(({ code, message }) => expected.test(`${code} ${message}`))
  })

  test('embedding.proxy leads there, and embedding.caFile vouches for it', async () => {
    await withService({ 'embedding.proxy': proxyUrl, 'embedding.caFile': authority }, async () => {
      await answers()
      assert.deepEqual([...new Set(proxy.asked)], [`${HOST}:443`])
      assert.ok(server.requests.length > 0)
    })
  })

  test('whom nobody vouches for is not asked, unless embedding.strictTls is off', async () => {
    await withService({ 'embedding.proxy': proxyUrl }, async () => {
      await saidIn(/certificate/i)
      assert.deepEqual(server.requests, [])
      await withSetting('embedding.strictTls', false, async () => {
        await answers()
        assert.ok(server.requests.length > 0)
      })
    })
  })

  test("the editor's own proxy is used where no other is named, and embedding.noProxy or http.noProxy go past it", async () => {
    const http = vscode.workspace.getConfiguration('http')
    await http.update('proxy', proxyUrl, vscode.ConfigurationTarget.Global)
    try {
      await withService({ 'embedding.caFile': authority }, async () => {
        await answers()
        assert.ok(proxy.asked.includes(`${HOST}:443`))
      })
      await ready()
      // Nothing but the proxy knows the name, so without it the service is not found.
      const isNotAsked = async (settings: Readonly<Record<string, unknown>>): Promise<void> => {
        model = `${model}x`
        proxy.asked.length = 0
        await withService({ 'embedding.caFile': authority, ...settings }, async () => { await saidIn(/not complete yet \(.*example\.com/) })
        assert.deepEqual(proxy.asked, [])
        await ready()
      }
      await isNotAsked({ 'embedding.noProxy': HOST })
      await http.update('noProxy', [HOST], vscode.ConfigurationTarget.Global)
      await isNotAsked({})
    } finally {
      await http.update('proxy', undefined, vscode.ConfigurationTarget.Global)
      await http.update('noProxy', undefined, vscode.ConfigurationTarget.Global)
    }
  })

  test('a large workspace is embedded if embedding.allowLarge is on', async function () {
    this.timeout(90_000)
    for (let n = 0; n <= MOST_FILES; n += 1) {
      await write(`many/part${n}.ts`, `export const part${n} = ${n}\n`)
    }
    try {
      await withService({ 'embedding.proxy': proxyUrl, 'embedding.caFile': authority, 'vectorDb.batchSize': 50 }, async () => {
        await saidIn(/allowLarge/)
        assert.deepEqual(server.requests.filter(({ texts }) => texts.some((text) => text.includes('part7'))), [])
        await withSetting('embedding.allowLarge', true, async () => {
          await until('the files are embedded', () => server.requests.some(({ texts }) => texts.some((text) => text.includes('part750'))), 40_000)
        })
      })
    } finally {
      await remove('many')
    }
  })

  test('vectorDb.maxTokens bounds the text of a request', async () => {
    const words = Array.from({ length: 400 }, (_, n) => `word${n}`).join(' ')
    for (let n = 0; n < 8; n += 1) {
      await write(`long/part${n}.md`, `# Part ${n}\n\n${words}\n`)
    }
    try {
      await until('the files are indexed', async () => (await insides.session.search({ query: 'word7', paths: ['long'], limit: 50 })).hits.length >= 8)
      const most = async (maxTokens: number): Promise<number> => {
        server.requests.length = 0
        model = `most${maxTokens}`
        await withService({ 'embedding.proxy': proxyUrl, 'embedding.caFile': authority, 'vectorDb.batchSize': 50, 'vectorDb.maxTokens': maxTokens }, async () => { await answers() })
        await ready()
        return Math.max(...server.requests.map(({ texts }) => texts.join('').length))
      }
      const small = await most(1000)
      const large = await most(32_000)
      assert.ok(small * 2 < large, `${small} and ${large} characters`)
    } finally {
      await remove('long')
    }
  })
})
