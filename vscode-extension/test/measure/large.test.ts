/** A large workspace: the event loop while it is indexed, and search as one types in it. */

import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Insides } from '../../src/extension'
import { ctx, until } from '../host/host'
import { LoopWatch, pause, plainWalk, profiled, roots, tell, told } from './measure'

const IDLE_MS = 20_000
const INDEX_TIMEOUT_MS = 1_500_000
const QUESTIONS = [
  'retry a failed request', 'parse the configuration file', 'close idle connections', 'checksum of a block', 'validate user input',
  'who may read this topic', 'write a snapshot to disk',
]

interface Typed { readonly key: number[], readonly search: number[], readonly hits: number[] }

suite('measure a large workspace', () => {
  let insides: Insides
  suiteSetup(async () => {
    insides = await ctx()
    await until('the index is open and empty', () => insides.session.snapshot.state.kind === 'empty')
    await pause(10_000)
  })

  test('nothing is indexed', async () => {
    const loop = new LoopWatch()
    await pause(IDLE_MS)
    tell('idle', loop.stop())
    const walks = [await plainWalk(roots()), await plainWalk(roots()), await plainWalk(roots())]
    tell('walk', { files: walks[0]?.files, ms: walks.map(({ ms }) => ms) })
  })

  test('the first index', async () => {
    const { session } = insides
    // It follows the index, so it is there when the event loop is watched.
    await vscode.commands.executeCommand('sextant.index.focus')
    const changes: { at: number, what: string }[] = []
    await profiled(process.env['SEXTANT_MEASURE_PROFILE'], async () => {
      const from = performance.now()
      const loop = new LoopWatch()
      const subscription = session.onChange(({ state }) => {
        const what = state.kind === 'indexing' ? `indexing: ${state.progress?.phase ?? ''}` : state.kind
        if (changes.at(-1)?.what !== what) {
          changes.push({ at: performance.now() - from, what })
        }
      })
      await vscode.workspace.getConfiguration('sextant').update('index.startOnOpen', true, vscode.ConfigurationTarget.Workspace)
      await until('the index is there', () => session.snapshot.state.kind === 'ready' && session.snapshot.report !== undefined, INDEX_TIMEOUT_MS)
      subscription.dispose()
      const { report, status } = session.snapshot
      tell('indexing', { loop: loop.stop(), ms: performance.now() - from, changes, report, files: status?.files, chunks: status?.chunks })
    })
  })

  test('search as one types', async () => {
    await pause(2000)
    tell('typing', await type(insides))
  })

  test('keys in the window', async function () {
    if (process.env['SEXTANT_MEASURE_KEYS'] === undefined) {
      this.skip()
    }
    await until('scripts/measure-keys.mjs is done', () => told('keys'), 180_000)
  })
})

/** Presses the keys of the questions one after another, each when the answer to the one before is shown. */
async function type({ session }: Insides): Promise<Typed> {
  const typed = { key: [] as number[], search: [] as number[], hits: [] as number[] }
  let press: ((value: string) => void) | undefined
  let shown: ((items: number) => void) | undefined
  let asked = 0

  // The extension sees this `vscode`, too. The pick is a real one, shown in the window; only its keys come from here, the
  // way VS Code reports them.
  const { createQuickPick } = vscode.window
  const search = session.search.bind(session)
  vscode.window.createQuickPick = <T extends vscode.QuickPickItem>(): vscode.QuickPick<T> => {
    const pick = createQuickPick<T>()
    const { onDidChangeValue } = pick
    const prototype = Object.getPrototypeOf(pick) as object
    assert.ok('items' in prototype, 'items of a quick pick is an accessor')
    Object.defineProperties(pick, {
      onDidChangeValue: { value: (listener: (value: string) => unknown) => {
        press = listener
        return onDidChangeValue(listener)
      } },
      items: {
        get: () => Reflect.get(prototype, 'items', pick) as readonly T[],
        set: (value: readonly T[]) => {
          Reflect.set(prototype, 'items', value, pick)
          shown?.(value.length)
        },
      },
    })
    return pick
  }
  session.search = async (...options) => {
    asked = performance.now()
    return search(...options)
  }
  try {
    for (const question of QUESTIONS) {
      await vscode.commands.executeCommand('sextant.search', '')
      await until('the quick pick listens', () => press !== undefined)
      for (let length = 1; length <= question.length; length += 1) {
        const from = performance.now()
        const items = await new Promise<number>((done) => {
          shown = done
          press?.(question.slice(0, length))
        })
        typed.key.push(performance.now() - from)
        typed.search.push(performance.now() - asked)
        typed.hits.push(items)
        await pause(30)
      }
      shown = undefined
      press = undefined
      await vscode.commands.executeCommand('workbench.action.closeQuickOpen')
      await pause(300)
    }
  } finally {
    vscode.window.createQuickPick = createQuickPick
    Reflect.deleteProperty(session, 'search')
  }
  return typed
}
