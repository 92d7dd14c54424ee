/** What did the user attach, and to which files does that narrow the search? */

import * as vscode from 'vscode'
import { fenced } from '../hit-text'
import { placeOf, shownPath } from '../places'

export interface Scope {
  /** Path globs; empty for everything. */
  readonly paths: readonly string[]
  /** The same for people. */
  readonly shown: readonly string[]
  /** Attached code, each with its place. */
  readonly attachments: readonly string[]
  /** The first piece of attached code, to search with. */
  readonly code: string
}

/** What VS Code adds by itself, such as the file in front: context, but not what the user pointed at. */
const isImplicit = ({ id }: vscode.ChatPromptReference): boolean => id.startsWith('vscode.implicit')

export async function scopeOf(references: readonly vscode.ChatPromptReference[]): Promise<Scope> {
  const paths: string[] = []
  const shown: string[] = []
  const attachments: string[] = []
  let code = ''
  for (const reference of references) {
    const { value } = reference
    const location = value instanceof vscode.Location ? value : undefined
    const uri = location?.uri ?? (value instanceof vscode.Uri ? value : undefined)
    if (uri === undefined) {
      if (typeof value === 'string' && value.trim() !== '' && !isImplicit(reference)) {
        attachments.push(`${value}\n`)
      }
      continue
    }
    const place = placeOf(uri)
    // A whole folder of the window narrows nothing.
    if (place !== undefined && place.path !== '' && !isImplicit(reference)) {
      paths.push(asGlob(place.path))
      shown.push(shownPath(place))
    }
    const text = await textOf(uri, location?.range)
    if (text !== undefined && (location !== undefined || !isImplicit(reference))) {
      const name = place === undefined ? uri.path : shownPath(place)
      attachments.push(`${name}${location === undefined ? '' : `:${location.range.start.line + 1}-${location.range.end.line + 1}`}\n\n${text.fenced}\n`)
      code ||= text.plain
    }
  }
  return { paths: [...new Set(paths)], shown: [...new Set(shown)], attachments, code }
}

/** A path is a glob that may hold none of its signs. */
export const asGlob = (path: string): string => path.replace(/[*?[\]{}!\\]/g, '?')

async function textOf(uri: vscode.Uri, range: vscode.Range | undefined): Promise<{ plain: string, fenced: string } | undefined> {
  try {
    const document = await vscode.workspace.openTextDocument(uri)
    const plain = document.getText(range)
    return { plain, fenced: fenced(document.languageId, plain) }
  } catch {
    // A folder, or a file that is no text: it still narrows the search.
    return undefined
  }
}
