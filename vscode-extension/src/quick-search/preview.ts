/** Shows a hit in the editor while the quick pick keeps the keyboard, and puts back what was there before. */

import * as vscode from 'vscode'
import { rangeOf, uriOf, type Place } from '../places'

const SHOWN_AFTER_MS = 60

export class Preview implements vscode.Disposable {
  readonly #highlight = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('editor.rangeHighlightBackground'),
  })
  readonly #before = vscode.window.activeTextEditor
  readonly #selection = vscode.window.activeTextEditor?.selection
  readonly #tabsBefore = new Set(textTabs().map(keyOf))
  #shown: vscode.TextEditor | undefined
  #timer: NodeJS.Timeout | undefined
  /** The preview that is being opened. */
  #opening: Promise<void> = Promise.resolve()
  #disposed = false

  show(place: Place): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // A file that is gone is no reason to disturb whoever types.
      this.#opening = this.#opening.then(() => this.#open(place)).catch(() => undefined)
    }, SHOWN_AFTER_MS)
  }

  async accept(place: Place): Promise<void> {
    this.dispose()
    await this.#opening
    await showPlace(place, { preview: false })
  }

  /** The user chose nothing: the editors are what they were. */
  async restore(): Promise<void> {
    this.dispose()
    await this.#opening
    if (this.#shown === undefined) {
      return
    }
    if (this.#before !== undefined) {
      await vscode.window.showTextDocument(this.#before.document, {
        ...(this.#before.viewColumn !== undefined && { viewColumn: this.#before.viewColumn }),
        ...(this.#selection !== undefined && { selection: this.#selection }),
        preview: this.#wasPreview(),
      })
    }
    await vscode.window.tabGroups.close(textTabs().filter((tab) => tab.isPreview && !this.#tabsBefore.has(keyOf(tab))), true)
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.#disposed = true
    this.#highlight.dispose()
  }

  /** The user has chosen or left, perhaps while a file was being opened. */
  #isOver(): boolean {
    return this.#disposed
  }

  /** Whether the document before is gone from the tabs, because a preview took its place. */
  #wasPreview(): boolean {
    const uri = this.#before?.document.uri.toString()
    return !textTabs().some((tab) => !tab.isPreview && (tab.input as vscode.TabInputText).uri.toString() === uri)
  }

  async #open(place: Place): Promise<void> {
    if (this.#isOver()) {
      return
    }
    const editor = await showPlace(place, { preview: true, preserveFocus: true })
    const before = this.#shown
    this.#shown = editor
    if (before !== undefined && before !== editor && vscode.window.visibleTextEditors.includes(before)) {
      before.setDecorations(this.#highlight, [])
    }
    if (!this.#isOver()) {
      editor.setDecorations(this.#highlight, [rangeOf(place)])
    }
  }
}

const textTabs = (): vscode.Tab[] => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ input }) => input instanceof vscode.TabInputText)
const keyOf = (tab: vscode.Tab): string => `${tab.group.viewColumn} ${(tab.input as vscode.TabInputText).uri.toString()}`

/** Opens a file with the cursor at the first line of the place, and the place in the middle, where nothing covers it. */
export async function showPlace(place: Place, options: vscode.TextDocumentShowOptions): Promise<vscode.TextEditor> {
  const range = rangeOf(place)
  const editor = await vscode.window.showTextDocument(uriOf(place), { ...options, selection: new vscode.Range(range.start, range.start) })
  editor.revealRange(range, vscode.TextEditorRevealType.InCenter)
  return editor
}
