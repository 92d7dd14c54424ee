import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { fakeModels, ready, until } from './host'

suite('the Chat view', () => {
  test('a question typed for @workspace reaches the models with the code', async function () {
    this.timeout(60_000)
    await ready()
    const models = await fakeModels()
    models.requests.length = 0
    void vscode.commands.executeCommand('workbench.action.chat.open', { query: '@workspace what if the network is down?', mode: 'ask' })
    await until('the model was asked for an answer', () => models.requests.some(({ prompt }) => prompt.includes('Excerpts') && prompt.includes('sendWithRetry')), 40_000)
    const answering = models.requests.find(({ prompt }) => prompt.includes('Excerpts'))
    assert.match(answering?.prompt ?? '', /what if the network is down\?/)
  })
  test('Ask @workspace writes the question into the chat, and the user sends it', async function () {
    this.timeout(60_000)
    await ready()
    const models = await fakeModels()
    await vscode.commands.executeCommand('workbench.action.chat.newChat')
    models.requests.length = 0
    await vscode.commands.executeCommand('sextant.askInChat', 'who waits twice as long')
    // The user goes on writing: what is sent has both parts only if the first was not sent by itself.
    await vscode.commands.executeCommand('type', { text: ' each time?' })
    await until('it is answered once it is sent', async () => {
      await vscode.commands.executeCommand('workbench.action.chat.submit')
      return models.requests.some(({ prompt }) => prompt.includes('Excerpts') && prompt.includes('who waits twice as long each time?'))
    }, 20_000)
  })
})
