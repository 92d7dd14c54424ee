import assert from 'node:assert/strict'
import type { Status } from '../../src/engine'
import { actionsFor } from '../../src/actions'
import { diagnostics } from '../../src/diagnostics'
import { isLogged, logLine } from '../../src/log-line'
import type { IndexState, Snapshot } from '../../src/session'
import { readSettings, type SettingKey } from '../../src/settings'
import { bytes, count, percentOf, progressLine, progressPlace, statusText } from '../../src/status-text'

const settings = (given: Partial<Record<SettingKey, unknown>> = {}) => readSettings((key) => given[key]).settings
const STATUS: Status = {
  state: 'ready', roots: ['/home/ada/shop'], files: 1234, chunks: 1, pendingFiles: 0, model: 'embedded', storage: '/home/ada/.store',
  databaseBytes: 1, watching: true, lastError: null, degraded: [], progress: null,
}
const snapshot = (state: IndexState, status: Status | undefined = STATUS): Snapshot => ({ state, status, report: undefined, updatedAt: undefined, trouble: [] })
type Location = 'notification' | 'statusBar'
const indexing = (filesDone: number, filesTotal: number, remainingMs: number | null = null, location: Location = 'notification'): Extract<IndexState, { kind: 'indexing' }> =>
  ({ kind: 'indexing', progress: { phase: 'index', filesDone, filesTotal, currentFile: null, remainingMs, location } })

suite('status text', () => {
  test('each state has its words', () => {
    const failure = { code: 'DISK_FULL', message: 'the disk of /x is full' }
    const states: readonly IndexState[] = [
      { kind: 'off' }, { kind: 'opening' }, { kind: 'ready' }, { kind: 'empty' }, { kind: 'paused' },
      { kind: 'cleared' }, { kind: 'failed', failure }, indexing(1, 4),
    ]
    assert.deepEqual(states.map((state) => statusText(snapshot(state), settings()).bar), [
      '', '$(sync~spin) Sextant', '$(check) Sextant', '$(circle-outline) Sextant: no index', '$(debug-pause) Sextant: paused',
      '$(circle-slash) Sextant: cleared', '$(error) Sextant', '$(sync~spin) Sextant',
    ])
    assert.match(statusText(snapshot({ kind: 'ready' }), settings()).tooltip, /Ready: 1,234 files, 1 chunk\n/)
    assert.match(statusText(snapshot({ kind: 'failed', failure }), settings()).tooltip, /The disk of \/x is full\.\n/)
    assert.equal(statusText(snapshot({ kind: 'failed', failure }), settings()).level, 'error')
  })

  test('the status bar counts if progress belongs there', () => {
    const here = indexing(1, 3, null, 'statusBar')
    assert.equal(statusText(snapshot(here), settings()).bar, '$(sync~spin) Sextant 33 %')
    assert.equal(statusText(snapshot(indexing(1, 3)), settings()).bar, '$(sync~spin) Sextant')
    assert.equal(statusText(snapshot(here), settings({ 'vectorDb.enableProgressNotifications': false })).bar, '$(sync~spin) Sextant')
    // Another window indexes and tells no progress: the setting decides.
    const unknown = { kind: 'indexing', progress: undefined } as const
    assert.equal(progressPlace(unknown, settings({ 'vectorDb.progressLocation': 'statusBar' })), 'statusBar')
  })

  test('what is less than complete is said', () => {
    const message = 'the provider cannot be reached'
    const text = statusText(snapshot({ kind: 'ready' }, { ...STATUS, degraded: [{ code: 'PROVIDER_UNREACHABLE', message }] }), settings())
    assert.equal(text.level, 'warning')
    assert.match(text.tooltip, /the provider cannot be reached/)
  })

  test('progress in words', () => {
    assert.equal(progressLine({ kind: 'indexing', progress: undefined }), 'Looking for files')
    assert.equal(progressLine(indexing(10, 1200)), 'Indexing: 10 of 1,200 files')
    assert.equal(progressLine(indexing(10, 1200, 30_000)), 'Indexing: 10 of 1,200 files, about 30 s left')
    assert.equal(progressLine(indexing(10, 1200, 200_000)), 'Indexing: 10 of 1,200 files, about 3 min left')
    const embedding = { kind: 'indexing', progress: { phase: 'embed', filesDone: 20, filesTotal: 400, currentFile: null, remainingMs: null, location: 'notification' } } as const
    assert.equal(progressLine(embedding), 'Waiting for the embedding service: 20 of 400 texts')
    assert.equal(percentOf(embedding), 5)
    assert.equal(percentOf(indexing(0, 0)), undefined)
    assert.equal(percentOf(indexing(999, 1000)), 99)
  })

  test('counts and sizes', () => {
    assert.deepEqual([count(0, 'file'), count(1, 'file'), bytes(1), bytes(3_400_000), bytes(2_000_000_000)], ['0 files', '1 file', '1 KB', '3.4 MB', '2.00 GB'])
  })

  test('every state offers the log and the settings, and what moves it on', () => {
    const commands = (state: IndexState): string[] => actionsFor(state).map(({ command }) => command.id)
    assert.ok(commands({ kind: 'paused' }).includes('sextant.resumeIndexing'))
    assert.ok(commands(indexing(0, 0)).includes('sextant.pauseIndexing'))
    assert.ok(commands({ kind: 'cleared' }).includes('sextant.indexWorkspace'))
    assert.ok(commands({ kind: 'off' }).includes('sextant.showLog'))
  })
})

suite('diagnostics', () => {
  test('hold no path, no address and no text of the user', () => {
    const text = diagnostics({
      versions: { sextant: '0.1.0' }, machine: 'linux-x64', trusted: true, remote: false,
      snapshot: snapshot({ kind: 'failed', failure: { code: 'DISK_FULL', message: 'the disk of /home/ada is full' } }, { ...STATUS, model: 'local:tiny at https://secret.example/v1' }),
      settings: settings({ 'embedding.baseUrl': 'https://secret.example', 'ignore.exclude': ['/clients/'], 'hybridSearch.topK': 20 }),
    })
    assert.doesNotMatch(text, /ada|example|clients/)
    assert.match(text, /^model: local:tiny$/m)
    assert.match(text, /last failure: DISK_FULL/)
    assert.match(text, /setting hybridSearch.topK: 20/)
    assert.match(text, /setting embedding.baseUrl: \(set\)/)
  })
})

suite('log lines', () => {
  test('have a time and a level, and respect the least level', () => {
    assert.equal(logLine(new Date(Date.UTC(2026, 0, 31, 13, 37)), 'warn', 'careful'), '2026-01-31 13:37:00.000 [warn] careful')
    assert.equal(isLogged('info', 'warn'), false)
    assert.equal(isLogged('error', 'debug'), true)
  })
})
