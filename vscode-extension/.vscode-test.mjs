// Where and how the tests in test/host run. On a laptop this downloads desktop VS Code and starts it; where
// VSCODE_EXECUTABLE is set, that program is started instead (scripts/test.mjs sets it to scripts/code-host.mjs).

import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { defineConfig } from '@vscode/test-cli'

const here = import.meta.dirname
const executable = process.env.VSCODE_EXECUTABLE

// Tests write files and settings: they get a copy. A given folder is kept, so that a second run finds it again.
const kept = process.env.SEXTANT_TEST_WORKSPACE
const workspaces = kept ?? mkdtempSync(join(tmpdir(), 'sextant-tests-'))
cpSync(join(here, 'test/fixtures'), workspaces, { recursive: true })
if (kept === undefined) {
  process.on('exit', () => { rmSync(workspaces, { recursive: true, force: true }) })
}

const common = {
  version: 'stable',
  extensionDevelopmentPath: ['.', 'test/fixtures/fake-model'],
  ...(executable && { useInstallation: { fromPath: resolve(executable) } }),
  mocha: { ui: 'tdd', timeout: 30_000, sort: true, reporter: join(here, 'scripts/reporter.cjs') },
}
const run = (label, files, workspace, more = {}) => ({
  ...common, label, files: `out/test/host/${files}.test.js`, ...(workspace && { workspaceFolder: join(workspaces, workspace) }), ...more,
})

export default defineConfig([
  run('single', '{activation,api,commands,contributions,progress,provider,service-network,service-settings,settings,search,tools,participant,views,chat-view}', 'shop'),
  run('multi', 'multi-root', 'multi.code-workspace'),
  run('untrusted', 'untrusted', 'shop'),
  run('empty', 'no-folder'),
  run('cold', 'warm-index', 'shop'),
  run('warm', 'warm-index', 'shop'),
  // The packaged extension, installed; the folder under development is an empty one.
  run('vsix', 'installed', 'shop', { extensionDevelopmentPath: 'test/fixtures/harness' }),
])
