import assert from 'node:assert/strict'
import type { FileChunks, Status } from '../../src/engine'
import { firstLine, hitsPage, place, title } from '../../src/hit-text'
import type { Snapshot } from '../../src/session'
import { bySkipReason, skippedPage } from '../../src/skipped-page'
import { hitsText, linesInput, linesText, nearest, searchInput, statusReport } from '../../src/tools/tool-text'
import { indexNodes } from '../../src/views/index-model'
import { hit } from './hits'

const shown = ({ path }: { readonly path: string }): string => path
const words = (text: string): Promise<number> => Promise.resolve(text.split(/\s+/).filter((word) => word !== '').length)
const chunk = (startLine: number, endLine: number, name: string | null): FileChunks['chunks'][number] => ({ startLine, endLine, kind: 'function', name, tokens: 1, text: '' })

suite('tool input', () => {
  test('is read as agents write it', () => {
    assert.deepEqual(searchInput({ query: ' where ', limit: '3', paths: 'src', kinds: ['function'], languages: [] }), {
      query: 'where', limit: 3, sync: true, paths: ['src'], kinds: ['function'],
    })
    assert.deepEqual(searchInput({ query: 'where', limit: 900 }), { query: 'where', limit: 50, sync: true })
    assert.equal('limit' in searchInput({ query: 'where', limit: -1 }), false, 'the settings decide')
  })

  test('without what is needed it says what is', () => {
    assert.throws(() => searchInput({ query: 'where', kinds: ['function', 'nonsense'] }), /"kinds" knows no "nonsense": function, class/)
    assert.throws(() => searchInput({}), /"query" is missing/)
    assert.throws(() => linesInput({ path: 'a.ts' }), /a line are needed/)
  })

  test('lines have a sensible order and bounds', () => {
    assert.deepEqual(linesInput({ path: 'a.ts', startLine: 5, endLine: 2, contextLines: 9999 }), { path: 'a.ts', startLine: 5, endLine: 5, contextLines: 200 })
    assert.equal(linesInput({ path: 'a.ts', line: 5, contextLines: 0 }).contextLines, 0)
  })
})

suite('tool results', () => {
  test('hits with place, kind, name and code', async () => {
    const text = await hitsText([hit('src/a.ts', 'code();')], [], shown, 1000, words)
    assert.equal(text, 'src/a.ts:1 function send\n```typescript\ncode();\n```\n')
  })

  test('what has no room is counted', async () => {
    const hits = Array.from({ length: 10 }, (_, n) => hit(`${n}.ts`, 'word '.repeat(30)))
    const text = await hitsText(hits, [], shown, 200, words)
    assert.match(text, /6 more hits left out for lack of room/)
    assert.ok(await words(text) <= 200)
  })

  test('nothing found is said, with what was less than complete', async () => {
    assert.match(await hitsText([], [{ code: 'INDEX_PAUSED', message: 'paused' }], shown, 100, words), /^Nothing matches[\s\S]*INDEX_PAUSED/)
  })

  test('whole pieces and context, within the file', async () => {
    const chunks: FileChunks = { path: 'a.ts', language: 'typescript', chunks: [chunk(1, 9, 'one'), chunk(10, 20, 'two'), chunk(21, 30, null)] }
    const lines = Array.from({ length: 30 }, (_, n) => `line${n + 1}`)
    const read = async (startLine: number, endLine: number, contextLines: number, budget = 1000): Promise<string> =>
      linesText({ path: 'a.ts', startLine, endLine, contextLines }, chunks, lines, 'src/a.ts', budget, words)
    assert.match(await read(12, 12, 3), /^src\/a\.ts:7-23 \(function two\)\n```typescript\n {1,2}7 \| line7\n[\s\S]*\n23 \| line23\n```\n$/)
    assert.match(await read(12, 25, 50), /^src\/a\.ts:1-30 /)
    assert.match(await read(30, 90, 0), /^src\/a\.ts:21-30\n/)
  })

  test('where there is no room for the context, the wanted lines are shown, and the head says which', async () => {
    const chunks: FileChunks = { path: 'a.ts', language: 'typescript', chunks: [chunk(400, 420, 'wanted')] }
    const lines = Array.from({ length: 1000 }, (_, n) => `line${n + 1}`)
    for (const budget of [10, 20, 60, 100, 500, 2000]) {
      const text = await linesText({ path: 'a.ts', startLine: 405, endLine: 410, contextLines: 200 }, chunks, lines, 'a.ts', budget, words)
      const [, first, last] = /^a\.ts:(\d+)-(\d+) /.exec(text) ?? []
      assert.ok(Number(first) <= 405, text)
      assert.ok(text.includes(`${first} | line${first}\n`) && text.includes(`${last} | line${last}\n`), text)
      assert.ok(await words(text) <= Math.max(budget, 11), `${budget}: ${text}`)
      assert.equal(Number(last) >= 410, budget >= 60, `${budget}: ${text}`)
    }
  })

  test('a line that has no room at all is cut, and that is said; a name stands in the head once', async () => {
    const chunks: FileChunks = { path: 'a.ts', language: 'typescript', chunks: Array.from({ length: 90 }, () => chunk(1, 1, 'table')) }
    const characters = (text: string): Promise<number> => Promise.resolve(text.length)
    const text = await linesText({ path: 'a.ts', startLine: 1, endLine: 1, contextLines: 10 }, chunks, ['x'.repeat(200_000)], 'a.ts', 500, characters)
    assert.match(text, /^a\.ts:1-1 \(function table\)\n```typescript\n1 \| x{300,}\n```\nThe line is longer/)
    assert.ok(text.length <= 600, `${text.length} characters`)
  })

  test('a line outside of every chunk is nearest to one', () => {
    const all = [chunk(5, 9, 'one'), chunk(20, 30, 'two')]
    assert.deepEqual([1, 7, 12, 17, 40].map((line) => nearest(all, line)?.name), ['one', 'one', 'one', 'two', 'two'])
    assert.equal(nearest([], 1), undefined)
  })

  test('the status says what was left out', () => {
    const overview = [{ root: '/shop', files: 3, languages: [{ language: 'rust', files: 2 }, { language: 'go', files: 1 }], skipped: [{ reason: 'may hold secrets', paths: 1, firstPaths: ['.env'] }] }]
    const snapshot = { state: { kind: 'ready' }, status: undefined, report: undefined, updatedAt: undefined, trouble: ['a folder is gone'] } as const
    assert.match(statusReport(snapshot, overview, () => 'shop'), /State: Ready[\s\S]*Folder shop: 3 files \(rust 2, go 1\)\n {2}left out: 1 path \(may hold secrets\)[\s\S]*Note: a folder is gone/)
  })
})

