// Is what was installed and built still right?

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './process.mjs'

const STAMP = join(ROOT, 'sextant.build.json')

/** What the addon is made of. */
const SOURCES = ['Cargo.lock', 'Cargo.toml', 'build.rs', 'models', 'rust-toolchain.toml', 'src']

/** Whether `npm ci` has to run. */
export function dependenciesAreMissing() {
  const installed = join(ROOT, 'node_modules', '.package-lock.json')
  return !existsSync(installed) || statSync(installed).mtimeMs < statSync(join(ROOT, 'package-lock.json')).mtimeMs
}

/**
 * How the addon stands: `missing`, `outdated` (built from other sources than these), or the profile it was built with.
 *
 * @returns {'missing' | 'outdated' | 'debug' | 'release'}
 */
export function addonState() {
  const stamp = readStamp()
  if (stamp === undefined || !stamp.files.every((file) => existsSync(join(ROOT, file)))) {
    return 'missing'
  }
  return stamp.sources === sourcesHash() ? stamp.profile : 'outdated'
}

/** Notes what the addon in the checkout was built from. */
export function stampAddon(profile) {
  const files = readdirSync(ROOT).filter((name) => /^sextant\..+\.node$/.test(name))
  const stamp = { profile, sources: sourcesHash(), files }
  writeFileSync(STAMP, `${JSON.stringify(stamp, null, 2)}\n`)
}

function readStamp() {
  try {
    const stamp = JSON.parse(readFileSync(STAMP, 'utf8'))
    return Array.isArray(stamp.files) && stamp.files.length > 0 ? stamp : undefined
  } catch {
    return undefined
  }
}

/** Contents, not times: a fresh checkout of the same sources needs no build. */
function sourcesHash() {
  const hash = createHash('sha256')
  for (const path of SOURCES.flatMap((name) => filesBelow(name))) {
    const content = readFileSync(join(ROOT, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

function filesBelow(path) {
  if (!statSync(join(ROOT, path)).isDirectory()) {
    return [path]
  }
  return readdirSync(join(ROOT, path)).sort().flatMap((name) => filesBelow(`${path}/${name}`))
}
