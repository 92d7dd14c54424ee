// npm run platforms: makes package.json and package-lock.json name the platform packages that npm/ holds.
//
// npm leaves a platform package that it cannot fetch out of the lockfile, and `npm ci` then refuses the lockfile. The
// entries are written here instead, so that a checkout installs before anything was published: npm ci skips an
// optional package that does not exist.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './process.mjs'

const packages = readdirSync(join(ROOT, 'npm'))
  .sort()
  .map((name) => JSON.parse(readFileSync(join(ROOT, 'npm', name, 'package.json'), 'utf8')))
const optionalDependencies = Object.fromEntries(packages.map(({ name, version }) => [name, version]))

update('package.json', (manifest) => {
  manifest.optionalDependencies = optionalDependencies
})
update('package-lock.json', (lock) => {
  lock.packages[''].optionalDependencies = optionalDependencies
  const entries = packages.map(({ name, version, cpu, libc, license, os, engines }) => [
    `node_modules/${name}`,
    { version, cpu, ...(libc && { libc }), license, optional: true, os, engines },
  ])
  const { '': root, ...others } = lock.packages
  const all = Object.entries({ ...others, ...Object.fromEntries(entries) })
  lock.packages = { '': root, ...Object.fromEntries(all.sort(([a], [b]) => a.localeCompare(b, 'en'))) }
})

function update(file, change) {
  const path = join(ROOT, file)
  const value = JSON.parse(readFileSync(path, 'utf8'))
  change(value)
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
