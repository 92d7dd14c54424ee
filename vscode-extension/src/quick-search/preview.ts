/** Shows a hit in the editor while the quick pick keeps the keyboard, and puts back what was there before. */

import * as vscode from 'vscode'
import { rangeOf, uriOf, type Place } from '../places'

const SHOWN_AFTER_MS = 60

export class Preview implements vscode.Disposable {
  readonly #before = vscode.window.activeTextEditor
  readonly #selection = vscode.window.activeTextEditor?.selection
  #shown: vscode.TextEditor | undefined
  #timer: NodeJS.Timeout | undefined

  show(place: Place): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // A file that is gone, or a newer preview, is no reason to disturb whoever types.
      this.#open(place, true).catch(() => undefined)
    }, SHOWN_AFTER_MS)
  }

  async accept(place: Place): Promise<void> {
    this.dispose()
    await this.#open(place, false)
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
  }

  async #open(place: Place, preserveFocus: boolean): Promise<void> {
    const options = { preview: preserveFocus, preserveFocus, selection: rangeOf(place) }
    this.#shown = await vscode.window.showTextDocument(uriOf(place), options)
  }
}
