'use strict'

const { COMMON } = require('../flags.js')
const { withWorkspace } = require('../session.js')
const { printable } = require('../terminal.js')

/** @type {import('../commands.js').Command} */
const pause = {
  usage: '',
  about: 'Stop indexing, in every process, until `sextant resume`. What was finished is kept.',
  flags: COMMON,
  async run(args, output) {
    const status = await withWorkspace(args, async (workspace) => {
      await workspace.pause()
      return workspace.status()
    })
    if (output.json) {
      output.document(status)
      return
    }
    output.line(`indexing of ${printable(status.roots.join(', '))} is paused; \`sextant resume\` goes on`)
  },
}

module.exports = { pause }
