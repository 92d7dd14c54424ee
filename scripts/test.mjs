// npm test: the tests of the core and of what is published, from a fresh clone on.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run, say } from './process.mjs'
import { buildAddon, checkNode, installDependencies } from './prepare.mjs'

checkNode()
await installDependencies()
await buildAddon({ release: false })

const tests = readdirSync(join(ROOT, '__test__'))
  .filter((name) => name.endsWith('.test.mjs'))
  .sort()
  .map((name) => `__test__/${name}`)
const suites = [
  ['cargo', ['test', '--workspace', '--locked']],
  [process.execPath, ['--test', ...tests]],
]
let failed = 0
for (const [command, args] of suites) {
  failed += (await run(command, args, { output: 'inherit' })) === 0 ? 0 : 1
}
if (failed > 0) {
  say(`${failed} of ${suites.length} test suites failed`)
  process.exitCode = 1
}
