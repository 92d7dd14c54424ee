/** What helps to find out what is wrong, without code, paths, addresses or keys? Pure. */

import type { Status } from './engine'
import type { Snapshot } from './session'
import { modelName } from './status-text'
import { RULES, SETTING_KEYS, type SettingKey, type Settings } from './settings'

export interface DiagnosticFacts {
  readonly versions: Readonly<Record<string, string>>
  readonly machine: string
  readonly trusted: boolean
  readonly remote: boolean
  readonly snapshot: Snapshot
  readonly settings: Settings
}

type Row = readonly [name: string, value: unknown]

export function diagnostics({ versions, machine, trusted, remote, snapshot, settings }: DiagnosticFacts): string {
  const changed = SETTING_KEYS.filter((key) => settings[key] !== RULES[key].fallback && !isEmptyList(settings[key]))
  const rows: readonly Row[] = [
    ...Object.entries(versions),
    ['machine', machine],
    ['trusted workspace', trusted],
    ['remote', remote],
    ...stateRows(snapshot),
    ...(snapshot.status === undefined ? [] : countRows(snapshot.status)),
    ...changed.map((key) => [`setting ${key}`, shownValue(key, settings)] as const),
  ]
  return `Sextant diagnostics\n\n${rows.map(([name, value]) => `${name}: ${String(value)}`).join('\n')}\n`
}

function stateRows({ state, status, report, updatedAt }: Snapshot): readonly Row[] {
  const degraded = [...report?.degraded ?? [], ...status?.degraded ?? []].map(({ code }) => code)
  return [
    ['state', state.kind],
    ['last failure', state.kind === 'failed' ? state.failure.code : 'none'],
    ['degraded', degraded.join(', ') || 'none'],
    ['last run', report === undefined ? 'none' : `${Math.round(report.tookMs)} ms, ${report.skipped.length} paths skipped`],
    ['texts without a vector', report?.textsPending ?? 0],
    ['last update', updatedAt?.toISOString() ?? 'none'],
  ]
}

function countRows(status: Status): readonly Row[] {
  return [
    ['folders', status.roots.length],
    ['files', status.files],
    ['chunks', status.chunks],
    ['pending files', status.pendingFiles],
    ['database bytes', status.databaseBytes],
    ['model', modelName(status)],
    ['watching', status.watching],
  ]
}

/** Texts and lists may name places or people: only that they are set is told. */
function shownValue(key: SettingKey, settings: Settings): string {
  const { kind } = RULES[key]
  return kind === 'text' || kind === 'path' || kind === 'list' ? '(set)' : String(settings[key])
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
