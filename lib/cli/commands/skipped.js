'use strict'

const { alignColumns, plural } = require('../columns.js')
const { COMMON } = require('../flags.js')
const { withWorkspace } = require('../session.js')
const { shownPath } = require('../shown-path.js')

/** @type {import('../commands.js').Command} */
const skipped = {
  usage: '',
  about: 'List what the last run left out, and why.',
  flags: COMMON,
  async run(args, output) {
    const skipped = await withWorkspace(args, (workspace) => workspace.skipped())
    if (output.json) {
      output.document({ skipped })
      return
    }
    const rows = skipped.map(({ root, path, reason }) => [shownPath(root, path), reason])
    alignColumns(rows).forEach((row) => output.line(row))
    output.line(output.paint('dim', `${plural(skipped.length, 'path')} left out`))
  },
}

module.exports = { skipped }