suite('hits as text', () => {
  test('title, place and first line', () => {
    const hitOf = hit('src/a.ts', '{\n  // ---\n  const x = 1', { name: null })
    assert.equal(title(hitOf), 'const x = 1')
    assert.equal(place(hitOf, shown), 'src/a.ts:1-3')
    assert.equal(firstLine('\n\n'), undefined)
    assert.equal(title(hit('src/a.ts', '}', { name: null })), 'a.ts')
  })

  test('a page with links', () => {
    assert.match(hitsPage('why', [hit('a.ts', 'x')], shown, () => 'file:///a.ts#L1'), /^# why\n\n## 1\. send\n\n\[a\.ts:1\]\(file:\/\/\/a\.ts#L1\)/)
  })
})

suite('skipped files', () => {
  const skipped = [
    { root: '/shop', path: 'a.png', reason: 'image' }, { root: '/shop', path: '.env', reason: 'secret' }, { root: '/shop', path: 'b.png', reason: 'image' },
  ]
  test('by reason, the most frequent first', () => {
    assert.deepEqual(bySkipReason(skipped).map(({ reason, paths }) => [reason, paths.length]), [['image', 2], ['secret', 1]])
    assert.match(skippedPage(skipped, shown), /## image \(2 paths\)\n\n- a\.png\n- b\.png/)
    assert.match(skippedPage([], shown), /Nothing was left out/)
  })

  test('a long list is cut in the view, and the rest counted', () => {
    const status = { state: 'ready', roots: ['/shop'], files: 0, chunks: 0, pendingFiles: 0, model: 'm', storage: '', databaseBytes: 0, watching: true, lastError: null, degraded: [], progress: null } as const
    const nodes = indexNodes({
      snapshot: { state: { kind: 'ready' }, status: { ...status, roots: ['/shop'], degraded: [{ code: 'WATCH_LIMIT', message: 'too few watches' }] }, report: undefined, updatedAt: undefined, trouble: [] },
      overview: [{ root: '/shop', files: 0, languages: [], skipped: [{ reason: 'image', paths: 250, firstPaths: Array.from({ length: 100 }, (_, n) => `${n}.png`) }] }],
      folderName: () => 'shop',
      now: new Date(),
    })
    const reason = nodes.find(({ label }) => label === 'shop')?.children[1]?.children[0]
    assert.equal(reason?.children.length, 101)
    assert.equal(reason.children.at(-1)?.label, '150 more paths…')
    assert.equal(nodes.at(-1)?.label, 'too few watches')
  })
})

suite('the Index view', () => {
  test('names the model of the service and counts what waits for it', () => {
    const status: Status = { state: 'ready', roots: [], files: 1, chunks: 2, pendingFiles: 0, model: 'local/nomic', storage: '', databaseBytes: 0, watching: true, lastError: null, degraded: [], progress: null }
    const report = {
      roots: [], files: 1, chunks: 2, added: 1, changed: 0, removed: 0, unchanged: 0, embedded: 0, reused: 0, textsEmbedded: 0, textsReused: 0, textsPending: 2, skipped: [],
      tookMs: 1, degraded: [{ code: 'PROVIDER_UNREACHABLE', message: 'the provider cannot be reached' }],
    }
    const now = new Date()
    const snapshot: Snapshot = { state: { kind: 'ready' }, status, report, updatedAt: new Date(now.getTime() - 7_300_000), trouble: [] }
    const nodes = indexNodes({ snapshot, overview: [], folderName: () => 'shop', now })
    assert.equal(nodes.find(({ id }) => id === 'model')?.description, 'local/nomic')
    assert.equal(nodes.find(({ id }) => id === 'pending')?.description, '2 texts')
    assert.equal(nodes.find(({ id }) => id === 'updated')?.description, '2 h ago')
    assert.equal(nodes.at(-1)?.label, 'the provider cannot be reached')
    assert.match(statusReport(snapshot, [], () => 'shop'), /Waiting for a vector: 2 texts/)
    assert.ok(!indexNodes({ snapshot: { ...snapshot, report: undefined }, overview: [], folderName: () => 'shop', now }).some(({ id }) => id === 'pending'))
  })
})
