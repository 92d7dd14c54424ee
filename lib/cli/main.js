'use strict'

const { writeSync } = require('node:fs')

const { parseArguments } = require('./arguments.js')
const { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED, CommandError, describeFailure, usageError } = require('./failure.js')
const { GLOBAL } = require('./flags.js')
const { helpFor, helpForAll } = require('./help.js')
const { didYouMean } = require('./near-miss.js')
const { Output } = require('./output.js')

/**
 * Ends the process when its output cannot be written. Who reads it may have gone, as in `sextant files | head`: that is no
 * failure. Anything else, such as a full disk behind a redirection, is.
 */
function endWhenNobodyReads() {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code === 'EPIPE') {
        process.exit(EXIT_DONE)
      }
      try {
        writeSync(process.stderr.fd, `sextant: cannot write the output: ${error.message}\n`)
      } catch {
        // Standard error is what cannot be written.
      }
      process.exit(EXIT_FAILED)
    })
  }
}

/**
 * Runs a command line. The exit status is set, not forced, so that everything written arrives.
 *
 * @param {readonly string[]} words
 */
async function main(words) {
  endWhenNobodyReads()
  const flags = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined)
  const output = new Output({ json: flags.includes('--json'), color: !flags.includes('--no-color') })
  try {
    process.exitCode = await run(words, output)
  } catch (error) {
    process.exitCode = report(error, output)
  }
}

/**
 * @param {unknown} error
 * @param {Output} output
 */
function report(error, output) {
  const { code, message, exitCode } = describeFailure(error)
  if (output.json) {
    output.document({ error: { code, message } })
    return exitCode
  }
  const text = exitCode === EXIT_INTERRUPTED ? 'stopped; the last complete index is intact' : message
  process.stderr.write(`${output.paintNotice('red', 'sextant:')} ${text}\n`)
  if (exitCode === EXIT_USAGE) {
    process.stderr.write('`sextant --help` explains the commands\n')
  }
  return exitCode
}

/**
 * @param {readonly string[]} words
 * @param {Output} output
 * @returns {Promise<number>}
 */
async function run(words, output) {
  const at = words.findIndex((word) => !word.startsWith('-'))
  const global = parseArguments(at < 0 ? words : words.slice(0, at), {
    ...GLOBAL,
    version: { kind: 'switch', about: 'print the version' },
  })
  if (global.has('version')) {
    output.line(require('../../package.json').version)
    return EXIT_DONE
  }
  // Loads the addon; the version can be printed without it.
  const { COMMANDS, LATER_COMMANDS } = require('./commands.js')
  const name = words[at]
  if (global.has('help') || name === 'help') {
    const asked = words[at + 1]
    output.line(asked !== undefined && Object.hasOwn(COMMANDS, asked) ? helpFor(asked, COMMANDS[asked]) : helpForAll(COMMANDS))
    return EXIT_DONE
  }
  if (name === undefined) {
    throw usageError(`the command is missing: one of ${Object.keys(COMMANDS).join(', ')}`)
  }
  if (LATER_COMMANDS.includes(name)) {
    throw new CommandError('NOT_AVAILABLE', `the command ${name} is not available yet`, EXIT_USAGE)
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    const hint = didYouMean(name, Object.keys(COMMANDS))
    throw usageError(`there is no command ${name}${hint || `; there are ${Object.keys(COMMANDS).join(', ')}`}`)
  }
  const command = COMMANDS[name]
  const args = parseArguments(words.slice(at + 1), command.flags)
  if (args.has('help')) {
    output.line(helpFor(name, command))
    return EXIT_DONE
  }
  if (command.usage === '' && args.positionals.length > 0) {
    throw usageError(`sextant ${name} takes no ${JSON.stringify(args.positionals[0])}; name folders with --root DIR`)
  }
  return (await command.run(args, output)) ?? EXIT_DONE
}

module.exports = { main }
