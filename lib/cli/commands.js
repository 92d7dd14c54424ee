'use strict'

const { chunks } = require('./commands/chunks.js')
const { clear } = require('./commands/clear.js')
const { files } = require('./commands/files.js')
const { index } = require('./commands/index.js')
const { pause } = require('./commands/pause.js')
const { resume } = require('./commands/resume.js')
const { search } = require('./commands/search.js')
const { skipped } = require('./commands/skipped.js')
const { status } = require('./commands/status.js')
const { watch } = require('./commands/watch.js')

/**
 * A command: what follows its name, what it does, its flags, and how it runs. It answers the exit status, if not 0.
 *
 * @typedef {{
 *   usage: string,
 *   about: string,
 *   flags: import('./arguments.js').Flags,
 *   run: (args: import('./arguments.js').Arguments, output: import('./output.js').Output) => Promise<number | void>,
 * }} Command
 */

/** @type {Readonly<Record<string, Command>>} */
const COMMANDS = { index, search, watch, files, skipped, chunks, status, pause, resume, clear }

/** Commands that later versions will have. */
const LATER_COMMANDS = ['mcp']

module.exports = { COMMANDS, LATER_COMMANDS }
