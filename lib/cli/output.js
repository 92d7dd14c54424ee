'use strict'

const { paintFor } = require('./terminal.js')

/** Where a command writes: answers to standard output, everything else to standard error. */
class Output {
  /** @param {{ json: boolean, color: boolean }} options */
  constructor({ json, color }) {
    this.json = json
    /** Colours what goes to standard output. */
    this.paint = paintFor(process.stdout, color && !json)
    /** Colours what goes to standard error. */
    this.paintNotice = paintFor(process.stderr, color)
  }

  /**
   * A line of the answer.
   *
   * @param {string} text
   */
  line(text) {
    process.stdout.write(`${text}\n`)
  }

  /**
   * The answer as JSON: one document on one line.
   *
   * @param {unknown} value
   */
  document(value) {
    this.line(JSON.stringify(value))
  }

  /**
   * Something to know besides the answer.
   *
   * @param {string} text
   */
  notice(text) {
    process.stderr.write(`${this.paintNotice('yellow', 'note:')} ${text}\n`)
  }

  /**
   * What made an answer less than complete. In JSON the answer itself says so.
   *
   * @param {readonly { message: string }[]} degraded
   */
  degraded(degraded) {
    for (const { message } of this.json ? [] : degraded) {
      this.notice(message)
    }
  }
}

module.exports = { Output }
