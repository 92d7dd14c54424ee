import * as vscode from 'vscode'
import type { Ctx } from '../ctx'
import { diagnostics } from '../diagnostics'

interface Manifest { readonly version: string }

/** Puts onto the clipboard what helps to find out what is wrong. */
export const copyDiagnostics = ({ context, config, session }: Ctx) => async (): Promise<void> => {
  await session.refresh()
  const { version } = context.extension.packageJSON as Manifest
  await vscode.env.clipboard.writeText(diagnostics({
    versions: { sextant: version, editor: `${vscode.env.appName} ${vscode.version}`, node: process.versions.node },
    machine: `${process.platform}-${process.arch}`,
    trusted: vscode.workspace.isTrusted,
    remote: vscode.env.remoteName !== undefined,
    snapshot: session.snapshot,
    settings: config.settings,
  }))
  void vscode.window.showInformationMessage('Diagnostics are on the clipboard. They hold no code, no paths and no keys.')
}
