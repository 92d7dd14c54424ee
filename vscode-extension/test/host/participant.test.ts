import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { file, fakeModels, ready, remove, until, withSetting, write, type FakeModels } from './host'
import type { Insides } from '../../src/extension'

/** What the participant wrote, part by part. */
class Recorder {
  text = ''
  readonly progresses: string[] = []
  readonly references: vscode.Location[] = []
  readonly anchors: { readonly location: vscode.Location, readonly title: string | undefined }[] = []
  readonly buttons: string[] = []
  /** As the editor closes the stream of an answer that was stopped. */
  isClosed = (): boolean => false

  readonly stream = {
    markdown: (value: string) => {
      if (this.isClosed()) {
        throw new Error('Response stream has been closed')
      }
      this.text += value
    },
    progress: (value: string) => { this.progresses.push(value) },
    reference: (value: vscode.Location) => { this.references.push(value) },
    anchor: (location: vscode.Location, title?: string) => {
      this.anchors.push({ location, title })
      this.text += `<${title ?? ''}>`
    },
    button: ({ command }: vscode.Command) => { this.buttons.push(command) },
  } as unknown as vscode.ChatResponseStream
}

const SESSION_LOST = 'how does the store notice that somebody has to sign in again?'

suite('@workspace', () => {
  let insides: Insides
  let models: FakeModels & { readonly large: vscode.LanguageModelChat }
  let answer: FakeModels['answer']
  suiteSetup(async () => {
    insides = await ready()
    models = await fakeModels()
    answer = models.answer
  })
  setup(() => {
    models.requests.length = 0
    models.answer = answer
  })

  interface Request {
    readonly prompt: string
    readonly command?: string
    readonly model?: vscode.LanguageModelChat | undefined
    readonly references?: readonly vscode.ChatPromptReference[]
    readonly history?: vscode.ChatContext['history']
    readonly token?: vscode.CancellationToken
    readonly closesWhenStopped?: boolean
    readonly recorder?: Recorder
  }
  const ask = async ({ prompt, command, references = [], history = [], token, closesWhenStopped = false, recorder = new Recorder(), ...rest }: Request): Promise<Recorder & { result: vscode.ChatResult }> => {
    recorder.isClosed = () => closesWhenStopped && token?.isCancellationRequested === true
    const model = 'model' in rest ? rest.model : models.large
    const request = { prompt, command, references, toolReferences: [], model } as unknown as vscode.ChatRequest
    const result = await insides.chat(request, { history }, recorder.stream, token ?? new vscode.CancellationTokenSource().token)
    return Object.assign(recorder, { result: result ?? {} })
  }
  const prompts = (model: string): string[] => models.requests.filter((request) => request.model === model).map(({ prompt }) => prompt)

  test('a model puts the question into words, the search finds, another model answers with links', async () => {
    const { text, references, anchors, progresses, result } = await ask({ prompt: 'what if the network is down?' })
    assert.ok(progresses.includes('Understood as: How is a failed request sent again?'), progresses.join())
    assert.ok(references.some(({ uri, range }) => uri.fsPath.endsWith('/src/net/retry.ts') && range.start.line > 0))
    assert.match(text, /sent again by `sendWithRetry` \(<src\/net\/retry\.ts:9-20>\)/)
    assert.deepEqual(anchors.map(({ location }) => [location.uri.path.replace(/.*\/shop\//, ''), location.range.start.line, location.range.end.line]), [
      ['src/net/retry.ts', 8, 19], ['src/net/sleep.ts', 1, 1],
    ])
    assert.equal(prompts('fake-mini').length, 2, 'the small model is asked for words and for the intent')
    assert.equal(prompts('fake-large').length, 1, 'the model of the chat answers')
    assert.match(prompts('fake-large')[0] ?? '', /export async function sendWithRetry[\s\S]*what if the network is down\?/)
    assert.deepEqual((result.metadata as { names: string[] }).names[0], 'sendWithRetry')
  })

  test('the intent is asked for with a limit of 20 tokens and a stop', async () => {
    await ask({ prompt: 'what if the network is gone?' })
    const intent = models.requests.find(({ prompt }) => prompt.includes('Reply with the name of one kind'))
    assert.deepEqual(intent?.options, { max_tokens: 20, stop: [';'] })
    assert.match(prompts('fake-large')[0] ?? '', /Explain how it works step by step/)
  })

  test('a follow-up is understood from the conversation', async () => {
    const history = [
      Object.assign(Object.create(vscode.ChatRequestTurn.prototype) as object, { prompt: 'how is a request retried?', participant: 'sextant.workspace', references: [] }),
      Object.assign(Object.create(vscode.ChatResponseTurn.prototype) as object, { response: [new vscode.ChatResponseMarkdownPart('By `sendWithRetry`.')], result: { metadata: { question: 'How is a request retried?', answered: true, names: [] } } }),
    ] as unknown as vscode.ChatContext['history']
    await ask({ prompt: 'and where is it tested?', history })
    assert.match(prompts('fake-mini').find((prompt) => prompt.includes('## Keywords')) ?? '', /how is a request retried\?\nBy `sendWithRetry`\./)
    assert.match(prompts('fake-large')[0] ?? '', /The conversation so far:/)
    const without = await ask({ prompt: 'and where is it tested?', history, model: undefined })
    assert.ok(without.references.some(({ uri }) => uri.path.endsWith('/test/retry.test.ts')))
  })

  test('without a model the hits are the answer, and it says so', async () => {
    const { text, anchors, result } = await ask({ prompt: SESSION_LOST, model: undefined })
    assert.match(text, /^No language model is available, so there is no answer in words\. These are the \d+ places that match best, in order\./)
    assert.match(text, /\*\*1\. /)
    assert.match(text, /```typescript\n/)
    assert.ok(anchors.some(({ location }) => location.uri.path.endsWith('/src/auth/session.ts')))
    assert.equal((result.metadata as { answered: boolean }).answered, false)
  })

  for (const [what, error, sentence] of [
    ['a refusal', () => vscode.LanguageModelError.Blocked('not allowed to say'), /^The model gave no answer \(not allowed to say\)\. These are/],
    ['missing permission', () => vscode.LanguageModelError.NoPermissions('you said no'), /^The model gave no answer \(/],
    ['a used up quota', () => new Error('You have exceeded your premium request quota'), /^The model's quota is used up/],
    ['a broken connection', () => new Error('socket hang up'), /^The model could not be asked \(.*socket hang up/],
  ] as const) {
    test(`after ${what} the hits are the answer, and it says why`, async () => {
      models.answer = async function* () { await Promise.resolve(); throw error() }
      const { text, references } = await ask({ prompt: SESSION_LOST })
      assert.match(text, sentence)
      assert.ok(references.some(({ uri }) => uri.path.endsWith('/src/auth/session.ts')), 'the question was searched for as it is')
    })
  }

  test('an empty answer is no answer', async () => {
    models.answer = async function* () { await Promise.resolve(); yield '' }
    assert.match((await ask({ prompt: SESSION_LOST })).text, /^The model said nothing\. These are/)
  })

  /** Somebody presses Stop while the model answers. */
  const stopped = async (closesWhenStopped: boolean): ReturnType<typeof ask> => {
    const source = new vscode.CancellationTokenSource()
    const recorder = new Recorder()
    models.answer = async function* ({ prompt, token }) {
      if (prompt.includes('Excerpts')) {
        yield 'It begins'
        await until('the beginning is seen', () => recorder.text !== '')
        source.cancel()
        await until('the model is told to stop', () => token.isCancellationRequested)
        throw new vscode.CancellationError()
      }
      yield* answer({ model: '', prompt, token })
    }
    return ask({ prompt: SESSION_LOST, token: source.token, closesWhenStopped, recorder })
  }

  test('when it is stopped, what was found is shown', async () => {
    assert.match((await stopped(false)).text, /^It begins\n\nThe answer was stopped\. These are the \d+ places/)
  })

  test('when it is stopped and the editor takes no more, the references stay', async () => {
    const { references, result } = await stopped(true)
    assert.ok(references.some(({ uri }) => uri.path.endsWith('/src/auth/session.ts')))
    assert.deepEqual(result, {})
  })

  test('a model that takes no notice of a Stop is left', async () => {
    const source = new vscode.CancellationTokenSource()
    const recorder = new Recorder()
    const never = new Promise<string>(() => undefined)
    models.answer = async function* ({ prompt, token }) {
      if (prompt.includes('Excerpts')) {
        yield 'It begins'
        await until('the beginning is seen', () => recorder.text !== '')
        source.cancel()
        yield await never
      }
      yield* answer({ model: '', prompt, token })
    }
    await ask({ prompt: SESSION_LOST, token: source.token, recorder })
    assert.match(recorder.text, /The answer was stopped\. These are the \d+ places/)
  })

  test('an answer that breaks off stands by itself, and the hits follow', async () => {
    const recorder = new Recorder()
    models.answer = async function* ({ prompt, token }) {
      if (prompt.includes('Excerpts')) {
        yield 'It begins\n```ts\nconst a'
        await until('the beginning is seen', () => recorder.text !== '')
        throw new Error('socket hang up')
      }
      yield* answer({ model: '', prompt, token })
    }
    const { text } = await ask({ prompt: SESSION_LOST, recorder })
    assert.match(text, /^It begins\n```ts\nconst a\n```\n\nThe answer broke off \(.*socket hang up.*\)\. These are the \d+ places/)
  })

  test('when it is stopped before the search, nothing is said', async () => {
    const source = new vscode.CancellationTokenSource()
    source.cancel()
    assert.equal((await ask({ prompt: SESSION_LOST, token: source.token })).text, '')
  })

  test('/search finds and asks no model for an answer', async () => {
    const { text } = await ask({ prompt: 'retry', command: 'search' })
    assert.match(text, /^These are the \d+ places that match best, in order\./)
    assert.equal(prompts('fake-large').length, 0)
  })

  test('/explain asks for an explanation, and needs no model for the intent', async () => {
    await ask({ prompt: 'eviction', command: 'explain' })
    assert.equal(prompts('fake-mini').length, 1)
    assert.match(prompts('fake-large')[0] ?? '', /Explain how it works step by step/)
  })

  test('/related looks outside of what is attached', async () => {
    const selection = new vscode.Location(file('src/net/retry.ts'), new vscode.Range(8, 0, 20, 1))
    const { references } = await ask({ prompt: '', command: 'related', references: [{ id: 'selection', value: selection }] })
    assert.ok(references.length > 0)
    assert.ok(references.every(({ uri, range }) => !uri.path.endsWith('/src/net/retry.ts') || range.intersection(selection.range) === undefined))
    assert.match(prompts('fake-large')[0] ?? '', /how it is related[\s\S]*Attached by the user:[\s\S]*sendWithRetry/)
  })

  test('/related finds more than the file itself, however much of it is like what is attached', async () => {
    const functions = Array.from({ length: 40 }, (_, n) => `/** Sends a request again, way ${n}. */\nexport function sendWithRetry${n}(attempts: number): number {\n  return attempts + ${n}\n}\n`)
    await write('src/ways.ts', functions.join('\n'))
    await until('it is indexed', async () => (await insides.session.search({ query: 'sendWithRetry39', sync: true })).hits[0]?.path === 'src/ways.ts')
    const around = async (value: vscode.Uri | vscode.Location): Promise<string[]> => {
      const { references } = await ask({ prompt: '', command: 'related', references: [{ id: 'code', value }], model: undefined })
      return references.map(({ uri, range }) => `${uri.path.replace(/.*\/shop\//, '')}:${range.start.line}`)
    }
    const ofFile = await around(file('src/ways.ts'))
    assert.ok(ofFile.some((place) => place.startsWith('src/net/retry.ts')), ofFile.join())
    assert.ok(ofFile.every((place) => !place.startsWith('src/ways.ts')), ofFile.join())
    const ofOne = await around(new vscode.Location(file('src/ways.ts'), new vscode.Range(0, 0, 3, 1)))
    assert.ok(ofOne.some((place) => place.startsWith('src/ways.ts')) && !ofOne.includes('src/ways.ts:0'), ofOne.join())
    await remove('src/ways.ts')
  })

  test('#file and a selection narrow the search, what the editor attaches by itself does not', async () => {
    const cache = { id: 'vscode.file', value: file('src/cache/lru.ts') }
    const narrowed = await ask({ prompt: 'what happens here?', references: [cache], model: undefined })
    assert.deepEqual([...new Set(narrowed.references.map(({ uri }) => uri.path.replace(/.*\/shop\//, '')))], ['src/cache/lru.ts'])
    const folder = { id: 'vscode.folder', value: file('src/auth') }
    const inFolder = await ask({ prompt: 'what happens here?', references: [folder], model: undefined })
    assert.ok(inFolder.references.every(({ uri }) => uri.path.includes('/src/auth/')))
    const implicit = { id: 'vscode.implicit.file', value: file('src/cache/lru.ts') }
    const wide = await ask({ prompt: SESSION_LOST, references: [implicit], model: undefined })
    assert.ok(wide.references.some(({ uri }) => uri.path.endsWith('/src/auth/session.ts')))
  })

  test('what the editor attaches by itself is a selection, and of no file that holds secrets', async () => {
    const first = new vscode.Range(0, 0, 5, 0)
    const selection = { id: 'vscode.implicit.selection', value: new vscode.Location(file('src/cache/lru.ts'), first) }
    await ask({ prompt: SESSION_LOST, references: [selection] })
    assert.match(prompts('fake-large')[0] ?? '', /Attached by the user:[\s\S]*LruCache/)
    const secret = new TextDecoder().decode(await vscode.workspace.fs.readFile(file('.env'))).trim()
    assert.ok(secret.length > 3)
    for (const id of ['vscode.implicit.selection', 'vscode.implicit.viewport', 'vscode.implicit.file']) {
      models.requests.length = 0
      await ask({ prompt: SESSION_LOST, references: [{ id, value: new vscode.Location(file('.env'), first) }] })
      assert.ok(models.requests.length > 0)
      assert.ok(models.requests.every(({ prompt }) => !prompt.includes(secret)), id)
    }
  })

  test('a reference that is none of VS Code is a failure like any other', async () => {
    const odd = { value: { uri: 1 } } as unknown as vscode.ChatPromptReference
    assert.ok((await ask({ prompt: SESSION_LOST, references: [odd], model: undefined })).references.length > 0)
  })

  test('the prompt stays within the limit of the setting', async () => {
    await ask({ prompt: SESSION_LOST })
    const whole = prompts('fake-large')[0]?.length ?? 0
    await withSetting('chat.maxContextTokens', 1000, async () => {
      await until('the setting acts', () => insides.config.settings['chat.maxContextTokens'] === 1000)
      models.requests.length = 0
      await ask({ prompt: 'explain everything about sessions, requests and caches '.repeat(50) })
    })
    const short = prompts('fake-large')[0]?.length ?? 0
    assert.ok(short <= 1000 * 4 + 80, `${short} characters`)
    assert.ok(whole > 0)
  })

  test('chat.rephrase off searches for the words as they are', async () => {
    await withSetting('chat.rephrase', false, async () => {
      await until('the setting acts', () => !insides.config.settings['chat.rephrase'])
      const { progresses } = await ask({ prompt: SESSION_LOST })
      assert.deepEqual(progresses, [`Searching: ${SESSION_LOST}`])
    })
    assert.equal(prompts('fake-mini').length, 0)
  })

  test('chat.model names the model that rephrases', async () => {
    await withSetting('chat.model', 'fake-large', async () => {
      await until('the setting acts', () => insides.config.settings['chat.model'] === 'fake-large')
      await ask({ prompt: SESSION_LOST })
    })
    assert.equal(prompts('fake-mini').length, 0)
    assert.equal(prompts('fake-large').length, 3)
  })

  test('two chats at the same time get their own models and answers', async () => {
    const [large] = await vscode.lm.selectChatModels({ vendor: 'fake', family: 'fake-large' })
    const both = await Promise.all([ask({ prompt: 'what if the network is down?' }), ask({ prompt: 'what happens when the cache is full', model: large })])
    assert.deepEqual(both.map(({ progresses }) => progresses.at(-1)), [
      'Understood as: How is a failed request sent again?', 'Understood as: Which entry is evicted when the cache is full?',
    ])
  })

  test('the prompt holds the lines with their places, as the core writes them', async () => {
    await ask({ prompt: 'what if the network is down?' })
    assert.match(prompts('fake-large')[0] ?? '', /Lines \d+ to \d+ of `src\/net\/retry\.ts`[\s\S]*\/\/ filepath: src\/net\/retry\.ts#L\d+-L\d+/)
  })

  test('an empty message gets help', async () => {
    assert.match((await ask({ prompt: ' ' })).text, /\/related/)
  })

  test('a cleared index is said, with a button that helps', async () => {
    await insides.session.clear()
    const { result, buttons } = await ask({ prompt: SESSION_LOST })
    assert.match(result.errorDetails?.message ?? '', /The index was cleared/)
    assert.deepEqual(buttons, ['sextant.indexWorkspace'])
    await insides.session.index()
  })

  test('a paused index answers, and says so', async () => {
    await insides.session.pause()
    assert.match((await ask({ prompt: SESSION_LOST })).text, /Less than complete: .*paused/)
    await insides.session.resume()
  })
})
