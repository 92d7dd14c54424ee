// Types into the window of `npm run measure` as a person does, and times each key until the list on the screen differs.
//
// code-host.mjs calls it (CODE_HOST_SCRIPT). It begins when the suite has told its numbers and waits for it. Keys after
// which the list is the same, as when the hits stay, are not counted. "Go to File" in the same window is the reference.

import { appendFileSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'

const OUT = process.env.SEXTANT_MEASURE_OUT
const BEGIN = '"what":"typing"'
const KEY_MS = 1500
const QUESTIONS = ['retry a failed request', 'close idle connections']
const NAMES = ['retrypolicy', 'connectionpool']

export default async function keys({ page, say }) {
  while (!readFileSync(OUT, 'utf8').includes(BEGIN)) {
    await page.waitForTimeout(1000)
  }
  say('typing')
  const search = []
  for (const question of QUESTIONS) {
    await run(page, 'Sextant: Search Codebase')
    await page.locator('.quick-input-widget', { hasText: 'Search by meaning' }).waitFor()
    await input(page).fill('')
    search.push(...await type(page, question))
  }
  const goToFile = []
  for (const name of NAMES) {
    await run(page, 'Go to File')
    await page.waitForTimeout(1000)
    goToFile.push(...await type(page, name))
  }
  appendFileSync(OUT, `${JSON.stringify({ what: 'keys', values: { search, goToFile }, load: loadavg() })}\n`)
  // The suite ends the run.
  await page.waitForTimeout(30_000)
  return 0
}

const input = (page) => page.locator('.quick-input-widget input[type=text]').first()

async function run(page, command) {
  await page.locator('.quick-input-widget').waitFor({ state: 'hidden' })
  await page.keyboard.press('F1')
  await input(page).fill(`>${command}`)
  await page.locator('.quick-input-list .monaco-list-row', { hasText: command }).first().waitFor()
  await page.waitForTimeout(300)
  await page.keyboard.press('Enter')
}

async function type(page, text) {
  await input(page).focus()
  await page.waitForTimeout(500)
  const times = []
  for (const letter of text) {
    await page.evaluate(watchNextKey, KEY_MS)
    await page.keyboard.press(letter === ' ' ? 'Space' : letter)
    const time = await page.evaluate(() => window.sextantKey)
    if (time !== undefined) {
      times.push(time)
    }
    await page.waitForTimeout(50)
  }
  await page.keyboard.press('Escape')
  return times
}

/** Runs in the page: window.sextantKey becomes the time from the next key to another list. */
function watchNextKey(timeoutMs) {
  window.sextantKey = new Promise((done) => {
    document.addEventListener('keydown', () => {
      const pressed = performance.now()
      const list = document.querySelector('.quick-input-widget .quick-input-list')
      const before = list.textContent
      const observer = new MutationObserver(() => { if (list.textContent !== before) end(performance.now() - pressed) })
      const timer = setTimeout(() => end(undefined), timeoutMs)
      const end = (time) => {
        observer.disconnect()
        clearTimeout(timer)
        done(time)
      }
      observer.observe(list, { childList: true, subtree: true, characterData: true, attributes: true })
    }, { capture: true, once: true })
  })
}
