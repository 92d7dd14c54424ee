'use strict'

const { existsSync } = require('node:fs')
const path = require('node:path')
const { plural } = require('../columns.js')
const { usageError } = require('../failure.js')
const { COMMON } = require('../flags.js')
const { highlightLines } = require('../highlight.js')
const { withWorkspace } = require('../session.js')
const { printable } = require('../terminal.js')

/** @type {import('../commands.js').Command} */
const chunks = {
  usage: 'FILE',
  about: 'Show how a file is cut into chunks.',
  flags: COMMON,
  async run(args, output) {
    const [file, ...more] = args.positionals
    if (file === undefined || more.length > 0) {
      throw usageError('name one file: sextant chunks FILE')
    }
    const named = fileToChunk(file, args.all('root'))
    const answer = await withWorkspace(args, (workspace) => workspace.chunks(named))
    if (output.json) {
      output.document(answer)
      return
    }
    for (const chunk of answer.chunks) {
      const name = chunk.name === null ? '' : `  ${output.paint('bold', printable(chunk.name))}`
      const place = output.paint('cyan', `${printable(answer.path)}:${chunk.startLine}-${chunk.endLine}`)
      output.line(`${place}${name}  ${output.paint('dim', `${chunk.kind}, ${plural(chunk.tokens, 'token')}`)}`)
      const lines = chunk.text.split(/\r?\n/).map((line) => printable(line))
      highlightLines(lines, answer.language, new Set(), output.paint).forEach((line) => output.line(`  ${line}`.trimEnd()))
      output.line('')
    }
    output.line(output.paint('dim', `${plural(answer.chunks.length, 'chunk')} (${answer.language})`))
  },
}

/**
 * A file is relative to a root; if no root has it, to the current folder, as every other program would take it.
 *
 * @param {string} file
 * @param {readonly string[]} roots
 */
function fileToChunk(file, roots) {
  const inRoot = roots.some((root) => existsSync(path.join(root, file)))
  return inRoot || !existsSync(file) ? file : path.resolve(file)
}

module.exports = { chunks }
