'use strict'

const { Workspace } = require('../../index.js')
const { EXIT_INTERRUPTED } = require('./failure.js')
const { ProgressBar } = require('./progress-bar.js')

/** @typedef {import('./arguments.js').Arguments} Arguments */
/** @typedef {import('../../index.js').CallOptions} CallOptions */

/**
 * Opens the workspace that a command line names, lets `work` use it, and closes it. Ctrl-C stops what runs; a second
 * one ends the process.
 *
 * @template T
 * @param {Arguments} args
 * @param {(workspace: Workspace, call: CallOptions) => Promise<T>} work
 * @param {readonly string[]} [roots] folders named in another way than by --root
 */
async function withWorkspace(args, work, roots = []) {
  const named = [...roots, ...args.all('root')]
  const storage = args.value('storage')
  const workspace = await Workspace.open({
    roots: named.length > 0 ? named : ['.'],
    ...(storage !== undefined && { storage }),
  })
  const abort = new AbortController()
  const bar = new ProgressBar()
  const interrupt = () => {
    if (abort.signal.aborted) {
      process.exit(EXIT_INTERRUPTED)
    }
    bar.clear()
    process.stderr.write('stopping; press Ctrl-C again to end at once\n')
    abort.abort()
  }
  process.on('SIGINT', interrupt)
  try {
    return await work(workspace, { signal: abort.signal, onProgress: bar.update })
  } finally {
    bar.clear()
    process.off('SIGINT', interrupt)
    await workspace.close()
  }
}

module.exports = { withWorkspace }
