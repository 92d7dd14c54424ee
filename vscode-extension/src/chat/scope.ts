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
const isImplicit = ({ id }: { readonly id?: string }): boolean => id?.startsWith('vscode.implicit') === true

/** More than these are no pointing at something; each is read. */
const MOST_REFERENCES = 50

/** `mayShow`: whether a file is one that the index shows, as those are not that hold secrets. */
export async function scopeOf(references: readonly vscode.ChatPromptReference[], mayShow: (uri: vscode.Uri) => Promise<boolean>): Promise<Scope> {
  const pieces = await Promise.all(references.slice(0, MOST_REFERENCES).map((reference) => pieceOf(reference, mayShow)))
  return {
    paths: [...new Set(pieces.flatMap(({ path }) => path ?? []))],
    shown: [...new Set(pieces.flatMap(({ shown }) => shown ?? []))],
    own: pieces.flatMap(({ own }) => own ?? []),
    attachments: pieces.flatMap(({ attachment }) => attachment ?? []),
    code: pieces.find(({ code }) => code !== undefined && code !== '')?.code ?? '',
  }
}

interface Piece {
  readonly path?: string
  readonly shown?: string
  readonly own?: Own
  readonly attachment?: string
  readonly code?: string
}

async function pieceOf(reference: vscode.ChatPromptReference, mayShow: (uri: vscode.Uri) => Promise<boolean>): Promise<Piece> {
  const { value } = reference
  const implicit = isImplicit(reference)
  const { uri, location } = whereOf(value)
  if (uri === undefined) {
    return typeof value === 'string' && value.trim() !== '' && !implicit ? { attachment: `${value}\n` } : {}
  }
  const place = placeOf(uri)
  // A whole folder of the window narrows nothing.
  const narrows = place !== undefined && place.path !== '' && !implicit
  const within: Piece = narrows ? { path: asGlob(uri.fsPath), shown: shownPath(place) } : {}
  // What the user has not pointed at is shown only if it is a selection, and of a file that the index shows.
  if (implicit && (location === undefined || !await mayShow(uri))) {
    return within
  }
  const text = await textOf(uri, location?.range)
  if (text === undefined) {
    return within
  }
  const at: Own = { shown: place === undefined ? uri.path : shownPath(place), lines: location && linesOf(location.range) }
  const lines = at.lines === undefined ? '' : `:${at.lines.first}-${at.lines.last}`
  return { ...within, own: at, attachment: `${at.shown}${lines}\n\n${text.fenced}\n`, code: text.plain }
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
