'use strict'

const { formatDuration, plural } = require('./columns.js')
const { highlightLines } = require('./highlight.js')
const { shownPath } = require('./shown-path.js')
const { printable } = require('./terminal.js')

/** @typedef {import('../../index.js').Hit} Hit */
/** @typedef {import('./output.js').Output} Output */

/** Lines of a hit that are shown; the rest is counted. */
const MAX_LINES = 30
/** Characters of a line that are shown on a terminal. */
const MAX_COLUMNS = 200

/**
 * Writes an answer for a person.
 *
 * @param {import('../../index.js').SearchResponse} answer
 * @param {Omit<import('../../index.js').SearchOptions, 'query'>} filters
 * @param {Output} output
 */
function writeHits(answer, filters, output) {
  const words = queryWords(answer.query)
  answer.hits.forEach((hit, index) => writeHit(hit, index + 1, words, output))
  if (answer.hits.length === 0) {
    output.line(`no hits for ${JSON.stringify(answer.query)}`)
    output.line(suggestion(filters))
    return
  }
  const { hits, lines } = answer.omitted
  const left = [hits > 0 ? plural(hits, 'hit') : '', lines > 0 ? plural(lines, 'line') : ''].filter((part) => part !== '')
  const omitted = left.length > 0 ? `; no room for ${left.join(' and ')}` : ''
  const summary = `${plural(answer.hits.length, 'hit')} in ${formatDuration(answer.tookMs)} (${answer.strategy})${omitted}`
  output.line(output.paint('dim', summary))
  if (filters.explain === true) {
    for (const { strategy, outcome, reason, ms } of answer.tried) {
      output.line(output.paint('dim', `${strategy}: ${outcome} in ${formatDuration(ms)}; ${reason}`))
    }
  }
}

/**
 * @param {Hit} hit
 * @param {number} rank
 * @param {ReadonlySet<string>} words
 * @param {Output} output
 */
function writeHit(hit, rank, words, output) {
  const { paint } = output
  const place = `${shownPath(hit.root, hit.path)}:${hit.startLine}-${hit.endLine}`
  const what = [hit.name === null ? '' : paint('bold', printable(hit.name)), paint('dim', hit.kind)]
  output.line(`${rank}. ${paint('cyan', place)}  ${what.filter((part) => part !== '').join('  ')}`)
  for (const { name, value } of hit.explanation) {
    output.line(paint('dim', `   ${name}: ${Number(value.toPrecision(4))}`))
  }
  const lines = hit.text.replace(/\r?\n$/, '').split(/\r?\n/)
  const shown = lines.slice(0, MAX_LINES).map((line) => shorten(printable(line)))
  const width = String(hit.startLine + shown.length - 1).length
  highlightLines(shown, hit.language, words, paint).forEach((line, index) => {
    const number = String(hit.startLine + index).padStart(width)
    output.line(`   ${paint('dim', `${number} |`)} ${line}`.trimEnd())
  })
  if (lines.length > shown.length) {
    output.line(paint('dim', `   ... ${plural(lines.length - shown.length, 'more line')}`))
  }
  output.line('')
}

/** @param {string} line */
function shorten(line) {
  const tooLong = process.stdout.isTTY && line.length > MAX_COLUMNS
  return tooLong ? `${line.slice(0, MAX_COLUMNS)} ...` : line
}

/** @param {Omit<import('../../index.js').SearchOptions, 'query'>} filters */
function suggestion(filters) {
  const filtered = [filters.paths, filters.languages, filters.kinds].some((list) => list !== undefined && list.length > 0)
  return filtered
    ? 'try without --path, --language or --kind'
    : 'try other words, or a name from the code; `sextant skipped` lists what is not in the index'
}

/**
 * The words to emphasise: those of three letters and more.
 *
 * @param {string} query
 * @returns {Set<string>}
 */
function queryWords(query) {
  return new Set((query.toLowerCase().match(/[\p{L}\p{N}_$]{3,}/gu) ?? []).filter((word) => !COMMON_WORDS.has(word)))
}

const COMMON_WORDS = new Set(
  'and are can does for from get has have how into its not that the their then there this was what when where which who why will with'.split(' '),
)

module.exports = { writeHits }
