// npm run package [-- --target linux-x64 --out FILE]: a package for one platform, with the addon for it and no other.

import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'

const HERE = join(import.meta.dirname, '..')
const MOST_BYTES = 40e6
/** The platforms of the marketplace, and the addon of each. */
const ADDONS = {
  'linux-x64': 'sextant.linux-x64-gnu.node',
  'linux-arm64': 'sextant.linux-arm64-gnu.node',
  'alpine-x64': 'sextant.linux-x64-musl.node',
  'alpine-arm64': 'sextant.linux-arm64-musl.node',
  'darwin-x64': 'sextant.darwin-x64.node',
  'darwin-arm64': 'sextant.darwin-arm64.node',
  'win32-x64': 'sextant.win32-x64-msvc.node',
  'win32-arm64': 'sextant.win32-arm64-msvc.node',
}

const option = (name) => {
  const place = process.argv.indexOf(`--${name}`)
  return place === -1 ? undefined : process.argv[place + 1]
}
const target = option('target') ?? `${process.platform}-${process.arch}`
const out = option('out') ?? `sextant-${target}.vsix`
if (ADDONS[target] === undefined) {
  process.stderr.write(`There is no platform ${target}; there are ${Object.keys(ADDONS).join(', ')}\n`)
  process.exit(2)
}

execute(process.execPath, ['scripts/build.mjs', '--minify', `--addon=${ADDONS[target]}`])
execute('npx', ['vsce', 'package', '--target', target, '--no-dependencies', '--out', out])
const { size } = statSync(join(HERE, out))
process.stdout.write(`${out}: ${(size / 1e6).toFixed(1)} MB\n`)
if (size > MOST_BYTES) {
  process.stderr.write(`That is more than ${MOST_BYTES / 1e6} MB.\n`)
  process.exit(1)
}

function execute(command, args) {
  const { status } = spawnSync(command, args, { cwd: HERE, stdio: 'inherit', shell: process.platform === 'win32' && command === 'npx' })
  if (status !== 0) {
    process.exit(status ?? 1)
  }
}
