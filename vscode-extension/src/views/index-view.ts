/** The Index view in the side bar: counts, size, model, last update, and what was left out, per folder. */

import * as vscode from 'vscode'
import type { Ctx } from '../ctx'
import type { RootOverview } from '../engine'
import { failureOf } from '../failure'
import { folderOf } from '../places'
import { indexNodes, type IndexNode } from './index-model'

/** It is all counted again at most this often, and only while somebody looks. */
const REFRESH_MS = 400
/** How long ago the last update was changes by itself. */
const MINUTE_MS = 60_000

export class IndexView implements vscode.TreeDataProvider<IndexNode>, vscode.Disposable {
  readonly #ctx: Ctx
  readonly #changed = new vscode.EventEmitter<undefined>()
  // Before the view: VS Code listens to what is there when the view is made.
  readonly onDidChangeTreeData = this.#changed.event
  readonly #view = vscode.window.createTreeView('sextant.index', { treeDataProvider: this })
  readonly #subscriptions: readonly { dispose(): unknown }[]
  readonly #minutes = setInterval(() => { this.#soon() }, MINUTE_MS).unref()
  #timer: NodeJS.Timeout | undefined

  constructor(ctx: Ctx) {
    this.#ctx = ctx
    this.#subscriptions = [
      this.#view,
      this.#changed,
      ctx.session.onChange(() => { this.#soon() }),
      ctx.config.onDidChange(() => { this.#soon() }),
      this.#view.onDidChangeVisibility(() => { this.#soon() }),
    ]
  }

  async getChildren(node?: IndexNode): Promise<IndexNode[]> {
    if (node !== undefined) {
      return [...node.children]
    }
    const { session } = this.#ctx
    return [...indexNodes({
      snapshot: session.snapshot,
      overview: await this.#overview(),
      folderName: (root) => folderOf(root)?.name ?? root,
      now: new Date(),
    })]
  }

  getTreeItem(node: IndexNode): vscode.TreeItem {
    const { None, Collapsed } = vscode.TreeItemCollapsibleState
    const item = new vscode.TreeItem(node.label, node.children.length > 0 ? Collapsed : None)
    item.id = node.id
    item.tooltip = node.tooltip ?? node.label
    item.accessibilityInformation = { label: [node.label, node.description].filter((part) => part !== undefined).join(', ') }
    if (node.description !== undefined) {
      item.description = node.description
    }
    if (node.icon !== undefined) {
      item.iconPath = new vscode.ThemeIcon(node.icon)
    }
    if (node.command !== undefined) {
      item.command = { command: node.command, title: node.label }
    }
    return item
  }

  dispose(): void {
    clearTimeout(this.#timer)
    clearInterval(this.#minutes)
    this.#subscriptions.forEach((subscription) => { subscription.dispose() })
  }

  async #overview(): Promise<readonly RootOverview[]> {
    const { session, log } = this.#ctx
    if (session.snapshot.status === undefined) {
      return []
    }
    try {
      return await (await session.engine()).overview()
    } catch (error) {
      // Before the first index there is nothing to count; the state says what is going on.
      log.debug(`the Index view: ${failureOf(error).message}`)
      return []
    }
  }

  #soon(): void {
    if (this.#view.visible && this.#timer === undefined) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#changed.fire(undefined)
      }, REFRESH_MS)
    }
  }
}
