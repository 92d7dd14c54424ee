import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { PACKAGE, node } from './helpers.mjs'

const read = (path) => readFileSync(join(PACKAGE, path), 'utf8')
const json = (path) => JSON.parse(read(path))
const manifest = json('package.json')

test('every target has its platform package, named by package.json and the lockfile', () => {
  const folders = readdirSync(join(PACKAGE, 'npm')).sort()
  assert.equal(folders.length, manifest.napi.targets.length)
  const lock = json('package-lock.json')
  const expected = Object.fromEntries(folders.map((folder) => [`${manifest.name}-${folder}`, manifest.version]))
  assert.deepEqual(manifest.optionalDependencies, expected)
  assert.deepEqual(lock.packages[''].optionalDependencies, expected)
  for (const folder of folders) {
    const platform = json(`npm/${folder}/package.json`)
    assert.equal(platform.name, `${manifest.name}-${folder}`)
    assert.equal(platform.version, manifest.version)
    assert.deepEqual(platform.files, [platform.main])
    assert.ok(read(`npm/${folder}/README.md`).includes(platform.name))
    const entry = lock.packages[`node_modules/${platform.name}`]
    assert.ok(entry, `${platform.name} is not in package-lock.json; npm run platforms puts it there`)
    assert.deepEqual([entry.version, entry.optional, entry.os, entry.cpu], [platform.version, true, platform.os, platform.cpu])
  }
})

test('crate, package and changelog agree on the version, and nothing runs at install', () => {
  assert.equal(/^version = "(.*)"/m.exec(read('Cargo.toml'))[1], manifest.version)
  assert.ok(read('CHANGELOG.md').includes(manifest.version))
  assert.equal(manifest.dependencies, undefined)
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    assert.equal(manifest.scripts[name], undefined)
  }
})

test('the package holds the loader, the types and the command line, and neither sources nor addons', () => {
  const npm = process.env.npm_execpath
  const [command, args] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
  const output = execFileSync(command, [...args, 'pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PACKAGE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    shell: process.platform === 'win32' && npm === undefined,
  })
  const parsed = JSON.parse(output)
  const [{ files }] = Array.isArray(parsed) ? parsed : Object.values(parsed)
  const paths = files.map(({ path }) => path)
  for (const path of ['index.js', 'index.d.ts', 'bin/sextant.js', 'lib/load-error.js', 'lib/cli/main.js', 'LICENSE', 'README.md', 'docs/errors.md']) {
    assert.ok(paths.includes(path), path)
  }
  assert.ok(!paths.some((path) => /\.node$|\.rs$|^(src|scripts|__test__|npm|models)\//.test(path)))
})

test('a loader without an addon says what it tried and what helps', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sextant-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const path of ['index.js', 'lib', 'bin', 'package.json']) {
    cpSync(join(PACKAGE, path), join(folder, path), { recursive: true })
  }
  const report = 'try { require("./index.js") } catch (error) { console.log(error.code + "\\n" + error.message) }'
  const { stdout } = await node(['--eval', report], { cwd: folder })
  assert.match(stdout, new RegExp(`^NATIVE_ADDON_UNAVAILABLE\\n.*on ${process.platform}-${process.arch}`))
  assert.match(stdout, /'\.\/sextant\..+\.node'/)
  assert.match(stdout, /'@sextant-code\/sextant-.+'/)
  assert.match(stdout, /npm install --include=optional[\s\S]*npm run build/)
  const command = await node(['bin/sextant.js', 'status', '--json'], { cwd: folder })
  assert.deepEqual([command.code, JSON.parse(command.stdout).error.code], [1, 'NATIVE_ADDON_UNAVAILABLE'])
  assert.equal((await node(['bin/sextant.js', '--version'], { cwd: folder })).stdout, `${manifest.version}\n`)
})

test('docs/errors.md lists every code, and no other', () => {
  const listed = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code)
  const [, table] = /ALL_CODES: &\[&str\] = &\[([\s\S]*?)\];/.exec(read('src/error.rs'))
  const engine = [...table.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code)
  const scripts = readdirSync(join(PACKAGE, 'lib'), { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => read(join('lib', name)))
    .join('\n')
  const javascript = [...scripts.matchAll(/(?:CommandError\(|code: )'([A-Z_]+)'/g)].map(([, code]) => code)
  const sources = readdirSync(join(PACKAGE, 'src'), { recursive: true })
    .filter((name) => name.endsWith('.rs') && !/(^|[\\/])tests([\\/]|\.rs$)/.test(name))
    .map((name) => read(join('src', name)).split('#[cfg(test)]\nmod tests {')[0])
    .join('\n')
  const degraded = [...sources.matchAll(/code: "([A-Z]+_[A-Z_]+)"/g)].map(([, code]) => code)
  // These give their codes by themselves.
  for (const name of ['src/index/sync.rs', 'src/watch/blind.rs', 'src/embed/provider/mod.rs']) {
    degraded.push(...[...read(name).matchAll(/(?:\(|\{ |=> )"([A-Z]+_[A-Z_]+)"/g)].map(([, code]) => code))
  }
  assert.ok(degraded.includes('QUERY_CUT') && degraded.includes('INDEX_OUTDATED'))
  assert.deepEqual(listed.slice(0, engine.length), engine)
  assert.deepEqual(new Set(listed), new Set([...engine, ...degraded, ...javascript]))
  assert.equal(new Set(listed).size, listed.length)
})
