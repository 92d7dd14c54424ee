import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Ctx } from '../../src/ctx'
import { activated, file, ready, remove, until, write } from './host'

const run = async (command: string, ...args: readonly unknown[]): Promise<unknown> => vscode.commands.executeCommand(`sextant.${command}`, ...args)
const shownText = (): string | undefined => vscode.window.activeTextEditor?.document.getText()

suite('commands', () => {
  let ctx: Ctx
  suiteSetup(async () => { ctx = await ready() })
  teardown(async () => { await vscode.commands.executeCommand('workbench.action.closeAllEditors') })

  test('Index Workspace brings the index up to date', async () => {
    await write('src/added.ts', 'export const freshlyAdded = 1\n')
    await run('indexWorkspace')
    const { hits } = await ctx.session.search({ query: 'freshlyAdded' })
    assert.equal(hits[0]?.path, 'src/added.ts')
    await remove('src/added.ts')
  })

  test('Pause, a search meanwhile, Resume', async () => {
    await run('pauseIndexing')
    assert.equal(ctx.session.snapshot.state.kind, 'paused')
    const { hits } = await (await activated()).search({ query: 'sendWithRetry' })
    assert.equal(hits[0]?.name, 'sendWithRetry')
    await run('resumeIndexing')
    assert.equal(ctx.session.snapshot.state.kind, 'ready')
  })

  test('Index Workspace goes on with a paused index', async () => {
    await run('pauseIndexing')
    await run('indexWorkspace')
    assert.equal(ctx.session.snapshot.state.kind, 'ready')
  })

  test('Clear removes the index until it is built again', async () => {
    await run('clearIndex')
    assert.equal(ctx.session.snapshot.state.kind, 'cleared')
    await assert.rejects((await activated()).search({ query: 'session' }), { code: 'INDEX_CLEARED' })
    await run('indexWorkspace')
    await ready()
    assert.equal(ctx.session.snapshot.status?.watching, true)
  })

  test('Show Skipped Files gives each path a reason', async () => {
    await run('showSkippedFiles')
    const text = shownText() ?? ''
    assert.match(text, /^# Skipped files/)
    assert.match(text, /- \.env$/m)
    assert.match(text, /- logo\.png$/m)
    assert.match(text, /secret/i)
  })

  test('Init .sextantignore creates the file once, and opens it after that', async () => {
    await run('initIgnoreFile')
    assert.match(shownText() ?? '', /syntax of \.gitignore/)
    await write('.sextantignore', '/docs/\n')
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    await run('initIgnoreFile')
    assert.equal(vscode.window.activeTextEditor?.document.uri.path.endsWith('/.sextantignore'), true)
    const stored = await vscode.workspace.fs.readFile(file('.sextantignore'))
    assert.equal(new TextDecoder().decode(stored), '/docs/\n')
    await until('the rule acts', async () => (await ctx.session.search({ query: 'rolling back a release' })).hits.every(({ path }) => path !== 'docs/deploy.md'))
    await remove('.sextantignore')
    await until('the rule is gone', async () => (await ctx.session.search({ query: 'rolling back a release' })).hits.some(({ path }) => path === 'docs/deploy.md'))
  })

  test('Copy Diagnostics holds facts, but no code, no path and no key', async () => {
    await ctx.keys.set('openai', 'sk-very-secret')
    await run('copyDiagnostics')
    const text = await vscode.env.clipboard.readText()
    assert.match(text, /^state: ready$/m)
    assert.match(text, /^files: [78]$/m)
    assert.doesNotMatch(text, /sk-very-secret|sendWithRetry|shop/)
    await ctx.keys.set('openai', '')
  })

  test('Set Embedding Key stores a key where only the extension finds it, and an empty one removes it', async () => {
    await ctx.context.secrets.store('sextant.embeddingKey.openai', 'sk-old')
    // Tests cannot type into a password box; accepting it empty removes the key.
    await acceptAll(run('setApiKey'))
    assert.equal(await ctx.keys.get('openai'), undefined)
    await ctx.keys.set('gemini', 'key')
    assert.equal(await ctx.context.secrets.get('sextant.embeddingKey.gemini'), 'key')
    await ctx.keys.set('gemini', '')
  })

  test('Show Log shows the log', async () => {
    await run('showLog')
    await until('the log is seen', () => vscode.window.visibleTextEditors.some(({ document }) => document.uri.scheme === 'output' && document.getText().includes('activated in')))
  })

  test('a click on the status bar offers what fits the state', async () => {
    await run('search', 'evict the oldest entry')
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen')
    await vscode.commands.executeCommand('workbench.action.closeAllEditors')
    // The first action of a ready index is to search, and the search remembers what was asked.
    await acceptAll(run('showActions'))
    await until('the hit is shown', () => vscode.window.activeTextEditor?.document.uri.path.endsWith('/src/cache/lru.ts'))
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen')
  })

  test('Ask @workspace opens the chat', async () => {
    await run('askInChat', 'how is a request retried?')
  })

  test('a search of a cleared index opens and can be left', async () => {
    await run('clearIndex')
    await run('search')
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen')
    await run('indexWorkspace')
    await ready()
  })
})

/** Accepts whatever the quick inputs of a command offer until the command is done. */
async function acceptAll(running: Promise<unknown>): Promise<void> {
  let isDone = false
  void running.finally(() => { isDone = true })
  await until('the command is done', async () => {
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem')
    return isDone
  })
  await running
}
