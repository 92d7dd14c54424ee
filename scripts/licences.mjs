// npm run licences: every third-party crate and package has a licence of deny.toml and comes from its usual registry.
//
// The lists are those of cargo-deny, which takes minutes to compile; reading what cargo and npm know takes a second.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, fail, output } from './process.mjs'

const allowed = new Set(readAllowed())
const metadata = await output('cargo', ['metadata', '--format-version', '1', '--locked', '--all-features'])
if (metadata === undefined) {
  fail('cargo metadata failed')
}
const crates = JSON.parse(metadata).packages.filter(({ source }) => source !== null)
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
const packages = Object.entries(lock).filter(([path]) => path !== '')

const problems = [
  ...crates.flatMap(({ name, version, license, source }) => [
    ...licenceProblem(`crate ${name} ${version}`, license),
    ...(source.startsWith('registry+https://github.com/rust-lang/crates.io-index') ? [] : [`crate ${name} ${version} comes from ${source}`]),
  ]),
  ...packages.flatMap(([path, { version, license, resolved, link }]) => [
    ...licenceProblem(`package ${path} ${version}`, license),
    ...(link || /^(git|file|github)/.test(resolved ?? '') ? [`package ${path} comes from ${resolved}`] : []),
  ]),
]
if (problems.length > 0) {
  fail(problems.join('\n'))
}
process.stdout.write(`licences and sources of ${crates.length} crates and ${packages.length} packages are in order\n`)

function readAllowed() {
  const text = readFileSync(join(ROOT, 'deny.toml'), 'utf8')
  const [, list] = /\[licenses\]\nallow = \[([^\]]*)\]/.exec(text) ?? fail('deny.toml has no list of licences')
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}

function licenceProblem(what, licence) {
  if (!licence) {
    return [`${what} names no licence`]
  }
  return isAllowed(licence) ? [] : [`${what} has the licence ${licence}, which deny.toml does not allow`]
}

/** Evaluates an SPDX expression; the older `MIT/Apache-2.0` means OR. */
function isAllowed(expression) {
  const tokens = expression.replaceAll('/', ' OR ').match(/[()]|[^\s()]+/g)
  const takeWord = (word) => tokens[0]?.toUpperCase() === word && tokens.shift() !== undefined
  const either = () => {
    let result = both()
    while (takeWord('OR')) {
      const next = both()
      result = result || next
    }
    return result
  }
  const both = () => {
    let result = one()
    while (takeWord('AND')) {
      const next = one()
      result = result && next
    }
    return result
  }
  const one = () => {
    if (takeWord('(')) {
      const result = either()
      tokens.shift()
      return result
    }
    const name = tokens.shift()
    return allowed.has(takeWord('WITH') ? `${name} WITH ${tokens.shift()}` : name)
  }
  return either() && tokens.length === 0
}
