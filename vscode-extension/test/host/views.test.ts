import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { callsOf, ready, until } from './host'

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

  // VS Code asks for what a view shows only while the view is seen.
  for (const view of ['index', 'results'] as const) {
    test(`the ${view} view is filled when it is focused`, async () => {
      const ctx = await ready()
      ctx.results.show('session', (await ctx.session.search({ query: 'session' })).hits)
      await vscode.commands.executeCommand('workbench.view.explorer')
      const shown = ctx[view] as { getTreeItem: (node: never) => vscode.TreeItem }
      await callsOf(shown, 'getTreeItem', shown.getTreeItem.bind(shown), async (asked) => {
        await vscode.commands.executeCommand(`sextant.${view}.focus`)
        await until('what it shows is asked for', () => asked.length > 0)
      })
      ctx.results.clear()
    })
  }
})
