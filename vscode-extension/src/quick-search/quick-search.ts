/** Search as you type: a quick pick that asks the index at every key stroke. */

import * as vscode from 'vscode'
import { remedyOf } from '../actions'
import type { Ctx } from '../ctx'
import type { SearchResponse } from '../engine'
import { failureOf, friendly, isCancelled } from '../failure'
import { Latest } from '../latest'
import { shownPath } from '../places'
import type { IndexState } from '../session'
import { stateLine } from '../status-text'
import { hitItem, messageItem, type Item } from './items'
import { Preview, showPlace } from './preview'

/** The index here answers faster than anybody types: no more than what comes all at once, as from a held key, is skipped. */
const DEBOUNCE_MS = 15
/** A service is asked when the fingers rest: it counts each question, and may charge for it. */
const SERVICE_DEBOUNCE_MS = 250

const OPEN_ALL: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('go-to-file'), tooltip: 'Open all hits in an editor' }
const COPY: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('copy'), tooltip: 'Copy all hits as context' }
const KEEP: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('list-unordered'), tooltip: 'Keep the hits in the side bar' }
const TO_THE_SIDE: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('split-horizontal'), tooltip: 'Open to the Side' }

let lastQuery = ''

export const searchCodebase = (ctx: Ctx) => async (query?: unknown): Promise<void> => {
  await ctx.session.engine()
  const pick = vscode.window.createQuickPick<Item>()
  pick.title = 'Search by meaning'
  pick.placeholder = 'What are you looking for? Ask in your own words.'
  pick.buttons = [OPEN_ALL, COPY, KEEP]
  // The index has ranked the hits; the quick pick would sort them by the letters of their labels.
  Object.assign(pick, { sortByLabel: false })
  new QuickSearch(ctx, pick).show(typeof query === 'string' ? query : lastQuery)
}

class QuickSearch {
  readonly #ctx: Ctx
  readonly #pick: vscode.QuickPick<Item>
  readonly #preview = new Preview()
  readonly #searches: Latest<SearchResponse>
  readonly #subscriptions: readonly { dispose(): unknown }[]
  #answer: SearchResponse | undefined
  #accepted = false
  /** Somebody typed before there was an index. */
  #waiting = false

