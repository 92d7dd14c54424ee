/** What do the status bar and the Index view say about the index? Pure. */

import type { Progress, Status } from './engine'
import { assertNever, friendly } from './failure'
import type { IndexState, Snapshot } from './session'
import type { Settings } from './settings'

export interface StatusText {
  /** With an icon in front; empty if nothing is to be shown. */
  readonly bar: string
  /** Markdown. */
  readonly tooltip: string
  readonly level: 'normal' | 'warning' | 'error'
}

export function statusText(snapshot: Snapshot, settings: Settings): StatusText {
  const { state, status } = snapshot
  const line = stateLine(state, status)
  const notes = notesOf(snapshot)
  const tooltip = [`**Sextant** · ${line}`, ...notes.map((note) => `$(warning) ${note}`), 'Click for actions.'].join('\n\n')
  return { bar: bar(state, settings), tooltip, level: state.kind === 'failed' ? 'error' : notes.length > 0 ? 'warning' : 'normal' }
}

function bar(state: IndexState, settings: Settings): string {
  switch (state.kind) {
    case 'off':
      return ''
    case 'opening':
      return '$(sync~spin) Sextant'
    case 'indexing': {
      const percent = percentOf(state)
      const shown = progressPlace(state, settings) === 'statusBar' && percent !== undefined
      return `$(sync~spin) Sextant${shown ? ` ${percent} %` : ''}`
    }
    case 'ready':
      return '$(check) Sextant'
    case 'empty':
      return '$(circle-outline) Sextant: no index'
    case 'paused':
      return '$(debug-pause) Sextant: paused'
    case 'cleared':
      return '$(circle-slash) Sextant: cleared'
    case 'failed':
      return '$(error) Sextant'
    default:
      return assertNever(state)
  }
}

export function stateLine(state: IndexState, status: Status | undefined): string {
  switch (state.kind) {
    case 'off':
      return 'No folder is open'
    case 'opening':
      return 'Opening the index'
    case 'indexing':
      return progressLine(state)
    case 'ready':
      return `Ready: ${count(status?.files ?? 0, 'file')}, ${count(status?.chunks ?? 0, 'chunk')}`
    case 'empty':
      return 'No index yet'
    case 'paused':
      return 'Indexing is paused; the last complete index answers'
    case 'cleared':
      return 'The index was cleared'
    case 'failed':
      return friendly(state.failure)
    default:
      return assertNever(state)
  }
}

export function progressLine({ progress }: Extract<IndexState, { kind: 'indexing' }>): string {
  if (progress === undefined || progress.phase === 'walk') {
    return 'Looking for files'
  }
  const what = progress.phase === 'embed' ? 'text' : 'file'
  const of = progress.filesTotal > 0 ? `${number(progress.filesDone)} of ${count(progress.filesTotal, what)}` : count(progress.filesDone, what)
  return `${PHASES[progress.phase]}: ${of}${remaining(progress.remainingMs)}`
}

const PHASES: Readonly<Record<Exclude<Progress['phase'], 'walk'>, string>> = {
  index: 'Indexing',
  commit: 'Writing the index',
  embed: 'Waiting for the embedding service',
}

/** Where progress is to be shown: the engine tells where its settings want it. */
export function progressPlace({ progress }: Extract<IndexState, { kind: 'indexing' }>, settings: Settings): Progress['location'] | undefined {
  return settings['vectorDb.enableProgressNotifications'] ? progress?.location ?? settings['vectorDb.progressLocation'] : undefined
}

/** What makes the index less than complete, each once. */
export function notesOf({ status, report, trouble }: Snapshot): readonly string[] {
  return [...new Set([...trouble, ...[...status?.degraded ?? [], ...report?.degraded ?? []].map(({ message }) => message)])]
}

/** Whole percent of the files of the phase that takes the time. */
export function percentOf({ progress }: Extract<IndexState, { kind: 'indexing' }>): number | undefined {
  if (progress === undefined || progress.phase === 'walk' || progress.filesTotal === 0) {
    return undefined
  }
  return progress.phase === 'commit' ? 100 : Math.floor(100 * progress.filesDone / progress.filesTotal)
}

function remaining(milliseconds: number | null): string {
  if (milliseconds === null || milliseconds < 2000) {
    return ''
  }
  const seconds = Math.round(milliseconds / 1000)
  return seconds < 90 ? `, about ${seconds} s left` : `, about ${Math.round(seconds / 60)} min left`
}

/** The name of the model alone: that of a service has its address behind it, which is for the owner's eyes. */
export const modelName = ({ model }: Pick<Status, 'model'>): string => model.split(' at ')[0] ?? model

/** With commas, as in English. The platform's own formatting blocks for tens of milliseconds when it is first used. */
export const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',')

/** `1 file`, `1,234 files`. */
export const count = (value: number, what: string): string => `${number(value)} ${what}${value === 1 ? '' : 's'}`

/** `812 KB`, `3.4 MB`. */
export function bytes(value: number): string {
  return value < 1e6 ? `${Math.ceil(value / 1e3)} KB` : value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(2)} GB`
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function sinceText(then: Date, now: Date): string {
  const minutes = Math.floor((now.getTime() - then.getTime()) / 60_000)
  if (minutes < 1) {
    return 'just now'
  }
  const hours = Math.floor(minutes / 60)
  return minutes < 60 ? `${minutes} min ago` : hours < 24 ? `${hours} h ago` : `${count(Math.floor(hours / 24), 'day')} ago`
}
