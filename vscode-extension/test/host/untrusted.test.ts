import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { SettingKey } from '../../src/settings'
import { extension, file, ready, until } from './host'

interface Property { readonly type: string, readonly default: unknown, readonly enum?: readonly string[] }
interface Manifest {
  readonly capabilities: { readonly untrustedWorkspaces: { readonly supported: string, readonly restrictedConfigurations: readonly string[] } }
  readonly contributes: { readonly configuration: readonly { readonly properties: Readonly<Record<string, Property>> }[] }
}

/** Where code is sent, what guards the way there, what is sent, and where the database lies. */
const NEVER_OF_THE_FOLDER = [
  'vectorDb.embeddingModel', 'embedding.baseUrl', 'embedding.model', 'embedding.allowLarge', 'embedding.proxy', 'embedding.noProxy',
  'embedding.caFile', 'embedding.strictTls', 'index.storage', 'ignore.secrets', 'ignore.exclude', 'chat.model',
]
const OF_THE_USER = 'of-the-user'
const ELSEWHERE = '/tmp/sextant-of-the-folder'

const short = (key: string): SettingKey => key.replace(/^sextant\./, '') as SettingKey

/** Allowed, and not what anybody has set. */
function valueOfTheFolder(key: string, { type, default: fallback, enum: choices }: Property): unknown {
  switch (type) {
    case 'boolean':
      return fallback !== true
    case 'string':
      return choices?.find((choice) => choice !== fallback) ?? ELSEWHERE
    case 'array':
      return [ELSEWHERE]
    default:
      throw new Error(`no other value for ${key} of type ${type}`)
  }
}

suite('a folder that is not trusted', () => {
  const { capabilities: { untrustedWorkspaces }, contributes } = extension().packageJSON as Manifest
  const properties = Object.assign({}, ...contributes.configuration.map((section) => section.properties)) as Readonly<Record<string, Property>>
  const restricted = untrustedWorkspaces.restrictedConfigurations

  suiteSetup(function () {
    // test-electron trusts every folder; only the host that scripts/test.mjs starts does not.
    if (vscode.workspace.isTrusted) {
      this.skip()
    }
  })

  test('is indexed and searched', async () => {
    assert.equal(vscode.workspace.isTrusted, false)
    const { session } = await ready()
    assert.equal((await session.search({ query: 'retry a failed request' })).hits[0]?.path, 'src/net/retry.ts')
  })

  test('has all declared that it must not decide', () => {
    assert.equal(untrustedWorkspaces.supported, 'limited')
    const missing = NEVER_OF_THE_FOLDER.filter((key) => !restricted.includes(`sextant.${key}`))
    assert.deepEqual(missing, [])
    assert.deepEqual(restricted.filter((key) => !(key in properties)), [], 'each is a setting')
  })

  test('decides nothing of what is declared, whatever it says', async () => {
    const { config, session, context } = await ready()
    const before = config.settings
    assert.equal(before['embedding.model'], OF_THE_USER)
    const model = session.snapshot.status?.model
    const storage = session.snapshot.status?.storage
    assert.equal(storage, context.storageUri?.fsPath)
    const ofTheFolder = Object.fromEntries(restricted.map((key) => [key, valueOfTheFolder(key, properties[key]!)]))
    await vscode.workspace.fs.createDirectory(file('.vscode'))
    await vscode.workspace.fs.writeFile(file('.vscode/settings.json'), new TextEncoder().encode(JSON.stringify({ ...ofTheFolder, 'sextant.hybridSearch.topK': 3 })))
    try {
      // This one it may decide: once the index answers by it, the rest of the file was read and applied as well.
      await until('the file acts', async () => (await session.search({ query: 'session request cache' })).hits.length === 3)
      for (const key of restricted) {
        assert.notDeepEqual(ofTheFolder[key], before[short(key)], `${key} has another value in the folder`)
        assert.deepEqual(config.settings[short(key)], before[short(key)], key)
      }
      await session.refresh()
      assert.equal(session.snapshot.status?.storage, storage)
      assert.equal(session.snapshot.status?.model, model)
      assert.ok((await session.search({ query: 'PAYMENT_KEY', sync: true })).hits.every(({ path }) => path !== '.env'))
    } finally {
      await vscode.workspace.fs.delete(file('.vscode'), { recursive: true })
    }
  })
})
