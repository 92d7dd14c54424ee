import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { ready, until } from './host'

suite('views', () => {
  test('the Index view shows counts, model, folders and what was left out', async () => {
    const ctx = await ready()
    await vscode.commands.executeCommand('sextant.index.focus')
    const nodes = await ctx.index.getChildren()
    assert.deepEqual(nodes.slice(0, 6).map(({ label }) => label.replace(/:.*/, '')), ['Ready', 'Files', 'Chunks', 'Size on disk', 'Model', 'Last update'])
    const folder = nodes.find(({ label }) => label === 'shop')
    assert.ok(folder)
    assert.match(folder.description ?? '', /^[78] files$/)
    const skipped = folder.children.find(({ label }) => label === 'Skipped')
    const paths = skipped?.children.flatMap(({ children }) => children.map(({ label }) => label)).sort()
    assert.deepEqual(paths?.filter((path) => path !== '.vscode'), ['.env', 'logo.png'])
  })

  test('the views can be focused', async () => {
    await ready()
    await vscode.commands.executeCommand('sextant.results.focus')
    await vscode.commands.executeCommand('sextant.index.focus')
    await until('the commands are there', async () => (await vscode.commands.getCommands()).includes('sextant.index.focus'))
  })
})
