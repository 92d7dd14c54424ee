import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { activated, extension, ready, until, withSetting } from './host'

interface Manifest { readonly contributes: { readonly commands: readonly { readonly command: string }[] } }

suite('activation', () => {
  test('a folder that is opened is indexed without being asked', async () => {
    const { session } = await ready()
    const { status } = session.snapshot
    assert.equal(status?.watching, true)
    // Four sources, a test, a document and .gitignore; neither .env nor the picture. Other tests leave settings.
    assert.ok([7, 8].includes(status.files), String(status.files))
    assert.equal(status.model.length > 0, true)
  })

  test('the database lies in the storage of the workspace', async () => {
    const { session, context } = await ready()
    assert.ok(context.storageUri)
    assert.equal(session.snapshot.status?.storage, context.storageUri.fsPath)
  })

  test('every command of the manifest is registered, and no other', async () => {
    await activated()
    const { contributes } = extension().packageJSON as Manifest
    const listed = contributes.commands.map(({ command }) => command).sort()
    const registered = (await vscode.commands.getCommands(true)).filter((command) => /^sextant\.\w+$/.test(command) && !['sextant.index', 'sextant.results'].includes(command)).sort()
    assert.deepEqual(registered, listed)
  })

  // The first that asks for an index: once somebody has, it is kept current for as long as the window is open.
  test('index.startOnOpen off leaves an index that is opened as it is, until somebody asks', async () => {
    const { session, context } = await ready()
    const storage = vscode.Uri.joinPath(context.globalStorageUri, 'not-started').fsPath
    await withSetting('index.startOnOpen', false, async () => {
      await withSetting('index.storage', storage, async () => {
        await until('the setting acts', () => session.snapshot.status?.storage === storage && session.snapshot.state.kind === 'empty')
        assert.equal(session.snapshot.status?.watching, false)
        await vscode.commands.executeCommand('sextant.indexWorkspace')
        await until('the setting acts', () => session.snapshot.state.kind === 'ready' && session.snapshot.status?.watching === true)
      }, vscode.ConfigurationTarget.Global)
    })
    await until('the setting acts', () => session.snapshot.status?.storage === context.storageUri?.fsPath)
  })
})
