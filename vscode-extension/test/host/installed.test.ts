import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { activated, until } from './host'

suite('the packaged extension', () => {
  test('is installed, activates, indexes the folder and answers', async () => {
    const api = await activated()
    assert.equal(api.testing, undefined, 'the insides are shown to no one')
    await until('the index is ready', () => api.status.state === 'ready')
    const { hits } = await api.search({ query: 'retry a failed request' })
    assert.equal(hits[0]?.path, 'src/net/retry.ts')
  })

  test('offers its tools to agents', async () => {
    await activated()
    await until('the tools are there', () => vscode.lm.tools.filter(({ name }) => name.startsWith('sextant_')).length === 4)
    const { content } = await vscode.lm.invokeTool('sextant_search', { input: { query: 'evict the oldest entry' }, toolInvocationToken: undefined })
    assert.match(JSON.stringify(content), /src\/cache\/lru\.ts/)
  })
})
