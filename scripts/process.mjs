// Running other programs, with Node's built-ins alone: these scripts work before anything is installed.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The checkout. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Says something to the person who waits; standard output belongs to what they asked for. */
export function say(text) {
  process.stderr.write(`${text}\n`)
}

/** Ends the script with a message. */
export function fail(text) {
  say(text)
  process.exit(1)
}

/**
 * Runs a program in the checkout and waits for it. Its output goes to standard error, or, with `output: 'inherit'`,
 * where its own output goes.
 *
 * @returns {Promise<number>} its exit status; 128 and more if a signal ended it, 127 if it could not be started
 */
export function run(command, args, { cwd = ROOT, env = process.env, output = 'stderr' } = {}) {
  const stdio = output === 'inherit' ? 'inherit' : ['ignore', 2, 2]
  // Ctrl-C reaches the program as well; what it does about it decides how this ends.
  const wait = () => {}
  process.on('SIGINT', wait)
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio })
    const done = (status) => {
      process.off('SIGINT', wait)
      resolve(status)
    }
    child.on('error', (error) => {
      say(`cannot start ${command}: ${error.message}`)
      done(127)
    })
    child.on('exit', (code, signal) => done(signal === null ? (code ?? 1) : signal === 'SIGINT' ? 130 : 128))
  })
}

/** Standard output of a program, or undefined if it cannot be started or fails. */
export function output(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part) => (text += part))
    child.on('error', () => resolve(undefined))
    child.on('close', (code) => resolve(code === 0 ? text : undefined))
  })
}

/** Runs npm, with the npm that runs us if there is one. */
export function npm(args) {
  const own = process.env.npm_execpath
  if (own !== undefined && /npm-cli\.c?js$/.test(own)) {
    return run(process.execPath, [own, ...args])
  }
  // On Windows npm is a batch file, which only a shell can start. The arguments are our own.
  return process.platform === 'win32' ? run('cmd.exe', ['/d', '/s', '/c', 'npm', ...args]) : run('npm', args)
}