  constructor(ctx: Ctx, pick: vscode.QuickPick<Item>) {
    this.#ctx = ctx
    this.#pick = pick
    this.#searches = new Latest(() => this.#debounceMs(), (answer) => { this.#showAnswer(answer) }, (error) => { this.#showError(error) })
    this.#subscriptions = [
      pick,
      this.#preview,
      pick.onDidChangeValue((value) => { this.#ask(value) }),
      pick.onDidChangeActive(([item]) => { if (item?.hit) { this.#preview.show(item.hit) } }),
      pick.onDidAccept(() => { this.#try(this.#accept()) }),
      pick.onDidTriggerItemButton(({ item }) => { this.#try(this.#openBeside(item)) }),
      pick.onDidTriggerButton((button) => { this.#try(this.#press(button)) }),
      pick.onDidHide(() => { this.#try(this.#hidden()) }),
      // The first index may become ready while somebody waits.
      ctx.session.onChange(({ state }) => { this.#stateChanged(state) }),
    ]
  }

  show(query: string): void {
    this.#pick.value = query
    this.#pick.show()
    this.#ask(query)
  }

  #ask(value: string): void {
    this.#waiting = false
    const query = value.trim()
    lastQuery = value
    if (query === '') {
      this.#searches.cancel()
      this.#answer = undefined
      this.#pick.busy = false
      this.#pick.items = []
      return
    }
    this.#pick.busy = true
    const { session } = this.#ctx
    const { kind } = session.snapshot.state
    // The first index is waited for, not built once more.
    const options = { query, sync: kind === 'ready' || kind === 'failed' }
    this.#searches.run((signal) => session.search(options, signal))
  }

  #debounceMs(): number {
    return this.#ctx.config.settings['vectorDb.embeddingModel'] === 'embedded' ? DEBOUNCE_MS : SERVICE_DEBOUNCE_MS
  }

  #showAnswer(answer: SearchResponse): void {
    this.#answer = answer
    this.#pick.busy = false
    this.#pick.items = answer.hits.length > 0
      ? answer.hits.map((hit) => hitItem(hit, shownPath, [TO_THE_SIDE]))
      : [messageItem('Nothing found', 'Other words may help; names of functions or files work too.')]
  }

  #showError(error: unknown): void {
    this.#answer = undefined
    this.#pick.busy = false
    if (isCancelled(error)) {
      return
    }
    const { state } = this.#ctx.session.snapshot
    const failure = failureOf(error)
    this.#waiting = failure.code === 'INDEX_NOT_BUILT' && this.#isComing(state)
    if (this.#waiting) {
      this.#stateChanged(state)
    } else {
      this.#pick.items = [messageItem('No answer', friendly(failure), remedyOf(failure.code))]
    }
  }

  /** While there is no index, whoever asked is shown how it comes along, and answered as soon as it can be searched. */
  #stateChanged(state: IndexState): void {
    if (!this.#waiting) {
      return
    }
    const isBuilt = state.kind === 'indexing' && state.progress?.phase === 'embed'
    if (state.kind === 'ready' || isBuilt) {
      this.#waiting = false
      this.#ask(this.#pick.value)
      return
    }
    const isComing = this.#isComing(state)
    this.#pick.busy = isComing
    const code = state.kind === 'paused' ? 'INDEX_PAUSED' : state.kind === 'failed' ? state.failure.code : 'INDEX_CLEARED'
    const line = stateLine(state, undefined)
    this.#pick.items = [isComing ? messageItem('The first index is being built', line) : messageItem('There is no index yet', line, remedyOf(code))]
  }

  /** Whether a state leads to an index by itself. */
  #isComing({ kind }: IndexState): boolean {
    return kind === 'opening' || kind === 'indexing' || kind === 'empty' && this.#ctx.config.settings['index.startOnOpen']
  }

  async #accept(): Promise<void> {
    const { hit, action } = this.#pick.activeItems[0] ?? {}
    if (hit !== undefined) {
      this.#accepted = true
      this.#keep()
      this.#pick.hide()
      await this.#preview.accept(hit)
    } else if (action !== undefined) {
      this.#pick.hide()
      await vscode.commands.executeCommand(action.command.id, ...action.command.args)
    }
  }

  async #openBeside({ hit }: Item): Promise<void> {
    if (hit !== undefined) {
      this.#accepted = true
      this.#keep()
      this.#pick.hide()
      await this.#preview.restore()
      await showPlace(hit, { preview: false, viewColumn: vscode.ViewColumn.Beside })
    }
  }

  async #press(button: vscode.QuickInputButton): Promise<void> {
    if (this.#answer === undefined) {
      return
    }
    this.#accepted = button !== COPY
    this.#keep()
    this.#pick.hide()
    const command = button === OPEN_ALL ? 'sextant.openResults' : button === COPY ? 'sextant.copyResults' : 'sextant.results.focus'
    await vscode.commands.executeCommand(command)
  }

  /** What fails, such as a file that is gone meanwhile, is said. */
  #try(step: Promise<void>): void {
    step.catch((error: unknown) => {
      const failure = failureOf(error)
      this.#ctx.log.warn(`search: ${failure.code}: ${failure.message}`)
      void vscode.window.showErrorMessage(friendly(failure))
    })
  }

  #keep(): void {
    if (this.#answer !== undefined) {
      this.#ctx.results.show(this.#answer.query, this.#answer.hits)
    }
  }

  async #hidden(): Promise<void> {
    this.#searches.cancel()
    this.#subscriptions.forEach((subscription) => { subscription.dispose() })
    if (!this.#accepted) {
      await this.#preview.restore()
    }
  }
}
