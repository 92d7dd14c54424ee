/** The item in the status bar: what the index is doing, and a click for what can be done. */

import * as vscode from 'vscode'
import type { Ctx } from './ctx'
import { statusText, type StatusText } from './status-text'

export function statusBar({ config, session }: Ctx): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('sextant.status', vscode.StatusBarAlignment.Right, 100)
  item.name = 'Sextant index'
  item.command = 'sextant.showActions'
  let told: string | undefined
  const update = (): void => {
    const { kind } = session.snapshot.state
    if (kind !== told) {
      told = kind
      // For the conditions of the manifest.
      void vscode.commands.executeCommand('setContext', 'sextant.state', kind)
    }
    const text = statusText(session.snapshot, config.settings)
    item.text = text.bar
    item.tooltip = new vscode.MarkdownString(text.tooltip, true)
    item.backgroundColor = background(text.level)
    if (text.bar === '') {
      item.hide()
    } else {
      item.show()
    }
  }
  update()
  return vscode.Disposable.from(item, session.onChange(update), config.onDidChange(update))
}

function background(level: StatusText['level']): vscode.ThemeColor | undefined {
  return level === 'normal' ? undefined : new vscode.ThemeColor(`statusBarItem.${level}Background`)
}
