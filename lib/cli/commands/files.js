'use strict'

const { alignColumns, formatBytes, plural } = require('../columns.js')
const { COMMON } = require('../flags.js')
const { withWorkspace } = require('../session.js')
const { shownPath } = require('../shown-path.js')

/** @type {import('../commands.js').Command} */
const files = {
  usage: '',
  about: 'List the files in the index.',
  flags: COMMON,
  async run(args, output) {
    const files = await withWorkspace(args, (workspace) => workspace.files())
    if (output.json) {
      output.document({ files })
      return
    }
    const rows = files.map((file) => [
      file.chunks,
      formatBytes(file.size).padStart(8),
      file.language,
      shownPath(file.root, file.path),
    ])
    alignColumns([['chunks', '    size', 'language', 'path'], ...rows]).forEach((row) => output.line(row))
    output.line(output.paint('dim', plural(files.length, 'file')))
  },
}

module.exports = { files }
