import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { extension, file, ready } from './host'

suite('a folder that is not trusted', () => {
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

  test('does not decide where code is sent or where the database lies', async () => {
    const { config, session, context } = await ready()
    await vscode.workspace.fs.createDirectory(file('.vscode'))
    await vscode.workspace.fs.writeFile(file('.vscode/settings.json'), new TextEncoder().encode(JSON.stringify({
      'sextant.embedding.baseUrl': 'https://of-the-folder.example',
      'sextant.embedding.model': 'of-the-folder',
      'sextant.vectorDb.embeddingModel': 'openai',
      'sextant.index.storage': '/tmp/of-the-folder',
      'sextant.embedding.allowLarge': true,
      'sextant.embedding.proxy': 'http://of-the-folder.example:3128',
      'sextant.embedding.noProxy': '*',
      'sextant.embedding.caFile': '/tmp/of-the-folder.pem',
      'sextant.embedding.strictTls': false,
      'sextant.ignore.secrets': false,
      'sextant.hybridSearch.topK': 3,
    })))
    await new Promise<void>((done) => {
      const subscription = config.onDidChange((settings) => {
        if (settings['hybridSearch.topK'] === 3) {
          subscription.dispose()
          done()
        }
      })
    })
    assert.equal(config.settings['embedding.baseUrl'], '')
    assert.equal(config.settings['embedding.model'], 'of-the-user')
    assert.equal(config.settings['vectorDb.embeddingModel'], 'embedded')
    assert.equal(config.settings['embedding.allowLarge'], false)
    assert.equal(config.settings['embedding.proxy'], '')
    assert.equal(config.settings['embedding.noProxy'], '')
    assert.equal(config.settings['embedding.caFile'], '')
    assert.equal(config.settings['embedding.strictTls'], true)
    assert.equal(config.settings['ignore.secrets'], true)
    assert.equal(session.snapshot.status?.storage, context.storageUri?.fsPath)
    await vscode.workspace.fs.delete(file('.vscode'), { recursive: true })
  })

  test('has every restricted setting declared', () => {
    const { capabilities } = extension().packageJSON as { capabilities: { untrustedWorkspaces: { supported: string } } }
    assert.equal(capabilities.untrustedWorkspaces.supported, 'limited')
  })
})
