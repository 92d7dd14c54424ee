/** What do the status bar and the Index view say about the index? Pure. */

import type { Status } from './engine'
import { assertNever, friendly } from './failure'
import type { IndexState, Snapshot } from './session'
import type { Settings } from './settings'

export interface StatusText {
  /** With an icon in front; empty if nothing is to be shown. */
  readonly bar: string
  /** Markdown. */
  readonly tooltip: string
  /** One line without icons. */
  readonly line: string
  readonly level: 'normal' | 'warning' | 'error'
}

export function statusText(snapshot: Snapshot, settings: Settings, unmet: readonly string[]): StatusText {
  const { state, status } = snapshot
  const line = stateLine(state, status)
  const notes = [...unmet, ...(status?.degraded ?? []).map(({ message }) => message)]
  const tooltip = [`**Sextant** · ${line}`, ...notes.map((note) => `$(warning) ${note}`), 'Click for actions.'].join('\n\n')
  return { bar: bar(state, settings), tooltip, line, level: state.kind === 'failed' ? 'error' : notes.length > 0 ? 'warning' : 'normal' }
}

function bar(state: IndexState, settings: Settings): string {
  switch (state.kind) {
    case 'off':
      return state.why === 'disabled' ? '$(circle-slash) Sextant' : ''
    case 'opening':
      return '$(sync~spin) Sextant'
    case 'indexing': {
      const percent = percentOf(state)
      const shown = settings['vectorDb.enableProgressNotifications'] && settings['vectorDb.progressLocation'] === 'statusBar'
      return `$(sync~spin) Sextant${shown && percent !== undefined ? ` ${percent} %` : ''}`
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
      return state.why === 'disabled' ? 'Switched off' : 'No folder is open'
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
  const of = progress.filesTotal > 0 ? `${number(progress.filesDone)} of ${count(progress.filesTotal, 'file')}` : count(progress.filesDone, 'file')
  return `${progress.phase === 'commit' ? 'Writing the index' : 'Indexing'}: ${of}${remaining(progress.remainingMs)}`
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

const number = (value: number): string => value.toLocaleString('en-US')

/** `1 file`, `1,234 files`. */
export const count = (value: number, what: string): string => `${number(value)} ${what}${value === 1 ? '' : 's'}`

/** `812 KB`, `3.4 MB`. */
export function bytes(value: number): string {
  return value < 1e6 ? `${Math.ceil(value / 1e3)} KB` : value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(2)} GB`
}
