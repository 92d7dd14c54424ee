/** What does the Index view show? Pure. */

import type { IndexedFile, SkippedPath } from '../engine'
import type { Snapshot } from '../session'
import { bySkipReason } from '../skipped-page'
import { bytes, count, notesOf, number, stateLine } from '../status-text'

export interface IndexNode {
  readonly id: string
  readonly label: string
  readonly description?: string
  readonly icon?: string
  readonly tooltip?: string
  readonly command?: string
  readonly children: readonly IndexNode[]
}

export interface IndexFacts {
  readonly snapshot: Snapshot
  readonly files: readonly IndexedFile[]
  readonly skipped: readonly SkippedPath[]
  readonly folderName: (root: string) => string
}

/** More than these in one group are counted, not listed; the page of skipped files has them all. */
const MOST_PATHS = 100

const PENDING = 'The embedding service has not made these vectors yet. Until then these texts are found by words.'

export function indexNodes({ snapshot, files, skipped, folderName }: IndexFacts): readonly IndexNode[] {
  const { state, status, report, updatedAt } = snapshot
  const pending = report?.textsPending ?? 0
  const stateNode = leaf('state', stateLine(state, status), { icon: state.kind === 'failed' ? 'error' : 'pulse' })
  if (status === undefined) {
    return [stateNode]
  }
  return [
    stateNode,
    leaf('files', 'Files', { description: number(status.files), icon: 'files' }),
    leaf('chunks', 'Chunks', { description: number(status.chunks), icon: 'list-flat' }),
    leaf('size', 'Size on disk', { description: bytes(status.databaseBytes), icon: 'database', tooltip: status.storage }),
    leaf('model', 'Model', { description: status.model, icon: 'circuit-board' }),
    ...(pending > 0 ? [leaf('pending', 'Waiting for a vector', { description: count(pending, 'text'), icon: 'watch', tooltip: PENDING })] : []),
    leaf('updated', 'Last update', { description: updatedAt === undefined ? 'before this window' : updatedAt.toLocaleTimeString(), icon: 'history' }),
    ...status.roots.map((root) => folderNode(root, folderName(root), files, skipped)),
    ...notesOf(snapshot).map((note, place) => leaf(`note${place}`, note, { icon: 'warning', tooltip: note })),
  ]
}

function folderNode(root: string, name: string, allFiles: readonly IndexedFile[], allSkipped: readonly SkippedPath[]): IndexNode {
  const files = allFiles.filter((file) => file.root === root)
  const skipped = allSkipped.filter((path) => path.root === root)
  const languages = new Map<string, number>()
  files.forEach(({ language }) => languages.set(language, (languages.get(language) ?? 0) + 1))
  const languageNodes = [...languages].sort(([, left], [, right]) => right - left)
    .map(([language, n]) => leaf(`${root}\0language\0${language}`, language, { description: count(n, 'file'), icon: 'code' }))
  return {
    id: `${root}\0`,
    label: name,
    description: count(files.length, 'file'),
    icon: 'root-folder',
    tooltip: root,
    children: [
      { id: `${root}\0languages`, label: 'Languages', description: String(languages.size), icon: 'symbol-namespace', children: languageNodes },
      {
        id: `${root}\0skipped`,
        label: 'Skipped',
        description: count(skipped.length, 'path'),
        icon: 'eye-closed',
        children: bySkipReason(skipped).map(({ reason, paths }) => reasonNode(root, reason, paths)),
      },
    ],
  }
}

function reasonNode(root: string, reason: string, paths: readonly SkippedPath[]): IndexNode {
  const id = `${root}\0skipped\0${reason}`
  const more = paths.length - MOST_PATHS
  return {
    id,
    label: reason,
    description: String(paths.length),
    tooltip: reason,
    children: [
      ...paths.slice(0, MOST_PATHS).map(({ path }) => leaf(`${id}\0${path}`, path, { icon: 'file' })),
      ...(more > 0 ? [leaf(`${id}\0more`, `${count(more, 'more path')}…`, { command: 'sextant.showSkippedFiles' })] : []),
    ],
  }
}

function leaf(id: string, label: string, rest: Omit<IndexNode, 'id' | 'label' | 'children'> = {}): IndexNode {
  return { id, label, ...rest, children: [] }
}
