import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Ctx } from '../../src/ctx'
import { extension, file, ready, until } from './host'

const run = async (command: string): Promise<unknown> => vscode.commands.executeCommand(command)
const activePath = (): string | undefined => vscode.window.activeTextEditor?.document.uri.path

suite('search as you type', () => {
  let ctx: Ctx
  suiteSetup(async () => { ctx = await ready() })
  setup(async () => { await run('workbench.action.closeAllEditors') })
  teardown(async () => {
    await run('workbench.action.closeQuickOpen')
    await run('workbench.action.closeAllEditors')
  })

  test('moving shows each hit in the editor, Enter opens it, and the side bar keeps the hits', async () => {
    await vscode.commands.executeCommand('sextant.search', 'wait before sending a request again')
    await until('the first hit is shown', () => activePath()?.endsWith('/src/net/retry.ts'))
    assert.ok((vscode.window.activeTextEditor?.selection.start.line ?? 0) > 0)
    await run('workbench.action.quickOpenSelectNext')
    await until('the next hit is shown', () => activePath()?.endsWith('/src/net/retry.ts') === false)
    const second = activePath()
    await run('workbench.action.acceptSelectedQuickOpenItem')
    await until('the results are kept', () => ctx.results.hits.length > 1)
    await until('it stays', () => activePath() === second && vscode.window.tabGroups.activeTabGroup.activeTab?.isPreview === false)
    assert.equal(ctx.results.query, 'wait before sending a request again')
  })

  test('leaving without a choice puts back what was there', async () => {
    await vscode.window.showTextDocument(vscode.Uri.joinPath(vscode.workspace.workspaceFolders![0]!.uri, 'docs/deploy.md'), { preview: false })
    await vscode.commands.executeCommand('sextant.search', 'session expired')
    await until('a hit is shown', () => activePath()?.endsWith('/src/auth/session.ts'))
    await run('workbench.action.closeQuickOpen')
    await until('the document is back', () => activePath()?.endsWith('/docs/deploy.md'))
  })

  test('leaving an empty window leaves no editor behind', async () => {
    await vscode.commands.executeCommand('sextant.search', 'session expired')
    await until('a hit is shown', () => activePath()?.endsWith('/src/auth/session.ts'))
    await run('workbench.action.closeQuickOpen')
    await until('it is closed', () => vscode.window.tabGroups.all.every(({ tabs }) => tabs.length === 0))
  })

  test('all hits open as one page, and are copied as context', async () => {
    const { hits } = await ctx.session.search({ query: 'evict the oldest entry' })
    ctx.results.show('evict the oldest entry', hits)
    await run('sextant.openResults')
    await until('the page is shown', () => vscode.window.activeTextEditor?.document.uri.scheme === 'sextant-page')
    const page = vscode.window.activeTextEditor?.document.getText() ?? ''
    assert.match(page, /^# evict the oldest entry/)
    assert.match(page, /\[src\/cache\/lru\.ts:\d+-\d+\]\(file:.*lru\.ts#L\d+\)/)
    await run('sextant.copyResults')
    const copied = await vscode.env.clipboard.readText()
    assert.match(copied, /^Lines \d+ to \d+ of `src\/cache\/lru\.ts`/)
    assert.match(copied, /```typescript\n/)
  })

  test('the results can be asked for again and cleared', async () => {
    ctx.results.show('evict the oldest entry', [])
    await run('sextant.searchAgain')
    assert.equal(ctx.results.hits[0]?.path, 'src/cache/lru.ts')
    await run('sextant.clearResults')
    assert.equal(ctx.results.query, undefined)
  })

  test('a result opens at its lines', async () => {
    const { hits } = await ctx.session.search({ query: 'evict the oldest entry' })
    await vscode.commands.executeCommand('sextant.openHit', hits[0])
    assert.equal(vscode.window.activeTextEditor?.selection.start.line, hits[0]!.startLine - 1)
    await vscode.commands.executeCommand('sextant.openHitToSide', hits[0])
    assert.deepEqual(vscode.window.tabGroups.all.map(({ tabs }) => tabs.length), [1, 1])
  })

  test('leaving after a look at other files leaves none of them open', async () => {
    await vscode.window.showTextDocument(file('docs/deploy.md'), { preview: false })
    await vscode.commands.executeCommand('sextant.search', 'wait before sending a request again')
    await until('a hit is shown', () => activePath()?.endsWith('/src/net/retry.ts'))
    await run('workbench.action.closeQuickOpen')
    await until('the document alone is open', () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ label }) => label).join() === 'deploy.md')
    assert.ok(activePath()?.endsWith('/docs/deploy.md'))
  })

  test('its key is none that the editor has for something else', async () => {
    const { contributes } = extension().packageJSON as { contributes: { keybindings: readonly { command: string, key: string }[] } }
    const document = await vscode.workspace.openTextDocument(vscode.Uri.parse('vscode://defaultsettings/keybindings.json'))
    for (const { command, key } of contributes.keybindings) {
      const bound = [...document.getText().matchAll(/"key": "([^"]+)",\s+"command": "([^"]+)"/g)].filter(([, other]) => other === key || other?.startsWith(`${key} `))
      assert.deepEqual(bound.map(([, , other]) => other), [command])
    }
  })
})
