import * as vscode from 'vscode'
import type { Ctx } from '../ctx'
import { PROVIDERS, type Provider } from '../keys'

const NAMES: Readonly<Record<Provider, string>> = { openai: 'OpenAI', gemini: 'Google Gemini', local: 'Local server' }

/** Stores the key of an embedding service in the editor's secret storage; an empty one removes it. */
export const setApiKey = ({ keys }: Ctx) => async (): Promise<void> => {
  const picked = await vscode.window.showQuickPick(
    PROVIDERS.map((provider) => ({ label: NAMES[provider], provider })),
    { placeHolder: 'Whose key? The embedded model needs none.' },
  )
  if (picked === undefined) {
    return
  }
  const key = await vscode.window.showInputBox({
    title: `Key for ${picked.label}`,
    prompt: 'Kept in the secret storage of the editor. Leave it empty to remove the key.',
    password: true,
    ignoreFocusOut: true,
  })
  if (key !== undefined) {
    await keys.set(picked.provider, key.trim())
    void vscode.window.showInformationMessage(key.trim() === '' ? `The key for ${picked.label} was removed.` : `The key for ${picked.label} is stored.`)
  }
}
