import * as vscode from 'vscode'
import type { Ctx } from '../ctx'

/** Removes the index. Nothing of the user's is lost, so nobody is asked first; a button builds it again. */
export const clearIndex = ({ session, results }: Ctx) => async (): Promise<void> => {
  await session.clear()
  results.clear()
  void vscode.window.showInformationMessage('The index was cleared. Searching waits until it is built again.', 'Build It Again').then((button) => {
    if (button !== undefined) {
      void vscode.commands.executeCommand('sextant.indexWorkspace')
    }
  })
}
