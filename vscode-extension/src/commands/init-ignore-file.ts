import * as vscode from 'vscode'
import { CodedError } from '../failure'
import { indexableFolders } from '../places'

const TEMPLATE = `# What Sextant leaves out, in the syntax of .gitignore. These rules have the last word:
# "!path" takes back what another rule leaves out.
#
# Left out already: what git ignores, dependencies, build output, lock files, media, logs, and files that usually hold
# secrets. Examples:
#
# /docs/archive/
# *.generated.ts
# !/build/
`

/** Creates `.sextantignore` in a folder, or opens the one that is there. */
export const initIgnoreFile = () => async (): Promise<void> => {
  const folder = await chooseFolder()
  if (folder === undefined) {
    return
  }
  const file = vscode.Uri.joinPath(folder.uri, '.sextantignore')
  if (!await exists(file)) {
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(TEMPLATE))
  }
  await vscode.window.showTextDocument(file, { preview: false })
}

async function chooseFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const [first, ...others] = indexableFolders()
  if (first === undefined) {
    throw new CodedError('NO_FOLDER', 'Open a folder first: .sextantignore belongs to one.')
  }
  return others.length === 0 ? first : vscode.window.showWorkspaceFolderPick({ placeHolder: 'In which folder?' })
}

async function exists(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file)
    return true
  } catch {
    return false
  }
}
