// The example of the README for Electron, run as it is printed. There is no Electron here: a small module of its name has the
// utility process as a child process of Node, with the same messages.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { PACKAGE, makeTree } from './helpers.mjs'

const ELECTRON = `
import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'

export const app = Object.assign(new EventEmitter(), {
  whenReady: async () => {},
  getPath: () => process.env.TEST_USER_DATA,
  quit: () => {
    let isPrevented = false
    app.emit('before-quit', { preventDefault: () => { isPrevented = true } })
    if (!isPrevented) {
      console.log('quit')
      process.exit()
    }
  },
})
export const utilityProcess = {
  fork: (file) => {
    const child = fork(file, { execArgv: ['--import', process.env.TEST_PARENT_PORT] })
    return Object.assign(new EventEmitter(), {
      on: (name, listener) => child.on(name, listener),
      postMessage: (message) => child.send(message),
    })
  },
}
setTimeout(() => app.quit(), 60_000).unref()
process.stdin.once('data', () => app.quit())
`
const PARENT_PORT = `
process.parentPort = {
  on: (name, listener) => process.on(name, (data) => listener({ data })),
  postMessage: (message) => process.send(message),
}
`

test('the example of the README for Electron runs as printed', async (t) => {
  const { root: project, storage } = makeTree(t, { 'src/token.js': 'export function isExpired(token) {\n  // where the token is checked\n  return token.end < Date.now()\n}\n' })
  const place = join(storage, 'app')
  mkdirSync(join(place, 'node_modules/electron'), { recursive: true })
  const blocks = [...readFileSync(join(PACKAGE, 'README.md'), 'utf8').matchAll(/```js\n\/\/ (\w+\.mjs)\n([\s\S]*?)```/g)]
  assert.deepEqual(blocks.map(([, name]) => name), ['indexer.mjs', 'main.mjs'])
  for (const [, name, code] of blocks) {
    writeFileSync(join(place, name), code.replace("'path/to/project'", JSON.stringify(project)))
  }
  mkdirSync(join(place, 'node_modules/@sextant-code'))
  symlinkSync(PACKAGE, join(place, 'node_modules/@sextant-code/sextant'), 'junction')
  writeFileSync(join(place, 'node_modules/electron/package.json'), '{ "type": "module", "exports": "./index.js" }')
  writeFileSync(join(place, 'node_modules/electron/index.js'), ELECTRON)
  writeFileSync(join(place, 'parent-port.mjs'), PARENT_PORT)
  const child = spawn(process.execPath, [join(place, 'main.mjs')], {
    env: { ...process.env, TEST_USER_DATA: join(place, 'user-data'), TEST_PARENT_PORT: pathToFileURL(join(place, 'parent-port.mjs')).href },
  })
  t.after(() => child.kill())
  let output = ''
  let errors = ''
  child.stderr.on('data', (data) => { errors += data })
  for await (const data of child.stdout) {
    output += data
    if (output.includes('degraded') && !child.stdin.writableEnded) {
      child.stdin.end('quit\n')
    }
  }
  if (child.exitCode === null) await once(child, 'exit')
  assert.equal(child.exitCode, 0, errors)
  assert.match(output, /synced/)
  assert.match(output, /path: 'src\/token\.js'/)
  assert.match(output, /quit\n$/)
})
