// What the tests share: throw-away trees, the addon, and the command line as a child process.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const PACKAGE = fileURLToPath(new URL('..', import.meta.url))
export const require = createRequire(import.meta.url)
export const { Workspace } = require('../index.js')

/** Whatever takes longer than this hangs, however busy the machine. */
export const SOON_MS = 60_000

// No test may read or fill the cache of whoever runs it. (On macOS and Windows the environment does not move it.)
const cacheFolder = mkdtempSync(join(tmpdir(), 'sextant-cache-'))
process.env.XDG_CACHE_HOME = cacheFolder
process.once('exit', () => rmSync(cacheFolder, { recursive: true, force: true }))

/** A small tree in which `isExpired` is defined once. */
export const SMALL_TREE = {
  'src/auth/token.js': [
    '// Tells whether a token may still be used.',
    'export function isExpired(token, now) {',
    '  return token.expiresAt <= now',
    '}',
    '',
    'export function parseToken(text) {',
    "  const [head, body, signature] = text.split('.')",
    '  return { head, body, signature }',
    '}',
    '',
  ].join('\n'),
  'src/store/cart.py': 'def add_to_cart(cart, item):\n    cart.append(item)\n    return cart\n',
  'docs/guide.md': '# Guide\n\nHow to add an item to the cart.\n',
  'logo.png': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 0, 0, 0, 0]),
}

/** Enough files that a run over them takes a while. */
export function bigTree(count = 3000) {
  const body = Array.from({ length: 40 }, (_, line) => `  total += weigh(${line}, items[${line}], "part ${line}")`)
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `src/d${index % 50}/file${index}.js`,
      `export function compute${index}(items) {\n  let total = ${index}\n${body.join('\n')}\n  return total\n}\n`,
    ]),
  )
}

/**
 * A tree in a throw-away folder, and a folder for its database; removed after the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string | Buffer>} files
 */
export function makeTree(t, files = SMALL_TREE) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sextant-test-')))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const root = join(folder, 'tree')
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  return { folder, root, storage: join(folder, 'storage') }
}

/**
 * An open workspace over a throw-away tree; closed after the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string | Buffer>} [files]
 */
export async function openTree(t, files) {
  const tree = makeTree(t, files)
  const workspace = await Workspace.open({ roots: [tree.root], storage: tree.storage })
  t.after(() => workspace.close())
  return { ...tree, workspace }
}

/**
 * Records the events of a watch. `next` gives the first event after the last one it gave for which `isWanted` holds, and
 * waits for it; `synced` does so for reports.
 */
export function listener() {
  const all = []
  let seen = 0
  let wake = () => {}
  const listen = (event) => {
    all.push(event)
    wake()
  }
  const next = async (isWanted) => {
    const deadline = performance.now() + SOON_MS
    for (;;) {
      while (seen < all.length) {
        const event = all[seen]
        seen += 1
        if (isWanted(event)) {
          return event
        }
      }
      const left = deadline - performance.now()
      assert.ok(left > 0, `the event does not come; there were ${JSON.stringify(all)}`)
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, left)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
  const synced = async (isWanted = () => true) => (await next((event) => event.type === 'synced' && isWanted(event.report))).report
  return { all, listen, next, synced }
}

/** Asks again and again until `question` answers something true. */
export async function eventually(question) {
  const deadline = performance.now() + SOON_MS
  for (;;) {
    const answer = await question()
    if (answer) {
      return answer
    }
    assert.ok(performance.now() < deadline, `never true: ${question}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Runs Node with `args`; answers how it ended and what it wrote. */
export function node(args, { cwd = PACKAGE, env = {}, input = '', timeoutMs = 60_000 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env }, timeout: timeoutMs })
    const started = performance.now()
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr, ms: performance.now() - started }))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Runs the command line. */
export function sextant(args, options) {
  return node([join(PACKAGE, 'bin', 'sextant.js'), ...args], options)
}

/** Runs `script`, which sees `Workspace`, `tree` and `assert`, in a process of its own. */
export function script(tree, body, options) {
  const prelude = [
    "import assert from 'node:assert/strict'",
    "import { createRequire } from 'node:module'",
    `const require = createRequire(${JSON.stringify(join(PACKAGE, 'index.js'))})`,
    "const { Workspace } = require('./index.js')",
    `const tree = ${JSON.stringify(tree)}`,
    'const open = () => Workspace.open({ roots: [tree.root], storage: tree.storage })',
  ]
  return node(['--input-type=module', '--eval', [...prelude, body].join('\n')], options)
}
