import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { activated, ready, until, withSetting } from './host'

suite('several folders', () => {
  test('all are searched, and hits say where they are', async () => {
    const { session } = await ready()
    assert.equal(session.snapshot.status?.roots.length, 2)
    const api = await activated()
    const python = await api.search({ query: 'mail the invoice to the customer' })
    assert.equal(python.hits[0]?.path, 'jobs/mailer.py')
    assert.equal(vscode.workspace.getWorkspaceFolder(python.hits[0].location.uri)?.name, 'backend')
    const typescript = await api.search({ query: 'retry a failed request' })
    assert.equal(vscode.workspace.getWorkspaceFolder(typescript.hits[0]!.location.uri)?.name, 'shop')
  })

  test('tools show and understand paths with the name of the folder', async () => {
    await ready()
    const call = async (name: string, input: object): Promise<string> => {
      const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined })
      return content.map((part) => part instanceof vscode.LanguageModelTextPart ? part.value : '').join('')
    }
    assert.match(await call('sextant_search', { query: 'mail the invoice' }), /^backend\/jobs\/mailer\.py:/)
    assert.match(await call('sextant_search', { query: 'mail the invoice', paths: ['backend/jobs'] }), /^backend\/jobs\/mailer\.py:/)
    assert.match(await call('sextant_read', { path: 'backend/jobs/mailer.py', startLine: 11 }), /send_invoice/)
  })

  test('the Index view lists each folder', async () => {
    const { index } = await ready()
    const nodes = await index.getChildren()
    assert.deepEqual(nodes.filter(({ icon }) => icon === 'root-folder').map(({ label }) => label), ['shop', 'backend'])
  })

  test('a folder that is added is indexed, one that is removed is no longer found', async () => {
    const { session } = await ready()
    const place = mkdtempSync(join(tmpdir(), 'sextant-folder-'))
    writeFileSync(join(place, 'tides.ts'), 'export function predictHighTide(): number { return 1 }\n')
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 0, { uri: vscode.Uri.file(place), name: 'harbour' }))
    await until('three folders', () => session.snapshot.status?.roots.length === 3)
    const finds = async (): Promise<boolean> => (await session.search({ query: 'predictHighTide', sync: true })).hits.some(({ path }) => path === 'tides.ts')
    await until('it is found', finds)
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 1))
    await until('two folders', () => session.snapshot.status?.roots.length === 2)
    assert.equal(await finds(), false)
    rmSync(place, { recursive: true })
  })

  test('a setting of the workspace holds for all folders', async () => {
    const { session } = await ready()
    await withSetting('ignore.exclude', ['/jobs/', '/docs/'], async () => {
      await until('the rule acts', async () => {
        const { hits } = await session.search({ query: 'mail the invoice, roll back a release', sync: true })
        return hits.every(({ path }) => !/^(jobs|docs)\//.test(path))
      })
    })
    await ready()
  })

  test('two windows with the same storage and folders answer, index and pause together', async () => {
    const { session, context } = await ready()
    const { openEngine } = await import('../../src/engine.js')
    const { status } = session.snapshot
    assert.ok(status)
    const settings = { ...(await ready()).config.settings }
    const other = await openEngine({ addon: context.asAbsolutePath('dist/addon'), roots: status.roots, storage: status.storage, settings })
    try {
      await Promise.all([other.sync(), session.index()])
      assert.equal((await other.search({ query: 'retry a failed request' })).hits[0]?.path, 'src/net/retry.ts')
      await other.pause()
      await session.refresh()
      assert.equal(session.snapshot.state.kind, 'paused')
      await session.resume()
      assert.equal((await other.status()).state, 'ready')
    } finally {
      await other.close()
    }
  })
})
