import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { activated, folder, ready, until, withSetting } from './host'

async function call(name: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined })
  return content.map((part) => part instanceof vscode.LanguageModelTextPart ? part.value : '').join('')
}

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
    assert.match(await call('sextant_search', { query: 'mail the invoice' }), /^backend\/jobs\/mailer\.py:/)
    assert.match(await call('sextant_search', { query: 'mail the invoice', paths: ['backend/jobs'] }), /^backend\/jobs\/mailer\.py:/)
    assert.match(await call('sextant_read', { path: 'backend/jobs/mailer.py', startLine: 11 }), /send_invoice/)
  })

  test('a file that is attached, and a folder that is named, are of their own folder alone', async () => {
    const { chat, session } = await ready()
    const twin = vscode.Uri.joinPath(folder(1), 'src/net/retry.ts')
    await vscode.workspace.fs.writeFile(twin, new TextEncoder().encode('export function sendWithRetry(): string { return "the twin in backend" }\n'))
    await until('it is indexed', async () => (await session.search({ query: 'the twin in backend', sync: true })).hits[0]?.root.endsWith('backend'))
    const found: vscode.Location[] = []
    const stream = { markdown: () => undefined, progress: () => undefined, anchor: () => undefined, reference: (location: vscode.Location) => { found.push(location) } }
    const request = { prompt: 'how is it sent again?', references: [{ id: 'vscode.file', value: twin }], toolReferences: [], model: undefined }
    await chat(request as unknown as vscode.ChatRequest, { history: [] }, stream as unknown as vscode.ChatResponseStream, new vscode.CancellationTokenSource().token)
    assert.deepEqual([...new Set(found.map(({ uri }) => uri.toString()))], [twin.toString()])

    const places = async (paths: readonly string[]): Promise<Set<string>> => {
      const text = await call('sextant_search', { query: 'send a request', paths, limit: 50 })
      return new Set([...text.matchAll(/^(\w+)\/\S+:\d+/gm)].map(([, name = '']) => name))
    }
    assert.deepEqual(await places(['backend']), new Set(['backend']))
    assert.deepEqual(await places(['shop/src']), new Set(['shop']))
    assert.deepEqual(await places(['src/net']), new Set(['shop', 'backend']))
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(folder(1), 'src'), { recursive: true })
  })

  test('a folder that is not there is told, and the others are searched', async () => {
    const { session, index } = await ready()
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 0, { uri: vscode.Uri.file(join(tmpdir(), 'sextant-never-there')), name: 'lost' }))
    await until('it is told', () => session.snapshot.trouble.some((message) => message.includes('sextant-never-there')))
    await ready()
    assert.ok((await index.getChildren()).some(({ label, icon }) => icon === 'warning' && label.includes('sextant-never-there')))
    assert.equal((await session.search({ query: 'retry a failed request', sync: true })).hits[0]?.path, 'src/net/retry.ts')
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 1))
    await until('all is well', () => session.snapshot.trouble.length === 0)
  })

  test('a folder that holds the storage of the window, as a home folder does, is indexed, and the storage is not', async () => {
    const { session, context } = await ready()
    assert.ok(context.storageUri)
    const home = vscode.Uri.joinPath(context.storageUri, '..')
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(home, 'at-home.ts'), new TextEncoder().encode('export function waterThePlants(): number { return 1 }\n'))
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 0, { uri: home, name: 'home' }))
    await until('three folders', () => session.snapshot.status?.roots.length === 3)
    await until('it is found', async () => (await session.search({ query: 'waterThePlants', sync: true })).hits[0]?.path === 'at-home.ts')
    assert.deepEqual(session.snapshot.trouble, [])
    assert.ok(!session.snapshot.status?.storage.startsWith(home.fsPath), session.snapshot.status?.storage)
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 1))
    await until('two folders', () => session.snapshot.status?.roots.length === 2)
    assert.ok(session.snapshot.status?.storage.startsWith(context.storageUri.fsPath), session.snapshot.status?.storage)
    await vscode.workspace.fs.delete(vscode.Uri.joinPath(home, 'at-home.ts'))
  })

  test('a folder of the same name as another is told apart, and a tool reads the right file', async () => {
    const { session } = await ready()
    const place = mkdtempSync(join(tmpdir(), 'sextant-twin-'))
    mkdirSync(join(place, 'src/net'), { recursive: true })
    writeFileSync(join(place, 'src/net/retry.ts'), 'export function ventolino(): number { return 1 }\n')
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 0, { uri: vscode.Uri.file(place), name: 'shop' }))
    await until('it is found', async () => (await session.search({ query: 'ventolino', sync: true })).hits[0]?.name === 'ventolino')
    const [, path = ''] = /^(\S+):\d+/.exec(await call('sextant_search', { query: 'ventolino' })) ?? []
    assert.match(await call('sextant_read', { path, startLine: 1 }), /ventolino/)
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 1))
    await until('two folders', () => session.snapshot.status?.roots.length === 2)
    rmSync(place, { recursive: true })
  })

  test('a folder that is deleted on the disk leaves the others as they are', async () => {
    const { session } = await ready()
    const place = mkdtempSync(join(tmpdir(), 'sextant-deleted-'))
    writeFileSync(join(place, 'tides.ts'), 'export function predictHighTide(): number { return 1 }\n')
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 0, { uri: vscode.Uri.file(place), name: 'harbour' }))
    await until('three folders', () => session.snapshot.status?.roots.length === 3)
    await ready()
    rmSync(place, { recursive: true })
    assert.equal((await session.search({ query: 'retry a failed request', sync: true })).hits[0]?.path, 'src/net/retry.ts')
    await until('it is told', () => session.snapshot.trouble.length === 1)
    await ready()
    assert.ok(vscode.workspace.updateWorkspaceFolders(2, 1))
    await until('all is well', () => session.snapshot.trouble.length === 0)
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
