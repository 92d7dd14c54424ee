// npm run screenshots [-- --save]: goes through the extension as a person would, and takes a picture at each step.
//
// A step that does not find what it looks for fails. The pictures are in test-results/ui; with --save those of the README
// and the walkthrough are copied to media/.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const HERE = join(import.meta.dirname, '..')
const PICTURES = join(HERE, 'test-results', 'ui')
const KEPT = ['chat', 'quick-search', 'index']

if (process.argv[1] === import.meta.filename) {
  process.exit(takeAll())
}

function takeAll() {
  const workspaces = mkdtempSync(join(tmpdir(), 'sextant-pictures-'))
  cpSync(join(HERE, 'test/fixtures'), workspaces, { recursive: true })
  mkdirSync(PICTURES, { recursive: true })
  const host = [
    'scripts/code-host.mjs', '--disable-workspace-trust', `--extensionDevelopmentPath=${HERE}`,
    `--extensionDevelopmentPath=${join(HERE, 'test/fixtures/fake-model')}`, join(workspaces, 'shop'),
  ]
  const settings = { 'workbench.colorTheme': 'Default Dark Modern', 'editor.minimap.enabled': false, 'workbench.layoutControl.enabled': false, 'chat.commandCenter.enabled': false }
  const { status } = spawnSync(process.execPath, host, {
    cwd: HERE,
    stdio: 'inherit',
    env: { ...process.env, SEXTANT_PICTURES_FOLDER: join(workspaces, 'shop'), CODE_HOST_SCRIPT: import.meta.filename, CODE_HOST_LOGS: PICTURES, CODE_HOST_SETTINGS: JSON.stringify(settings) },
  })
  rmSync(workspaces, { recursive: true, force: true })
  if (status === 0 && process.argv.includes('--save')) {
    KEPT.forEach((name) => { cpSync(join(PICTURES, `${name}.png`), join(HERE, 'media', `${name}.png`)) })
  }
  return status ?? 1
}

/** Called by code-host.mjs in the window. */
export default async function walk({ page, open, say }) {
  page.setDefaultTimeout(30_000)
  await page.setViewportSize({ width: 1200, height: 760 })
  const steps = { statusBar, quickSearch, results, otherResults, beside, indexView, indexFollows, chat, chatSearch, followUp, settings, paused, embeddingKey, twoWindows, walkthrough, reloaded }
  for (const [name, step] of Object.entries(steps)) {
    await step(page, open)
    say('seen:', name)
  }
  return 0
}

/** The title bar names the test host; a picture of the side bars does without it. */
const TITLE_HEIGHT = 36
const shoot = (page, name, clip) => page.screenshot({ path: join(PICTURES, `${name}.png`), ...(clip && { clip }) })
const belowTitle = (page) => ({ x: 0, y: TITLE_HEIGHT, width: page.viewportSize().width, height: page.viewportSize().height - TITLE_HEIGHT })
const statusItem = (page) => page.locator('.statusbar-item', { hasText: 'Sextant' })

async function run(page, command) {
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' })
  await page.keyboard.press('F1')
  await page.locator('.quick-input-widget input').first().fill(`>${command}`)
  await page.locator('.quick-input-list .monaco-list-row', { hasText: command }).first().waitFor()
  await page.keyboard.press('Enter')
}

async function statusBar(page) {
  await statusItem(page).waitFor()
  if (await page.locator('.interactive-session').first().isVisible()) {
    await run(page, 'View: Toggle Secondary Side Bar Visibility')
  }
  await statusItem(page).locator('.codicon-check').waitFor()
  await statusItem(page).hover()
  await page.locator('.workbench-hover', { hasText: 'Ready: 7 files' }).waitFor()
  await shoot(page, 'status-bar')
  await page.mouse.move(600, 300)
}

async function quickSearch(page) {
  await run(page, 'Sextant: Search Codebase')
  const input = page.locator('.quick-input-widget input').first()
  await page.locator('.quick-input-widget', { hasText: 'Search by meaning' }).waitFor()
  await input.pressSequentially('wait before sending it again', { delay: 40 })
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'src/net/retry.ts' }).first().waitFor()
  await page.locator('.tab', { hasText: 'retry.ts' }).first().waitFor()
  await page.waitForTimeout(1200)
  await shoot(page, 'quick-search')
}

