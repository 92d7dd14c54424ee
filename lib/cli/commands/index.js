'use strict'

const { formatDuration, plural } = require('../columns.js')
const { describeFailure } = require('../failure.js')
const { INDEXING } = require('../flags.js')
const { withWorkspace } = require('../session.js')

/** @type {import('../commands.js').Command} */
const index = {
  usage: '[ROOT...]',
  about: 'Build the index or bring it up to date.',
  flags: INDEXING,
  async run(args, output) {
    writeReport(await withWorkspace(args, (workspace, call) => workspace.sync(call).catch(explainPause), args.positionals), output)
  },
}

/**
 * @param {unknown} error
 * @returns {never}
 */
function explainPause(error) {
  if (error instanceof Error && describeFailure(error).code === 'INDEX_PAUSED') {
    error.message = 'indexing is paused; `sextant resume` goes on where it stopped'
  }
  throw error
}

/**
 * Writes what a run did.
 *
 * @param {import('../../../index.js').IndexReport} report
 * @param {import('../output.js').Output} output
 */
function writeReport(report, output) {
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
}

module.exports = { explainPause, index, writeReport }
