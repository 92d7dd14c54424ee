'use strict'

const { INDEXING } = require('../flags.js')
const { withWorkspace } = require('../session.js')
const { explainPause, writeReport } = require('./index.js')

/** @type {import('../commands.js').Command} */
const resume = {
  usage: '',
  about: 'End a pause and go on where indexing stopped.',
  flags: INDEXING,
  async run(args, output) {
    // Somebody may pause again meanwhile.
    writeReport(await withWorkspace(args, (workspace, call) => workspace.resume(call).catch(explainPause)), output)
  },
}

module.exports = { resume }
