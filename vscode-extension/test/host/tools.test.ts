import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Ctx } from '../../src/ctx'
import { TOOLS } from '../../src/tools/tools'
import { extension, ready, until, withSetting } from './host'

interface Manifest { readonly contributes: { readonly languageModelTools: readonly { readonly name: string, readonly modelDescription: string }[] } }

suite('tools', () => {
  let ctx: Ctx
  suiteSetup(async () => { ctx = await ready() })

  const call = async (name: string, input: object, tokenBudget?: number): Promise<string> => {
    const counting = tokenBudget === undefined ? {} : { tokenizationOptions: { tokenBudget, countTokens: (text: string) => Promise.resolve(Math.ceil(text.length / 4)) } }
    const { content } = await vscode.lm.invokeTool(`sextant_${name}`, { input, toolInvocationToken: undefined, ...counting })
    return content.map((part) => part instanceof vscode.LanguageModelTextPart ? part.value : '').join('')
  }

  test('the manifest describes each tool that is registered', async () => {
    const { contributes } = extension().packageJSON as Manifest
    assert.deepEqual(contributes.languageModelTools.map(({ name }) => name).sort(), Object.keys(TOOLS).sort())
    for (const { name, modelDescription } of contributes.languageModelTools) {
      assert.ok(modelDescription.length > 60, name)
      await until(`${name} is offered`, () => vscode.lm.tools.some((tool) => tool.name === name))
    }
  })

  test('search finds code by meaning', async () => {
    const text = await call('search', { query: 'wait longer before each further attempt' })
    assert.match(text, /^src\/net\/retry\.ts:\d+-\d+ function sendWithRetry\n```typescript\n/)
  })

  test('search honours path globs, languages, kinds and the limit', async () => {
    assert.match(await call('search', { query: 'retry a request', paths: ['test/**'] }), /^test\/retry\.test\.ts/)
    assert.match(await call('search', { query: 'session, release', paths: ['docs'] }), /^docs\/deploy\.md/)
    assert.match(await call('search', { query: 'sendWithRetry', paths: ['docs'] }), /^Nothing matches/)
    assert.match(await call('search', { query: 'release', languages: ['markdown'] }), /^docs\/deploy\.md/)
    assert.match(await call('search', { query: 'session store', kinds: ['class'] }), /^src\/auth\/session\.ts:\d+-\d+ class/)
    assert.equal((await call('search', { query: 'session', limit: 1 })).match(/^\S+:\d+-\d+ /gm)?.length, 1)
  })

  test('a result stays within the tokens of the agent, or of the setting', async () => {
    const whole = await call('search', { query: 'session request cache retry', limit: 10 })
    const short = await call('search', { query: 'session request cache retry', limit: 10 }, 300)
    assert.ok(short.length < whole.length)
    assert.ok(short.length <= 300 * 4)
    assert.match(short, /left out for lack of room/)
    await withSetting('tools.maxResultTokens', 500, async () => {
      await until('the setting acts', () => ctx.config.settings['tools.maxResultTokens'] === 500)
      assert.ok((await call('search', { query: 'session request cache retry', limit: 10 })).length < whole.length)
    })
  })

  test('read shows the whole piece with context and line numbers', async () => {
    const text = await call('read', { path: 'src/auth/session.ts', startLine: 8, contextLines: 1 })
    assert.match(text, /^src\/auth\/session\.ts:\d+-\d+ \(.*function checkExpiry.*\)/)
    assert.match(text, /^ ?7 \| export function checkExpiry/m)
  })

  test('read refuses what is not indexed, and says what is wrong with a path', async () => {
    await assert.rejects(call('read', { path: '.env', startLine: 1 }), /secret/i)
    await assert.rejects(call('read', { path: 'src/nowhere.ts', startLine: 1 }), /no file src\/nowhere\.ts/)
    await assert.rejects(call('read', { path: '/etc/passwd', startLine: 1 }), /no file/)
    await assert.rejects(call('read', { path: '../../../etc/passwd', startLine: 1 }), /no file/)
  })

  test('related finds other places than the one it starts from', async () => {
    const text = await call('related', { path: 'src/net/retry.ts', line: 12 })
    assert.doesNotMatch(text, /^src\/net\/retry\.ts:9-/m)
    assert.match(text, /^test\/retry\.test\.ts|^src\/net\/sleep\.ts/m)
  })

  test('status says how the index stands and what was left out', async () => {
    const text = await call('status', {})
    assert.match(text, /^State: Ready: [78] files/)
    assert.match(text, /left out: 1 path \(may hold secrets/)
  })

  test('a call without a question says what is missing', async () => {
    await assert.rejects(call('search', { query: '' }), /"query" is missing/i)
  })

  test('a cleared index is said, not searched', async () => {
    await ctx.session.clear()
    await assert.rejects(call('search', { query: 'session' }), /The index was cleared/)
    await ctx.session.index()
  })
})
