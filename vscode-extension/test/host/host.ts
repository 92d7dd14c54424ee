/** What the tests in the editor share: the extension, waiting without sleeping, and the fake models. */

import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Insides, TestApi } from '../../src/extension'

const ID = 'sextant-code.sextant'

export function extension(): vscode.Extension<TestApi> {
  const found = vscode.extensions.getExtension<TestApi>(ID)
  assert.ok(found, `${ID} is known to the editor`)
  return found
}

export const activated = async (): Promise<TestApi> => extension().activate()

export async function ctx(): Promise<Insides> {
  const { testing } = await activated()
  assert.ok(testing, 'the insides are there in a test run')
  return testing
}

/** Waits until `look` finds something. */
export async function until<T>(what: string | (() => string), look: () => T | undefined | false | Promise<T | undefined | false>, timeoutMs = 20_000): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== false) {
      return found
    }
    assert.ok(Date.now() < end, `within ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`)
    await new Promise((done) => { setTimeout(done, 25) })
  }
}

export async function ready(): Promise<Insides> {
  const context = await ctx()
  await until(() => `the index is ready, not ${JSON.stringify(context.session.snapshot)}`, () => context.session.snapshot.state.kind === 'ready' && context.session.snapshot.status?.pendingFiles === 0)
  return context
}

export function folder(place = 0): vscode.Uri {
  const found = vscode.workspace.workspaceFolders?.[place]
  assert.ok(found, 'a folder is open')
  return found.uri
}

export const file = (path: string, place = 0): vscode.Uri => vscode.Uri.joinPath(folder(place), path)

export async function write(path: string, text: string): Promise<void> {
  await vscode.workspace.fs.writeFile(file(path), new TextEncoder().encode(text))
}

export async function remove(path: string): Promise<void> {
  await vscode.workspace.fs.delete(file(path), { recursive: true })
}

/** Sets a setting for as long as `body` runs. */
export async function withSetting(key: string, value: unknown, body: () => Promise<void>, target = vscode.ConfigurationTarget.Workspace): Promise<void> {
  await vscode.workspace.getConfiguration('sextant').update(key, value, target)
  try {
    await body()
  } finally {
    await vscode.workspace.getConfiguration('sextant').update(key, undefined, target)
  }
}

/** What `object[name]` was called with while `body` ran; `instead` is called in its place. */
export async function callsOf<K extends string, O extends Readonly<Record<K, (...args: never[]) => unknown>>>(object: O, name: K, instead: O[K], body: (calls: Parameters<O[K]>[]) => Promise<void>): Promise<void> {
  const calls: Parameters<O[K]>[] = []
  const original = object[name]
  const recorder = (...args: Parameters<O[K]>): unknown => {
    calls.push(args)
    return instead(...args)
  }
  Object.assign(object, { [name]: recorder })
  try {
    await body(calls)
  } finally {
    Object.assign(object, { [name]: original })
  }
}

export interface FakeModels {
  readonly requests: { readonly model: string, readonly prompt: string, readonly options: Record<string, unknown> }[]
  answer: (request: { model: string, prompt: string, token: vscode.CancellationToken }) => AsyncIterable<string>
}

export async function fakeModels(): Promise<FakeModels & { readonly large: vscode.LanguageModelChat }> {
  const control = await vscode.extensions.getExtension<FakeModels>('sextant-tests.fake-model')?.activate()
  assert.ok(control, 'the fake models are there')
  const large = await until('the fake models are offered', async () => (await vscode.lm.selectChatModels({ vendor: 'fake', family: 'fake-large' }))[0])
  return Object.assign(control, { large })
}
