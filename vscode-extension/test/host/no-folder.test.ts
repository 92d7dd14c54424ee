import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { activated, callsOf, ctx, extension, until } from './host'

suite('a window without a folder', () => {
  test('activation is quick and loads no addon', async () => {
    const { session, log } = await ctx()
    assert.deepEqual(session.snapshot.state, { kind: 'off' })
    assert.ok(extension().isActive)
    log.show()
    const output = (): string =>
      vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === 'output')?.document.getText() ?? ''
    const text = await until('the log says how long it took', () => /activated in [\d.]+ ms/.test(output()) && output())
    assert.doesNotMatch(text, /opened the index/)
  })

  test('a search says what to do', async () => {
    await assert.rejects((await activated()).search({ query: 'anything' }), { code: 'NO_FOLDER' })
  })

  test('@workspace says what to do, with a button for it', async () => {
    const { chat } = await ctx()
    let text = ''
    const buttons: string[] = []
    const stream = {
      markdown: (value: string) => { text += value },
      progress: () => undefined,
      button: ({ command }: vscode.Command) => { buttons.push(command) },
    } as unknown as vscode.ChatResponseStream
    const request = { prompt: 'how is a request retried?', references: [], model: undefined } as unknown as vscode.ChatRequest
    const result = await chat(request, { history: [] }, stream, new vscode.CancellationTokenSource().token)
    assert.match(result?.errorDetails?.message ?? '', /^Open a folder first/)
    assert.equal(text, '')
    assert.deepEqual(buttons, ['vscode.openFolder'])
  })

  const elsewhere = 'Open a folder first: Sextant searches the folders of this window that are on this machine.'
  for (const [command, expected] of Object.entries({
    search: elsewhere,
    indexWorkspace: elsewhere,
    pauseIndexing: elsewhere,
    resumeIndexing: elsewhere,
    clearIndex: elsewhere,
    showSkippedFiles: elsewhere,
    initIgnoreFile: 'Open a folder first: .sextantignore belongs to one.',
  })) {
    test(`the command ${command} tells it, with buttons for it and for the log`, async () => {
      await activated()
      const showsNothing = (): Thenable<undefined> => Promise.resolve(undefined)
      await callsOf(vscode.window, 'showErrorMessage', showsNothing as typeof vscode.window.showErrorMessage, async (messages) => {
        await vscode.commands.executeCommand(`sextant.${command}`)
        assert.deepEqual(messages, [[expected, 'Open Folder', 'Show Log']])
      })
    })
  }

  test('diagnostics can be copied', async () => {
    await activated()
    await vscode.commands.executeCommand('sextant.copyDiagnostics')
    assert.match(await vscode.env.clipboard.readText(), /^state: off$/m)
  })
})
