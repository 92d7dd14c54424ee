'use strict'

const { formatDuration, plural } = require('../columns.js')
const { COMMON } = require('../flags.js')
const { withWorkspace } = require('../session.js')

/** @type {import('../commands.js').Command} */
const index = {
  usage: '[ROOT...]',
  about: 'Build the index or bring it up to date.',
  flags: COMMON,
  async run(args, output) {
    const report = await withWorkspace(args, (workspace, call) => workspace.sync(call), args.positionals)
    if (output.json) {
      output.document(report)
      return
    }
    output.line(
      `${plural(report.files, 'file')}, ${plural(report.chunks, 'chunk')} in ${formatDuration(report.tookMs)}: ` +
        `${report.added} added, ${report.changed} changed, ${report.removed} removed, ${report.unchanged} unchanged`,
    )
    if (report.skipped.length > 0) {
      output.line(`${plural(report.skipped.length, 'path')} left out; \`sextant skipped\` lists them with the reasons`)
    }
    output.degraded(report.degraded)
  },
}

module.exports = { index }
