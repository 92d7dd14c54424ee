/** Read-only pages in the editor: hits, skipped files. They are text of ours, so nobody is asked to save them. */

import * as vscode from 'vscode'

const SCHEME = 'sextant-page'

export class Pages implements vscode.Disposable, vscode.TextDocumentContentProvider {
  readonly #texts = new Map<string, string>()
  readonly #changed = new vscode.EventEmitter<vscode.Uri>()
  // Before the registration: VS Code listens to what is there at that moment.
  readonly onDidChange = this.#changed.event
  readonly #subscriptions = vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => { if (uri.scheme === SCHEME) { this.#texts.delete(uri.path) } }),
  )

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? ''
  }

  /** Shows a page; one of the same name is replaced. */
  async show(name: string, text: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name.replaceAll('/', ' ')}` })
    this.#texts.set(uri.path, text)
    this.#changed.fire(uri)
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false })
  }

  dispose(): void {
    this.#subscriptions.dispose()
    this.#changed.dispose()
  }
}
