/** What did the user attach, and to which files does that narrow the search? */

import * as vscode from 'vscode'
import type { Hit } from '../engine'
import { fenced } from '../hit-text'
import { placeOf, shownPath } from '../places'

/** Attached lines; all of a file if there are none. */
export interface Own {
  readonly shown: string
  readonly lines: { readonly first: number, readonly last: number } | undefined
}

export interface Scope {
  /** Absolute path globs; empty for everything. */
  readonly paths: readonly string[]
  /** Where the attached code lies. */
  readonly own: readonly Own[]
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
  const own: Own[] = []
  const attachments: string[] = []
  let code = ''
  for (const reference of references) {
    const { value } = reference
    if (typeof value === 'string' && value.trim() !== '' && !isImplicit(reference)) {
      attachments.push(`${value}\n`)
    }
    const { uri, location } = whereOf(value)
    if (uri === undefined) {
      continue
    }
    const place = placeOf(uri)
    // A whole folder of the window narrows nothing.
    if (place !== undefined && place.path !== '' && !isImplicit(reference)) {
      paths.push(asGlob(uri.fsPath))
      shown.push(shownPath(place))
    }
    const text = location === undefined && isImplicit(reference) ? undefined : await textOf(uri, location?.range)
    if (text !== undefined) {
      const at: Own = { shown: place === undefined ? uri.path : shownPath(place), lines: location && linesOf(location.range) }
      attachments.push(`${at.shown}${at.lines === undefined ? '' : `:${at.lines.first}-${at.lines.last}`}\n\n${text.fenced}\n`)
      code ||= text.plain
      own.push(at)
    }
  }
  return { paths: [...new Set(paths)], shown: [...new Set(shown)], own, attachments, code }
}

function whereOf(value: unknown): { uri: vscode.Uri | undefined, location: vscode.Location | undefined } {
  const location = value instanceof vscode.Location ? value : undefined
  return { uri: location?.uri ?? (value instanceof vscode.Uri ? value : undefined), location }
}

const linesOf = ({ start, end }: vscode.Range): NonNullable<Own['lines']> => ({ first: start.line + 1, last: end.line + 1 })

export const overlaps = (own: Own, hit: Pick<Hit, 'root' | 'path' | 'startLine' | 'endLine'>): boolean =>
  own.shown === shownPath(hit) && (own.lines === undefined || own.lines.first <= hit.endLine && own.lines.last >= hit.startLine)

/** A path is a glob that may hold none of its signs. On Windows a backslash is no sign, but stands between folders. */
export const asGlob = (path: string): string => path.replaceAll('\\', process.platform === 'win32' ? '/' : '?').replace(/[*?[\]{}!]/g, '?')

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
