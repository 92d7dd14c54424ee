import * as vscode from 'vscode'

/** Opens the chat with a question for `@workspace`, ready to be sent; without one, with the name alone. */
export const askInChat = () => async (question?: unknown): Promise<void> => {
  const query = `@workspace ${typeof question === 'string' ? question : ''}`
  await vscode.commands.executeCommand('workbench.action.chat.open', { query, isPartialQuery: true })
}
