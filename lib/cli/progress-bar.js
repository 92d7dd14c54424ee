'use strict'

const { printable } = require('./terminal.js')

/** @typedef {import('../../index.js').Progress} Progress */

const BAR_CHARS = 24
/** Between two lines where there is no terminal to draw on. */
const LINE_INTERVAL_MS = 10_000

const PHASES = { walk: 'listing files', index: 'indexing', commit: 'writing the index', embed: 'waiting for vectors' }

/** Shows how far a run is, on standard error. */
class ProgressBar {
  constructor() {
    this.stream = process.stderr
    this.drawn = false
    this.lastLine = performance.now()
    /** @param {Progress} progress */
    this.update = (progress) => (this.stream.isTTY ? this.draw(progress) : this.writeLine(progress))
  }

  /** Takes the bar away. */
  clear() {
    if (this.drawn) {
      this.stream.write('\r\x1b[K')
      this.drawn = false
    }
  }

  /** @param {Progress} progress */
  draw(progress) {
    const { filesDone, filesTotal } = progress
    const share = filesTotal > 0 ? Math.min(1, filesDone / filesTotal) : 0
    const full = Math.round(share * BAR_CHARS)
    const bar = filesTotal > 0 ? ` [${'#'.repeat(full)}${'-'.repeat(BAR_CHARS - full)}]` : ''
    const file = progress.currentFile === null ? '' : ` ${printable(progress.currentFile)}`
    const text = `${PHASES[progress.phase]}${bar} ${counted(progress)}${left(progress)}${file}`
    this.stream.write(`\r\x1b[K${text.slice(0, Math.max(0, (this.stream.columns || 80) - 1))}`)
    this.drawn = true
  }

  /** @param {Progress} progress */
  writeLine(progress) {
    const now = performance.now()
    if (now - this.lastLine >= LINE_INTERVAL_MS) {
      this.lastLine = now
      this.stream.write(`${PHASES[progress.phase]}: ${counted(progress)}${left(progress)}\n`)
    }
  }
}

/** @param {Progress} progress */
function counted({ phase, filesDone, filesTotal }) {
  const what = phase === 'embed' ? 'texts' : 'files'
  return filesTotal > 0 ? `${filesDone} of ${filesTotal} ${what}` : `${filesDone} ${what}`
}

/** @param {Progress} progress */
function left({ remainingMs }) {
  return remainingMs === null ? '' : `, about ${Math.ceil(remainingMs / 1000)} s left`
}

module.exports = { ProgressBar }
