import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Insides } from '../../src/extension'
import { EmbeddingServer } from '../embedding-server'
import { activated, ready, remove, until, withSetting, write } from './host'

const KEY = 'sk-of-the-host-test'

suite('an embedding service of the settings', () => {
  let insides: Insides
  let server: EmbeddingServer
  let baseUrl: string
  suiteSetup(async () => { insides = await ready() })
  setup(async () => {
    server = new EmbeddingServer()
    baseUrl = await server.start()
    await insides.keys.set('local', KEY)
  })
  teardown(async () => {
    await server.stop()
    await insides.keys.set('local', '')
    await ready()
  })

  /** As a user of such a service has it set. */
  const withService = async (body: () => Promise<void>): Promise<void> =>
    withSetting('embedding.baseUrl', baseUrl, async () => {
      await withSetting('embedding.model', 'tiny', async () => {
        await withSetting('vectorDb.embeddingModel', 'local', body)
      })
    })
  const model = async (): Promise<string> => {
    await insides.session.refresh()
    return insides.session.snapshot.status?.model ?? ''
  }

  test('is asked with the key of the secret storage, and the Index view names its model', async () => {
    await withService(async () => {
      await until('its vectors answer', async () => (await model()).startsWith('local:tiny'))
      assert.deepEqual([...new Set(server.requests.map(({ authorization }) => authorization))], [`Bearer ${KEY}`])
      const nodes = await insides.index.getChildren()
      assert.match(nodes.find(({ id }) => id === 'model')?.description ?? '', /^local:tiny/)
      assert.equal((await (await activated()).search({ query: 'sendWithRetry' })).hits[0]?.path, 'src/net/retry.ts')
    })
    await until('the embedded model is back', async () => !(await model()).startsWith('local'))
  })

  test('gets another key as soon as it is stored', async () => {
    await withService(async () => {
      await insides.keys.set('local', 'sk-newer')
      await write('src/later.ts', 'export const addedLater = 1\n')
      await until('the new key arrives', () => server.requests.some(({ authorization }) => authorization === 'Bearer sk-newer'))
      await remove('src/later.ts')
    })
  })

  test('that is down is said, in the answer and in the Index view, and words answer', async () => {
    await server.stop()
    await withSetting('embedding.timeout', 200, async () => {
      await withService(async () => {
        await write('src/offline.ts', 'export const writtenOffline = 1\n')
        const api = await activated()
        const answer = await until('it is said', async () => {
          const found = await api.search({ query: 'writtenOffline' })
          return found.degraded.length > 0 && found
        })
        assert.equal(answer.hits[0]?.path, 'src/offline.ts')
        assert.match(answer.degraded.map(({ code }) => code).join(), /EMBEDDINGS_|PROVIDER_/)
        await until('the Index view says so', async () => (await insides.index.getChildren()).some(({ icon, label }) => icon === 'warning' && label.length > 0))
        await remove('src/offline.ts')
      })
    })
  })

  test('no key is in the log or the diagnostics', async () => {
    await withSetting('vectorDb.logLevel', 'debug', async () => {
      await withService(async () => {
        await until('its vectors answer', async () => (await model()).startsWith('local:tiny'))
        await vscode.commands.executeCommand('sextant.showLog')
        const log = await until('the log is seen', () => vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'output' && document.getText().includes('local:tiny'))?.document.getText())
        assert.doesNotMatch(log, new RegExp(KEY))
        await vscode.commands.executeCommand('sextant.copyDiagnostics')
        const diagnostics = await vscode.env.clipboard.readText()
        assert.match(diagnostics, /^setting embedding\.baseUrl: \(set\)$/m)
        assert.doesNotMatch(diagnostics, new RegExp(`${KEY}|127\\.0\\.0\\.1`))
      })
    })
  })
})
