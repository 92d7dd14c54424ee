// npm run build: the addon for this machine, index.js and index.d.ts. Further arguments go to `napi build`.

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ROOT, fail, run } from './process.mjs'
import { stampAddon } from './state.mjs'

const args = process.argv.slice(2)
const cli = createRequire(import.meta.url).resolve('@napi-rs/cli/package.json')
const napi = join(cli, '..', JSON.parse(readFileSync(cli, 'utf8')).bin.napi)
const status = await run(process.execPath, [napi, 'build', '--platform', '--features', 'binding', ...args])
if (status !== 0) {
  process.exit(status)
}
explainLoadFailures(join(ROOT, 'index.js'))
// An addon for another machine says nothing about this one.
if (!args.includes('--target')) {
  stampAddon(args.includes('--release') ? 'release' : 'debug')
}

/**
 * The generated loader advises to remove the lockfile, whatever is wrong. Ours says what was tried, and why it failed.
 */
function explainLoadFailures(path) {
  const source = readFileSync(path, 'utf8')
  const pattern = /^if \(!nativeBinding\) \{\n {2}if \(loadErrors\.length > 0\) \{\n[\s\S]*?\n\}\n/gm
  const replacement = "if (!nativeBinding) {\n  throw require('./lib/load-error.js').loadError(loadErrors, isMusl)\n}\n"
  if (source.match(pattern)?.length !== 1) {
    fail('scripts/build.mjs does not find the end of the generated loader; @napi-rs/cli has changed it')
  }
  writeFileSync(path, source.replace(pattern, () => replacement))
}
