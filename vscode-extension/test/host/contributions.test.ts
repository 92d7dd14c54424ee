import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { registerParticipant } from '../../src/chat/participant'
import type { Insides } from '../../src/extension'
import { registerTools } from '../../src/tools/tools'
import { callsOf, extension, ready, until, withSetting } from './host'

interface Manifest {
  readonly contributes: {
    readonly languageModelTools: readonly {
      readonly name: string
      readonly modelDescription: string
      readonly userDescription: string
      readonly toolReferenceName: string
      readonly inputSchema: { readonly required?: readonly string[], readonly properties: Readonly<Record<string, { readonly description?: string }>> }
    }[]
    readonly chatParticipants: readonly { readonly id: string, readonly name: string, readonly commands: readonly { readonly name: string, readonly description: string }[] }[]
  }
}

/** Two calls that differ in one field, and what the answer to the second alone shows. */
interface Effect { readonly without: object, readonly with: object, readonly shows: RegExp }

const ONE_PIECE = /^\S+:\d+-\d+ .*\n```[^`]*```\n$/
const SESSION = { path: 'src/auth/session.ts', startLine: 1, contextLines: 0 }

const EFFECTS: Readonly<Record<string, Readonly<Record<string, Effect>>>> = {
  sextant_search: {
    query: { without: { query: 'evict the oldest entry' }, with: { query: 'rolling back a release' }, shows: /^docs\/deploy\.md/ },
    keywords: { without: { query: 'release' }, with: { query: 'release', keywords: ['LruCache', 'evicts'] }, shows: /^src\/cache\/lru\.ts/ },
    paths: { without: { query: 'session request' }, with: { query: 'session request', paths: ['test/**'] }, shows: /^test\/retry\.test\.ts/ },
    languages: { without: { query: 'session release' }, with: { query: 'session release', languages: ['markdown'] }, shows: ONE_PIECE },
    kinds: { without: { query: 'session' }, with: { query: 'session', kinds: ['class'] }, shows: /^src\/auth\/session\.ts:\d+-\d+ class/ },
    limit: { without: { query: 'session' }, with: { query: 'session', limit: 1 }, shows: ONE_PIECE },
  },
  sextant_read: {
    path: { without: SESSION, with: { ...SESSION, path: 'src/net/sleep.ts' }, shows: /^src\/net\/sleep\.ts:/ },
    startLine: { without: SESSION, with: { ...SESSION, startLine: 8 }, shows: /^src\/auth\/session\.ts:6-11 \(function checkExpiry\)/ },
    endLine: { without: SESSION, with: { ...SESSION, endLine: 15 }, shows: /^src\/auth\/session\.ts:1-23 / },
    contextLines: { without: SESSION, with: { ...SESSION, contextLines: 3 }, shows: /^src\/auth\/session\.ts:1-7 / },
  },
  sextant_related: {
    path: { without: { path: 'src/net/retry.ts', line: 1 }, with: { path: 'src/auth/session.ts', line: 1 }, shows: /^src\/auth\/session\.ts:6-11 / },
    line: { without: { path: 'src/auth/session.ts', line: 1 }, with: { path: 'src/auth/session.ts', line: 8 }, shows: /^src\/auth\/session\.ts:1-4 /m },
    limit: { without: { path: 'src/net/retry.ts', line: 12 }, with: { path: 'src/net/retry.ts', line: 12, limit: 1 }, shows: ONE_PIECE },
  },
  sextant_status: {},
}

suite('tools of the manifest', () => {
  const { contributes: { languageModelTools: tools } } = extension().packageJSON as Manifest
  suiteSetup(async () => { await ready() })

  const call = async (name: string, input: object): Promise<string> => {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined })
    return content.map((part) => part instanceof vscode.LanguageModelTextPart ? part.value : '').join('')
  }

  test('each is described to people and to models, with every field', () => {
    for (const { name, modelDescription, userDescription, toolReferenceName, inputSchema } of tools) {
      assert.ok(modelDescription.length > 60 && userDescription.length > 20 && toolReferenceName !== '', name)
      for (const [field, { description }] of Object.entries(inputSchema.properties)) {
        assert.ok((description ?? '').length > 10, `${name}.${field}`)
      }
    }
  })

  test('every field of every tool has a test, and no other', () => {
    const fields = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties).sort()]))
    assert.deepEqual(fields, Object.fromEntries(Object.entries(EFFECTS).map(([name, effects]) => [name, Object.keys(effects).sort()])))
  })

  for (const [name, effects] of Object.entries(EFFECTS)) {
    for (const [field, effect] of Object.entries(effects)) {
      test(`${field} of ${name} has an effect`, async () => {
        assert.doesNotMatch(await call(name, effect.without), effect.shows)
        assert.match(await call(name, effect.with), effect.shows)
      })
    }
  }

  test('a call without a field that the schema requires is refused with what is missing', async () => {
    for (const { name, inputSchema: { required = [] } } of tools) {
      const [complete] = Object.values(EFFECTS[name] ?? {}).map((effect) => effect.with)
      for (const field of required) {
        await assert.rejects(call(name, { ...complete, [field]: undefined }), field === 'query' ? /"query" is missing/i : /"path" and a line are needed/, `${name}.${field}`)
      }
    }
  })
})

suite('what a person reads before a tool runs', () => {
  let insides: Insides
  const registered = new Map<string, vscode.LanguageModelTool<object>>()
  suiteSetup(async () => {
    insides = await ready()
    // VS Code shows it where an agent calls; what it would be given is taken here.
    const { lm }: { lm: Readonly<Record<'registerTool', (name: string, tool: vscode.LanguageModelTool<object>) => vscode.Disposable>> } = vscode
    await callsOf(lm, 'registerTool', () => new vscode.Disposable(() => undefined), async (calls) => {
      registerTools(insides).dispose()
      calls.forEach(([name, tool]) => registered.set(name, tool))
      return Promise.resolve()
    })
  })

  const prepared = async (name: string, input: object): Promise<{ readonly progress: unknown, readonly title: unknown, readonly message: unknown }> => {
    const given = await registered.get(name)?.prepareInvocation?.({ input }, new vscode.CancellationTokenSource().token)
    return { progress: given?.invocationMessage, title: given?.confirmationMessages?.title, message: given?.confirmationMessages?.message }
  }

  test('a search: the question, and that nothing leaves the machine', async () => {
    assert.deepEqual(await prepared('sextant_search', { query: 'where are tokens rejected' }), {
      title: 'Search the codebase?',
      progress: 'Search the code of the open folders for “where are tokens rejected”.',
      message: "Search the code of the open folders for “where are tokens rejected”. Nothing leaves this machine but what the agent's model is shown.",
    })
  })

  test('a search with an embedding service: that the service gets the question', async () => {
    const address = 'http://127.0.0.1:9/v1'
    await withSetting('embedding.baseUrl', address, async () => {
      await withSetting('embedding.model', 'tiny', async () => {
        await withSetting('vectorDb.embeddingModel', 'local', async () => {
          await until('the service is chosen', () => insides.config.settings['vectorDb.embeddingModel'] === 'local')
          const { message, progress } = await prepared('sextant_search', { query: 'where are tokens rejected' })
          assert.match(String(message), /^Search the code of the open folders for “where are tokens rejected”\. .*\bembedding service\b.*\bquestion\b/)
          assert.doesNotMatch(String(message), /Nothing leaves/)
          assert.equal(progress, 'Search the code of the open folders for “where are tokens rejected”.')
          const related = await prepared('sextant_related', { path: 'src/a.ts', line: 12 })
          assert.match(String(related.message), /^Find code related to src\/a\.ts, line 12\. .*\bembedding service\b.*\bcode at that line\b/)
          await withSetting('vectorDb.enabled', false, async () => {
            await until('vectors are off', () => !insides.config.settings['vectorDb.enabled'])
            assert.match(String((await prepared('sextant_search', { query: 'x' })).message), /Nothing leaves this machine/)
          })
        })
      })
    })
    await ready()
  })

  test('the other tools: the file and the line', async () => {
    const read = await prepared('sextant_read', { path: 'src/a.ts', startLine: 12 })
    assert.deepEqual([read.title, read.progress, read.message], ['Read code?', 'Read src/a.ts around line 12.', 'Read src/a.ts around line 12.'])
    const related = await prepared('sextant_related', { path: 'src/a.ts', line: 12 })
    assert.equal(related.title, 'Find related code?')
    assert.match(String(related.message), /^Find code related to src\/a\.ts, line 12\./)
    const status = await prepared('sextant_status', {})
    assert.deepEqual([status.title, status.message], ['Ask about the index?', 'Ask how the index of the open folders stands.'])
  })

  test('an input that is not as the schema says is not shown as if it were', async () => {
    assert.match(String((await prepared('sextant_search', { query: { of: 'objects' } })).message), /for “…”\./)
  })
})

suite('@workspace of the manifest', () => {
  const { contributes: { chatParticipants } } = extension().packageJSON as Manifest
  const [workspace] = chatParticipants
  let insides: Insides
  let participant: Partial<vscode.ChatParticipant>
  suiteSetup(async () => {
    insides = await ready()
    participant = {}
    await callsOf(vscode.chat, 'createChatParticipant', (() => participant) as typeof vscode.chat.createChatParticipant, async (calls) => {
      registerParticipant(insides)
      assert.deepEqual(calls.map(([id]) => id), chatParticipants.map(({ id }) => id))
      return Promise.resolve()
    })
  })

  const ask = async (prompt: string, command?: string): Promise<{ readonly text: string, readonly result: vscode.ChatResult }> => {
    let text = ''
    const nothing = (): void => undefined
    const stream = { markdown: (value: string) => { text += value }, progress: nothing, reference: nothing, anchor: nothing, button: nothing } as unknown as vscode.ChatResponseStream
    const request = { prompt, command, references: [], toolReferences: [], model: undefined } as unknown as vscode.ChatRequest
    const result = await insides.chat(request, { history: [] }, stream, new vscode.CancellationTokenSource().token)
    return { text, result: result ?? {} }
  }
  const followUpsTo = async (result: vscode.ChatResult): Promise<vscode.ChatFollowup[]> =>
    await participant.followupProvider?.provideFollowups(result, { history: [] }, new vscode.CancellationTokenSource().token) ?? []

  test('the help tells of every command, and of no other', async () => {
    const { text } = await ask(' ')
    assert.equal(workspace?.name, 'workspace')
    assert.deepEqual([...text.matchAll(/^- `\/(\w+)`/gm)].map(([, name]) => name).sort(), workspace.commands.map(({ name }) => name).sort())
  })

  test('after an answer there are questions to go on with, with commands that there are', async () => {
    const { result } = await ask('how does the store notice that somebody has to sign in again?')
    const followUps = await followUpsTo(result)
    assert.equal(followUps[0]?.label, 'Explain: how does the store notice that somebody has to sign in again?')
    assert.match(followUps[1]?.prompt ?? '', /^Where is \w+ tested\?$/)
    assert.ok(followUps.length <= 3)
    // None is left out: VS Code would put in the command of the answer above.
    const commands = followUps.map(({ command }) => command)
    assert.deepEqual(commands, ['explain', '', 'related'])
    assert.ok(commands.every((command) => command === '' || workspace?.commands.some(({ name }) => name === command)))
  })

  test('after a failure or the help there are none', async () => {
    assert.deepEqual(await followUpsTo({ metadata: { code: 'INDEX_CLEARED' } }), [])
    assert.deepEqual(await followUpsTo((await ask(' ')).result), [])
  })
})
