// The windows of `npm run measure`. scripts/measure.mjs says which suite and which folder; the gate does not come here.

import { join, resolve } from 'node:path'
import { defineConfig } from '@vscode/test-cli'

const HERE = join(import.meta.dirname, '../..')
const { SEXTANT_MEASURE_SUITE: suite, SEXTANT_MEASURE_WORKSPACE: workspaceFolder, VSCODE_EXECUTABLE: executable } = process.env

export default defineConfig([{
  label: 'measure',
  version: 'stable',
  files: join(HERE, `out/test/measure/${suite}.test.js`),
  extensionDevelopmentPath: [HERE, join(HERE, 'test/fixtures/stopwatch')],
  ...(workspaceFolder && { workspaceFolder }),
  ...(executable && { useInstallation: { fromPath: resolve(HERE, executable) } }),
  mocha: { ui: 'tdd', timeout: 0, reporter: join(HERE, 'scripts/reporter.cjs') },
}])
