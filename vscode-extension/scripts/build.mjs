// npm run build: dist/ with the bundled extension and the addon. With --tests also out/, for the tests.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

const HERE = join(import.meta.dirname, '..')
const REPOSITORY = join(HERE, '..')
const ADDON = join(HERE, 'dist', 'addon')

rmSync(join(HERE, 'dist'), { recursive: true, force: true })
copyAddon(process.argv.find((argument) => argument.startsWith('--addon='))?.slice('--addon='.length))
await build({
  absWorkingDir: HERE,
  entryPoints: ['src/extension.ts'],
  outfile: 'dist/extension.js',
  bundle: true,
  external: ['vscode'],
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  sourcemap: !process.argv.includes('--minify'),
  minify: process.argv.includes('--minify'),
  logLevel: 'warning',
})
if (process.argv.includes('--tests')) {
  rmSync(join(HERE, 'out'), { recursive: true, force: true })
  const typescript = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  execFileSync(process.execPath, [typescript, '--project', HERE], { stdio: 'inherit' })
}

/** Copies the addon that the repository built. `name` picks one of several; otherwise all that are there. */
function copyAddon(name) {
  const addons = readdirSync(REPOSITORY).filter((file) => file.endsWith('.node') && (name === undefined || file === name))
  if (addons.length === 0) {
    process.stderr.write('There is no addon yet: run "npm ci && npm run build" at the top of the repository first.\n')
    process.exit(1)
  }
  mkdirSync(join(ADDON, 'lib'), { recursive: true })
  for (const file of ['index.js', 'package.json', join('lib', 'load-error.js'), ...addons]) {
    if (existsSync(join(REPOSITORY, file))) {
      cpSync(join(REPOSITORY, file), join(ADDON, file))
    }
  }
}
