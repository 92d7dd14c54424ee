import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import type { Ctx } from '../../src/ctx'
import type { Progress } from '../../src/engine'
import { progressNotification } from '../../src/progress'
import type { Session, Snapshot } from '../../src/session'
import { readSettings, type SettingKey } from '../../src/settings'
import { callsOf, until } from './host'

type Task = Parameters<typeof vscode.window.withProgress>[1]

/** A window whose index is as a test says. */
class Window {
  readonly #listeners = new Set<(snapshot: Snapshot) => void>()
  readonly shown: vscode.Disposable
  snapshot: Snapshot = { state: { kind: 'ready' }, status: undefined, report: undefined, updatedAt: undefined, trouble: [] }
  pauses = 0

  constructor(given: Partial<Record<SettingKey, unknown>>) {
    const { settings } = readSettings((key) => given[key])
    const ofSession = (): Snapshot => this.snapshot
    const session = {
      get snapshot() { return ofSession() },
      onChange: (listener: (snapshot: Snapshot) => void) => {
        this.#listeners.add(listener)
        return { dispose: () => this.#listeners.delete(listener) }
      },
      pause: async () => {
        this.pauses += 1
        this.is('paused')
        return Promise.resolve()
      },
    } as unknown as Session
    this.shown = progressNotification({ config: { settings, onDidChange: () => new vscode.Disposable(() => undefined) }, session, log: { error: () => undefined } } as unknown as Ctx)
  }

  is(kind: 'ready' | 'paused' | 'indexing', filesTotal = 60, phase: Progress['phase'] = 'index'): void {
    // Where it is shown, the settings say.
    const progress = { phase, filesDone: 20, filesTotal, currentFile: null, remainingMs: null } as unknown as Progress
    const state: Snapshot['state'] = kind === 'indexing' ? { kind, progress } : { kind }
    this.snapshot = { ...this.snapshot, state }
    this.#listeners.forEach((listener) => { listener(this.snapshot) })
  }
}

suite('progress of a long run', () => {
  const windows: Window[] = []
  const openWindow = (given: Partial<Record<SettingKey, unknown>> = {}): Window => {
    const window = new Window(given)
    windows.push(window)
    return window
  }
  teardown(() => {
    windows.splice(0).forEach((window) => {
      window.is('ready')
      window.shown.dispose()
    })
  })

  /** Each notification is kept, with what VS Code would run in it and a Cancel button. */
  interface Notification { readonly options: vscode.ProgressOptions, readonly cancel: () => void, readonly messages: string[], isOver: boolean }
  const shows = async (body: (notifications: readonly Notification[]) => Promise<void>): Promise<void> => {
    const notifications: Notification[] = []
    const withProgress = async (options: vscode.ProgressOptions, task: Task): Promise<unknown> => {
      const source = new vscode.CancellationTokenSource()
      const notification: Notification = { options, cancel: () => { source.cancel() }, messages: [], isOver: false }
      notifications.push(notification)
      const result = await task({ report: ({ message }: { message?: string }) => { notification.messages.push(message ?? '') } }, source.token)
      notification.isOver = true
      return result
    }
    await callsOf(vscode.window, 'withProgress', withProgress as typeof vscode.window.withProgress, async () => { await body(notifications) })
  }

  /** A run of another window, that begins now and is shown as by default, is; by then an earlier one would have been. */
  const isTheOnlyOne = async (notifications: readonly Notification[]): Promise<void> => {
    openWindow().is('indexing', 99)
    await until('the later run is shown', () => notifications.some(({ messages }) => messages.some((message) => message.includes('20 of 99 files'))))
    assert.equal(notifications.length, 1)
  }

  test('is a notification that can be cancelled, and ends with the run', async () => {
    await shows(async (notifications) => {
      const window = openWindow()
      window.is('indexing')
      const { options } = await until('it is shown', () => notifications[0])
      assert.equal(options.location, vscode.ProgressLocation.Notification)
      assert.equal(options.cancellable, true)
      await until('it says what is done', () => notifications[0]?.messages.some((message) => message.includes('20 of 60 files')))
      window.is('ready')
      await until('it ends', () => notifications[0]?.isOver)
      assert.equal(window.pauses, 0)
    })
  })

  test('of the texts for a service is one of its own, as its bar begins anew', async () => {
    await shows(async (notifications) => {
      const window = openWindow()
      window.is('indexing')
      await until('it is shown', () => notifications[0])
      window.is('indexing', 60, 'commit')
      window.is('indexing', 500, 'embed')
      await until('the second is shown', () => notifications[1]?.messages.some((message) => message.includes('20 of 500 texts')))
      await until('the first ends', () => notifications[0]?.isOver)
      window.is('ready')
      await until('the second ends', () => notifications[1]?.isOver)
      assert.equal(notifications.length, 2)
    })
  })

  test('Cancel pauses the index, and says so with the way back', async () => {
    const said: string[][] = []
    const answer = async (...words: string[]): Promise<string | undefined> => {
      said.push(words)
      return Promise.resolve(words.at(-1))
    }
    await callsOf(vscode.window, 'showInformationMessage', answer as unknown as typeof vscode.window.showInformationMessage, async () => {
      await shows(async (notifications) => {
        const window = openWindow()
        window.is('indexing')
        const { cancel } = await until('it is shown', () => notifications[0])
        const ran: string[] = []
        const run = async (command: string): Promise<unknown> => Promise.resolve(ran.push(command))
        await callsOf(vscode.commands, 'executeCommand', run as typeof vscode.commands.executeCommand, async () => {
          cancel()
          await until('it ends', () => notifications[0]?.isOver)
          await until('it goes on', () => ran.length > 0)
        })
        assert.deepEqual([window.pauses, said, ran], [1, [['Indexing is paused. The last complete index answers.', 'Resume Indexing']], ['sextant.resumeIndexing']])
      })
    })
  })

  for (const [what, given] of [
    ['vectorDb.enableProgressNotifications is off', { 'vectorDb.enableProgressNotifications': false }],
    ['vectorDb.progressLocation is the status bar', { 'vectorDb.progressLocation': 'statusBar' }],
  ] as const) {
    test(`is no notification if ${what}`, async () => {
      await shows(async (notifications) => {
        openWindow(given).is('indexing')
        await isTheOnlyOne(notifications)
      })
    })
  }

  test('of a run that is over at once is not shown', async () => {
    await shows(async (notifications) => {
      const quick = openWindow()
      quick.is('indexing')
      quick.is('ready')
      await isTheOnlyOne(notifications)
    })
  })
})
