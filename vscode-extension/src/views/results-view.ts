/** The hits of the last search that was kept, in the side bar. They stay until the next search or until cleared. */

import * as vscode from 'vscode'
import type { Hit } from '../engine'
import { fenced, firstLine, iconOf, title } from '../hit-text'
import { locationOf, shownPath } from '../places'
import { count } from '../status-text'

export class ResultsView implements vscode.TreeDataProvider<Hit>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>()
  // Before the view: VS Code listens to what is there when the view is made.
  readonly onDidChangeTreeData = this.#changed.event
  readonly #view = vscode.window.createTreeView('sextant.results', { treeDataProvider: this })
  #query: string | undefined
  #hits: readonly Hit[] = []

  get query(): string | undefined { return this.#query }
  get hits(): readonly Hit[] { return this.#hits }

  show(query: string, hits: readonly Hit[]): void {
    this.#query = query
    this.#hits = hits
    this.#view.description = count(hits.length, 'hit')
    this.#view.message = `“${query}”`
    this.#update()
  }

  clear(): void {
    this.#query = undefined
    this.#hits = []
    this.#view.description = ''
    delete this.#view.message
    this.#update()
  }

  getChildren(hit?: Hit): Hit[] {
    return hit === undefined ? [...this.#hits] : []
  }

  getTreeItem(hit: Hit): vscode.TreeItem {
    const item = new vscode.TreeItem(title(hit))
    item.description = `${shownPath(hit)}:${hit.startLine}`
    item.iconPath = new vscode.ThemeIcon(iconOf(hit.kind))
    item.tooltip = new vscode.MarkdownString(`${shownPath(hit)}:${hit.startLine}-${hit.endLine}\n\n${fenced(hit.language, hit.text)}`)
    item.accessibilityInformation = { label: `${title(hit)}, ${shownPath(hit)}, line ${hit.startLine}, ${firstLine(hit.text) ?? ''}` }
    item.resourceUri = locationOf(hit).uri
    item.contextValue = 'sextant.hit'
    item.command = { command: 'sextant.openHit', title: 'Open', arguments: [hit] }
    return item
  }

  dispose(): void {
    this.#view.dispose()
    this.#changed.dispose()
  }

  #update(): void {
    this.#changed.fire(undefined)
    void vscode.commands.executeCommand('setContext', 'sextant.hasResults', this.#query !== undefined)
  }
}
