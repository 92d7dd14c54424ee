import * as vscode from 'vscode'
import { actionsFor } from '../actions'
import type { Ctx } from '../ctx'
import { stateLine } from '../status-text'

/** What a click on the status bar offers. */
export const showActions = ({ session }: Ctx) => async (): Promise<void> => {
  // Another window may have paused or cleared the index meanwhile.
  await session.refresh()
  const { state, status } = session.snapshot
  const picked = await vscode.window.showQuickPick(
    actionsFor(state).map(({ icon, label, command }) => ({ label: `$(${icon}) ${label}`, command })),
    { title: 'Sextant', placeHolder: stateLine(state, status) },
  )
  if (picked !== undefined) {
    await vscode.commands.executeCommand(picked.command.id, ...picked.command.args)
  }
}
