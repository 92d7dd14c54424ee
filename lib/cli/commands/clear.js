'use strict'

const { COMMON } = require('../flags.js')
const { withWorkspace } = require('../session.js')

/** @type {import('../commands.js').Command} */
const clear = {
  usage: '',
  about: 'Remove the index. `index`, `search` or `resume` builds it anew; a watch does not.',
  flags: COMMON,
  async run(args, output) {
    const status = await withWorkspace(args, async (workspace) => {
      await workspace.clear()
      return workspace.status()
    })
    if (output.json) {
      output.document(status)
      return
    }
    output.line(`the index of ${status.roots.join(', ')} is removed`)
  },
}

module.exports = { clear }
