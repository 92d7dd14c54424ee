// npm start -- "QUESTION" --root DIR: asks a question, from a fresh clone on.

import { join } from 'node:path'
import { ROOT, fail, run } from './process.mjs'
import { buildAddon, checkNode, installDependencies } from './prepare.mjs'

const args = process.argv.slice(2)
if (args.length === 0) {
  fail('ask something: npm start -- "where is the token checked" --root DIR')
}
checkNode()
await installDependencies()
await buildAddon({ release: true })
// npm changes into the checkout; the folder the person is in is the one that --root is relative to.
const cwd = process.env.INIT_CWD ?? process.cwd()
process.exitCode = await run(process.execPath, [join(ROOT, 'bin', 'sextant.js'), 'search', ...args], {
  cwd,
  output: 'inherit',
})