async function results(page) {
  await page.keyboard.press('Enter')
  await run(page, 'Sextant: Focus on Results View')
  await page.getByRole('treeitem', { name: /sendWithRetry/ }).first().waitFor()
  await page.waitForTimeout(500)
  await shoot(page, 'results')
}

async function otherResults(page) {
  await run(page, 'Sextant: Search Codebase')
  await page.locator('.quick-input-widget', { hasText: 'Search by meaning' }).waitFor()
  await page.locator('.quick-input-widget input').first().fill('which entry is evicted')
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'src/cache/lru.ts' }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('treeitem', { name: /LruCache/ }).first().waitFor()
}

async function beside(page) {
  await run(page, 'Sextant: Search Codebase')
  await page.locator('.quick-input-widget', { hasText: 'Search by meaning' }).waitFor()
  await page.locator('.quick-input-widget input').first().fill('wait before sending it again')
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: 'src/net/retry.ts' }).first()
  await row.hover()
  await row.getByLabel('Open to the Side').click()
  await page.locator('.editor-group-container').nth(1).locator('.tab', { hasText: 'retry.ts' }).waitFor()
  await run(page, 'View: Close Editor Group')
}

/** A file that is added is counted in the view without anybody asking. */
async function indexFollows(page) {
  await page.getByRole('treeitem', { name: 'Files, 7' }).waitFor()
  const added = join(process.env.SEXTANT_PICTURES_FOLDER, 'added.ts')
  writeFileSync(added, 'export const added = 1\n')
  await page.getByRole('treeitem', { name: 'Files, 8' }).waitFor()
  rmSync(added)
  await page.getByRole('treeitem', { name: 'Files, 7' }).waitFor()
}

async function indexView(page) {
  const root = page.getByRole('treeitem', { name: /^shop/ }).first()
  await root.click()
  const skipped = page.getByRole('treeitem', { name: /^Skipped/ }).first()
  await skipped.click()
  await page.getByRole('treeitem', { name: /secret/ }).first().waitFor()
  await page.getByRole('treeitem', { name: /^Languages/ }).first().click()
  await page.waitForTimeout(500)
  await shoot(page, 'index', belowTitle(page))
}

async function ask(page, question, expected) {
  const box = page.locator('.interactive-session .chat-editor-container .monaco-editor').last()
  await box.click()
  await page.keyboard.press('Control+A')
  await page.keyboard.press('Delete')
  await page.keyboard.type(question, { delay: 15 })
  await page.waitForTimeout(800)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Enter')
  await page.locator('.interactive-item-container.interactive-response', { hasText: expected }).last().waitFor()
  await page.waitForTimeout(1000)
}

async function chat(page) {
  const session = page.locator('.interactive-session .chat-editor-container').first()
  if (!await session.isVisible()) {
    await run(page, 'View: Toggle Secondary Side Bar Visibility')
    await session.waitFor()
  }
  await page.locator('.interactive-session .chat-input-toolbars', { hasText: 'Example Model' }).first().waitFor()
  await run(page, 'View: Toggle Primary Side Bar Visibility')
  await widenChat(page)
  await ask(page, '@workspace how is a request retried?', 'gives up after')
  await shoot(page, 'chat', belowTitle(page))
}

/** Drags the border between editor and chat. */
async function widenChat(page) {
  const left = (await page.locator('.part.auxiliarybar').boundingBox()).x
  await page.mouse.move(left - 1, 400)
  await page.mouse.down()
  await page.mouse.move(left - 260, 400, { steps: 8 })
  await page.mouse.up()
}

async function chatSearch(page) {
  await ask(page, '@workspace /search what is thrown away when the cache is full', 'that match best')
  await shoot(page, 'chat-search')
}

/** What somebody may ask next is offered below the answer, and asked with a click. */
async function followUp(page) {
  const question = 'Where is LruCache tested?'
  await page.locator('.interactive-session-followups', { hasText: question }).getByText(question).click()
  const request = page.locator('.interactive-item-container.interactive-request', { hasText: question })
  await request.waitFor()
  const asked = await request.innerText()
  if (asked.includes('/search')) {
    throw new Error(`the question is asked with the command of the answer above: ${asked}`)
  }
  // Below its answer there are others.
  await page.locator('.interactive-session-followups', { hasText: 'Where is sendWithRetry tested?' }).waitFor()
}

