'use strict'

const { formatDuration, plural } = require('../columns.js')
const { EXIT_DONE, describeFailure } = require('../failure.js')
const { WATCH } = require('../flags.js')
const { ProgressBar } = require('../progress-bar.js')
const { openWorkspace, syncIfCleared, untilInterrupted } = require('../session.js')

/** @typedef {import('../../../index.js').WatchEvent} WatchEvent */
/** @typedef {import('../../../index.js').IndexReport} IndexReport */
/** @typedef {import('../output.js').Output} Output */

/** @type {import('../commands.js').Command} */
const watch = {
  usage: '',
  about: 'Keep the index current until Ctrl-C. With --json, print one document a line: {"event", ...}.',
  flags: WATCH,
  async run(args, output) {
    const debounceDelay = args.count('debounce')
    const interrupted = untilInterrupted()
    const bar = new ProgressBar()
    const teller = new Teller(output, bar)
    // A watch does not keep the process alive.
    const alive = setInterval(() => {}, 2 ** 30)
    try {
      const workspace = await openWorkspace(args)
      try {
        await syncIfCleared(workspace, { signal: interrupted.signal, onProgress: bar.update })
        await workspace.watch({ ...(debounceDelay !== undefined && { debounceDelay }) }, teller.tell)
        await interrupted.promise
      } finally {
        await workspace.close()
      }
    } catch (error) {
      if (!interrupted.signal.aborted || describeFailure(error).code !== 'CANCELLED') {
        throw error
      }
    } finally {
      bar.clear()
      clearInterval(alive)
      interrupted.release()
    }
    return EXIT_DONE
  },
}

/** Says what happens, and nothing twice in a row. */
class Teller {
  /**
   * @param {Output} output
   * @param {ProgressBar} bar shows the first run, which may take long
   */
  constructor(output, bar) {
    this.output = output
    this.bar = bar
    this.isReady = false
    /** @type {ReadonlySet<string>} */
    this.noticed = new Set()
    /** @type {string | undefined} */
    this.failure = undefined
    /** @param {WatchEvent} event */
    this.tell = (event) => (event.type === 'progress' ? this.progress(event.progress) : this.done(event))
  }

  /** @param {import('../../../index.js').Progress} progress */
  progress(progress) {
    if (!this.isReady) {
      this.bar.update(progress)
    }
  }

  /** @param {Exclude<WatchEvent, { type: 'progress' }>} event */
  done({ type, ...event }) {
    this.bar.clear()
    if (this.output.json) {
      this.output.document({ event: type, ...event })
    } else if ('report' in event) {
      this.synced(event.report)
    } else if (event.message !== this.failure) {
      this.failure = event.message
      process.stderr.write(`${this.output.paintNotice('red', 'sextant:')} ${event.message}\n`)
    }
  }

  /** @param {IndexReport} report */
  synced(report) {
    const took = formatDuration(report.tookMs)
    const files = plural(report.files, 'file')
    const changes = [
      [report.changed, 'changed'],
      [report.added, 'added'],
      [report.removed, 'removed'],
    ].filter(([count]) => count !== 0)
    const update = changes.map(([count, what]) => `${count} ${what}`).join(', ')
    this.output.line(this.isReady ? `${update} in ${took}; ${files}` : `ready in ${took}: ${files}; Ctrl-C ends the watch`)
    this.isReady = true
    this.failure = undefined
    this.output.degraded(report.degraded.filter(({ message }) => !this.noticed.has(message)))
    this.noticed = new Set(report.degraded.map(({ message }) => message))
  }
}

module.exports = { watch }
