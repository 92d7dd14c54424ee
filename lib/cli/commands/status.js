'use strict'

const { alignColumns, formatBytes, plural } = require('../columns.js')
const { COMMON } = require('../flags.js')
const { withWorkspace } = require('../session.js')
const { printable } = require('../terminal.js')

/** @type {import('../commands.js').Command} */
const status = {
  usage: '',
  about: 'Say how the index stands. Watching is about this process alone: what other processes watch does not show.',
  flags: COMMON,
  async run(args, output) {
    const status = await withWorkspace(args, (workspace) => workspace.status())
    if (output.json) {
      output.document(status)
      return
    }
    const rows = [
      ['state', status.state],
      ...status.roots.map((root, index) => [index === 0 ? 'roots' : '', printable(root)]),
      ['files', String(status.files)],
      ['chunks', String(status.chunks)],
      ['out of date', plural(status.pendingFiles, 'file')],
      ...(status.progress === null ? [] : [['progress', `${status.progress.filesDone} of ${plural(status.progress.filesTotal, 'file')}`]]),
      ['model', status.model],
      ['database', `${formatBytes(status.databaseBytes)} in ${printable(status.storage)}`],
      ['watching', status.watching ? 'yes' : 'not by this process'],
      ...status.degraded.map(({ code, message }) => ['degraded', `${code}: ${printable(message)}`]),
      ['last error', status.lastError === null ? 'none' : `${status.lastError.code}: ${status.lastError.message}`],
    ]
    alignColumns(rows).forEach((row) => output.line(row))
  },
}

module.exports = { status }
