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
  #shown: vscode.TextEditor | undefined
  #timer: NodeJS.Timeout | undefined
  #disposed = false

  show(place: Place): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // A file that is gone, or a newer preview, is no reason to disturb whoever types.
      this.#open(place).catch(() => undefined)
    }, SHOWN_AFTER_MS)
  }

  async accept(place: Place): Promise<void> {
    this.dispose()
    await showPlace(place, { preview: false })
  }

  /** The user chose nothing. */
  async restore(): Promise<void> {
    this.dispose()
    if (this.#shown === undefined) {
      return
    }
    if (this.#before === undefined) {
      const uri = this.#shown.document.uri.toString()
      const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs)
        .filter((tab) => tab.isPreview && tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === uri)
      await vscode.window.tabGroups.close(tabs)
    } else {
      await vscode.window.showTextDocument(this.#before.document, {
        ...(this.#before.viewColumn !== undefined && { viewColumn: this.#before.viewColumn }),
        ...(this.#selection !== undefined && { selection: this.#selection }),
      })
    }
  }

  dispose(): void {
    clearTimeout(this.#timer)
    this.#disposed = true
    this.#highlight.dispose()
  }

  async #open(place: Place): Promise<void> {
    const editor = await showPlace(place, { preview: true, preserveFocus: true })
    const before = this.#shown
    this.#shown = editor
    if (before !== undefined && before !== editor && vscode.window.visibleTextEditors.includes(before)) {
      before.setDecorations(this.#highlight, [])
    }
    if (!this.#disposed) {
      editor.setDecorations(this.#highlight, [rangeOf(place)])
    }
  }
}

/** Opens a file with the cursor at the first line of the place, and the place in the middle, where nothing covers it. */
export async function showPlace(place: Place, options: vscode.TextDocumentShowOptions): Promise<vscode.TextEditor> {
  const range = rangeOf(place)
  const editor = await vscode.window.showTextDocument(uriOf(place), { ...options, selection: new vscode.Range(range.start, range.start) })
  editor.revealRange(range, vscode.TextEditorRevealType.InCenter)
  return editor
}
