/** Where in the editor is a hit? Folders of the window on one side, roots and relative paths of the engine on the other. */

import { realpathSync } from 'node:fs'
import { dirname, relative, isAbsolute } from 'node:path'
import * as vscode from 'vscode'
import type { Hit } from './engine'

export type Place = Pick<Hit, 'root' | 'path' | 'startLine' | 'endLine'>

/** The folders that have files on this machine; others, such as those of a web service, cannot be indexed. */
export const indexableFolders = (): readonly vscode.WorkspaceFolder[] =>
  (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file')

export function folderOf(root: string): vscode.WorkspaceFolder | undefined {
  return indexableFolders().find(({ uri }) => samePath(uri.fsPath, root) || samePath(realPath(uri.fsPath), root))
}

export function uriOf(place: Pick<Place, 'root' | 'path'>): vscode.Uri {
  return vscode.Uri.joinPath(folderOf(place.root)?.uri ?? vscode.Uri.file(place.root), place.path)
}

/** Lines as the editor counts them, from 0, up to the end of the last. */
export function rangeOf({ startLine, endLine }: Pick<Place, 'startLine' | 'endLine'>): vscode.Range {
  return new vscode.Range(startLine - 1, 0, endLine - 1, Number.MAX_SAFE_INTEGER)
}

export const locationOf = (place: Place): vscode.Location => new vscode.Location(uriOf(place), rangeOf(place))

/** What a folder is called beside the others: its name, or where it lies if another has the same. */
export function nameOf(folder: vscode.WorkspaceFolder): string {
  const isUnique = indexableFolders().every(({ name, uri }) => name !== folder.name || uri.toString() === folder.uri.toString())
  return isUnique ? folder.name : folder.uri.fsPath.replaceAll('\\', '/')
}

/** The path as people say it: with the folder's name in front if there are several. */
export function shownPath({ root, path }: Pick<Place, 'root' | 'path'>): string {
  const folder = folderOf(root)
  return indexableFolders().length > 1 ? `${folder === undefined ? root : nameOf(folder)}/${path}` : path
}

/** The other way round: the root and path of a file, if it is in one of the folders. */
export function placeOf(uri: vscode.Uri): { root: string, path: string } | undefined {
  const folder = uri.scheme === 'file' ? vscode.workspace.getWorkspaceFolder(uri) : undefined
  if (folder === undefined) {
    return undefined
  }
  const path = uri.path.slice(folder.uri.path.length).replace(/^\//, '')
  return { root: folder.uri.fsPath, path }
}

/** Finds the file that a person or a model means by a path: as shown, relative to a folder, or absolute. */
export async function resolvePath(path: string): Promise<vscode.Uri | undefined> {
  const clean = path.replaceAll('\\', '/').replace(/^\.\//, '')
  const folders = indexableFolders()
  const named = folders.filter((folder) => clean.startsWith(`${nameOf(folder)}/`))
    .map((folder) => vscode.Uri.joinPath(folder.uri, clean.slice(nameOf(folder).length + 1)))
  const relative = folders.map((folder) => vscode.Uri.joinPath(folder.uri, clean))
  const absolute = clean.startsWith('/') || /^[A-Za-z]:\//.test(clean) ? [vscode.Uri.file(clean)] : []
  // With several folders their names come first in what is shown, so they do here.
  const ordered = folders.length > 1 ? [...named, ...relative] : [...relative, ...named]
  for (const uri of [...absolute, ...ordered]) {
    if (vscode.workspace.getWorkspaceFolder(uri) !== undefined && await isFile(uri)) {
      return uri
    }
  }
  return undefined
}

async function isFile(uri: vscode.Uri): Promise<boolean> {
  try {
    return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.File) !== 0
  } catch {
    return false
  }
}

const realPaths = new Map<string, string>()

/** Without links. Each is looked up once: hits ask for the same few folders again and again. */
function realPath(path: string): string {
  const known = realPaths.get(path)
  if (known !== undefined) {
    return known
  }
  try {
    const real = realpathSync.native(path)
    realPaths.set(path, real)
    return real
  } catch {
    return path
  }
}

/**
 * The storage that VS Code gives a workspace, unless it lies within one of its folders, as the whole home folder: the
 * engine then keeps its database where it leaves it out of the index.
 */
export function storageOutside(storage: string | undefined, roots: readonly string[]): string | undefined {
  return storage === undefined || roots.some((root) => isWithin(realPlace(storage), realPath(root))) ? undefined : storage
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return !isAbsolute(way) && way.split(/[\\/]/)[0] !== '..'
}

/** As [`realPath`], of something that may not be there yet. */
function realPlace(path: string): string {
  const real = realPath(path)
  const parent = dirname(path)
  return real !== path || parent === path ? real : path.replace(parent, realPlace(parent))
}

const samePath = (left: string, right: string): boolean =>
  process.platform === 'linux' ? left === right : left.toLowerCase() === right.toLowerCase()
