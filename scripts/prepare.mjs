// Installs and builds what a checkout still lacks, and says so.

import { npm, output, run, say, fail } from './process.mjs'
import { addonState, dependenciesAreMissing } from './state.mjs'

const OLDEST_NODE = 20
const OLDEST_RUST = [1, 90]

/** Ends the script unless Node is new enough. */
export function checkNode() {
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    fail(`Node ${process.versions.node} is too old: install Node ${OLDEST_NODE} or newer`)
  }
}

/** Runs `npm ci` if the packages of package-lock.json are not there. */
export async function installDependencies() {
  if (!dependenciesAreMissing()) {
    return
  }
  say('Installing the build tools with npm ci. This needs the network and about a minute.')
  if ((await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'])) !== 0) {
    fail('npm ci failed; its messages are above')
  }
}

/**
 * Builds the addon if there is none or its sources have changed.
 *
 * @param {{ release: boolean }} options whether an unoptimised addon is not enough
 */
export async function buildAddon({ release }) {
  const state = addonState()
  if (state === 'release' || (state === 'debug' && !release)) {
    return
  }
  await checkCompilers()
  const why = {
    missing: 'There is no addon for this machine yet.',
    outdated: 'The sources have changed since the addon was built.',
    debug: 'The addon was built without optimisation.',
  }[state]
  say(`${why} Building it from source. The first time this compiles SQLite and some thirty grammars and takes minutes.`)
  const args = release ? ['scripts/build.mjs', '--release'] : ['scripts/build.mjs']
  if ((await run(process.execPath, args)) !== 0) {
    fail('the build failed; its messages are above')
  }
}

async function checkCompilers() {
  const [major, minor] = OLDEST_RUST
  const install = `install Rust ${major}.${minor} or newer from https://rustup.rs`
  const version = await output('cargo', ['--version'])
  if (version === undefined) {
    fail(`cargo is missing: ${install}, and open a new terminal`)
  }
  const [, foundMajor, foundMinor] = /cargo (\d+)\.(\d+)/.exec(version) ?? []
  if (Number(foundMajor) < major || (Number(foundMajor) === major && Number(foundMinor) < minor)) {
    fail(`${version.trim()} is too old: ${install}`)
  }
  if (process.platform !== 'win32' && process.env.CC === undefined) {
    const compilers = await Promise.all(['cc', 'gcc', 'clang'].map((name) => output(name, ['--version'])))
    if (compilers.every((found) => found === undefined)) {
      fail('a C compiler is missing: install gcc or clang (Debian: build-essential, macOS: xcode-select --install)')
    }
  }
}
