/** What does the Index view show? Pure. */

import type { RootOverview, SkippedReason } from '../engine'
import type { Snapshot } from '../session'
import { bytes, count, notesOf, number, sinceText, stateLine } from '../status-text'

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
  /** Empty before the first index. */
  readonly overview: readonly RootOverview[]
  readonly folderName: (root: string) => string
  readonly now: Date
}

const PENDING = 'The embedding service has not made these vectors yet. Until then these texts are found by words.'

export function indexNodes({ snapshot, overview, folderName, now }: IndexFacts): readonly IndexNode[] {
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
    leaf('updated', 'Last update', { description: updatedAt === undefined ? 'before this window' : sinceText(updatedAt, now), icon: 'history' }),
    ...overview.map((folder) => folderNode(folder, folderName(folder.root))),
    ...notesOf(snapshot).map((note, place) => leaf(`note${place}`, note, { icon: 'warning', tooltip: note })),
  ]
}

function folderNode({ root, files, languages, skipped }: RootOverview, name: string): IndexNode {
  return {
    id: `${root}\0`,
    label: name,
    description: count(files, 'file'),
    icon: 'root-folder',
    tooltip: root,
    children: [
      {
        id: `${root}\0languages`,
        label: 'Languages',
        description: String(languages.length),
        icon: 'symbol-namespace',
        children: languages.map(({ language, files: n }) => leaf(`${root}\0language\0${language}`, language, { description: count(n, 'file'), icon: 'code' })),
      },
      {
        id: `${root}\0skipped`,
        label: 'Skipped',
        description: count(skipped.reduce((sum, { paths }) => sum + paths, 0), 'path'),
        icon: 'eye-closed',
        children: skipped.map((group) => reasonNode(root, group)),
      },
    ],
  }
}

/** The page of skipped files has those that are only counted here. */
function reasonNode(root: string, { reason, paths, firstPaths }: SkippedReason): IndexNode {
  const id = `${root}\0skipped\0${reason}`
  const more = paths - firstPaths.length
  return {
    id,
    label: reason,
    description: number(paths),
    tooltip: reason,
    children: [
      ...firstPaths.map((path) => leaf(`${id}\0${path}`, path, { icon: 'file' })),
      ...(more > 0 ? [leaf(`${id}\0more`, `${count(more, 'more path')}…`, { command: 'sextant.showSkippedFiles' })] : []),
    ],
  }
}

function leaf(id: string, label: string, rest: Omit<IndexNode, 'id' | 'label' | 'children'> = {}): IndexNode {
  return { id, label, ...rest, children: [] }
}