async function settings(page) {
  await run(page, 'Preferences: Open Settings (UI)')
  await page.locator('.settings-editor .suggest-input-container').first().click()
  await page.keyboard.type('@ext:sextant-code.sextant')
  await page.locator('.setting-item-label', { hasText: 'Enabled' }).first().waitFor()
  await page.waitForTimeout(800)
  await shoot(page, 'settings')
}

async function walkthrough(page) {
  // A narrow page has no room for the pictures.
  await run(page, 'View: Toggle Secondary Side Bar Visibility')
  await run(page, 'Welcome: Open Walkthrough')
  await page.locator('.quick-input-widget input').first().fill('Sextant')
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Get Started with Sextant' }).first().click()
  await page.locator('.getting-started-step', { hasText: 'Ask a question' }).waitFor()
  await page.locator('.getting-started-media img').first().waitFor()
  await page.waitForTimeout(1000)
  await shoot(page, 'walkthrough')
}

async function paused(page) {
  await run(page, 'Sextant: Pause Indexing')
  await statusItem(page).getByText('paused').waitFor()
  await statusItem(page).click()
  const resume = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Resume Indexing' }).first()
  await resume.waitFor()
  await page.waitForTimeout(500)
  await shoot(page, 'actions')
  await resume.click()
  await statusItem(page).locator('.codicon-check').waitFor()
}

/** A key that is typed is not seen, and the service that the settings name gets it. */
async function embeddingKey(page) {
  const service = await startService()
  const folder = join(process.env.SEXTANT_PICTURES_FOLDER, '.vscode')
  await typeKey(page, 'sk-typed-by-hand')
  await page.locator('.notifications-center', { hasText: 'The key for Local server is stored.' }).waitFor()
  mkdirSync(folder)
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ 'sextant.vectorDb.embeddingModel': 'local', 'sextant.embedding.baseUrl': service.url, 'sextant.embedding.model': 'tiny' }))
  await service.asked
  rmSync(folder, { recursive: true })
  await statusItem(page).locator('.codicon-check').waitFor()
  if (service.keys.some((key) => key !== 'Bearer sk-typed-by-hand')) {
    throw new Error(`the service got ${[...new Set(service.keys)]}`)
  }
  await typeKey(page, '')
  await page.locator('.notifications-center', { hasText: 'The key for Local server was removed.' }).waitFor()
  await run(page, 'Notifications: Clear All Notifications')
  service.stop()
}

async function typeKey(page, key) {
  await run(page, 'Sextant: Set Embedding Key')
  await page.locator('.quick-input-list .monaco-list-row', { hasText: 'Local server' }).click()
  await page.locator('.quick-input-widget', { hasText: 'Key for Local server' }).waitFor()
  await page.locator('.quick-input-widget input[type=password]').pressSequentially(key)
  if (key !== '') {
    await shoot(page, 'embedding-key')
  }
  await page.keyboard.press('Enter')
  await run(page, 'Notifications: Show Notifications')
}

/** An embedding service on this machine; `asked` settles when it has been asked. */
async function startService() {
  const keys = []
  let tell
  const asked = new Promise((done) => { tell = done })
  const server = createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    keys.push(request.headers.authorization)
    const { input } = JSON.parse(Buffer.concat(parts))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ object: 'list', data: input.map((text, index) => ({ object: 'embedding', index, embedding: [1, text.length % 7, text.length % 11] })) }))
    tell()
  })
  await new Promise((done) => { server.listen(0, '127.0.0.1', done) })
  const stop = () => { server.closeAllConnections(); server.close() }
  return { url: `http://127.0.0.1:${server.address().port}/v1`, keys, asked, stop }
}

/** A second window on the same folder: VS Code gives it a storage of its own, and both answer. */
async function twoWindows(page, open) {
  const other = await open()
  await statusItem(other).locator('.codicon-check').waitFor()
  for (const window of [other, page]) {
    await window.bringToFront()
    await run(window, 'Sextant: Search Codebase')
    await window.locator('.quick-input-widget', { hasText: 'Search by meaning' }).waitFor()
    await window.locator('.quick-input-widget input').first().fill('which entry is evicted')
    await window.locator('.quick-input-list .monaco-list-row', { hasText: 'src/cache/lru.ts' }).first().waitFor()
    await window.keyboard.press('Escape')
  }
  await other.close()
}

async function reloaded(page) {
  await page.reload()
  await statusItem(page).locator('.codicon-check').waitFor()
}
