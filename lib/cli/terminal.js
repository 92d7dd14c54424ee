'use strict'

/** The escape codes we use. */
const CODES = { bold: [1, 22], dim: [2, 22], underline: [4, 24], red: [31, 39], green: [32, 39], yellow: [33, 39], magenta: [35, 39], cyan: [36, 39] }

/** @typedef {keyof typeof CODES} Style */
/** @typedef {(style: Style, text: string) => string} Paint */

/** @type {Paint} */
const plain = (_style, text) => text

/** @type {Paint} */
const coloured = (style, text) => `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`

/**
 * How to colour what goes to `stream`: not at all unless it is a terminal whose user wants colours.
 *
 * @param {NodeJS.WriteStream} stream
 * @param {boolean} wanted false after --no-color
 */
function paintFor(stream, wanted) {
  const { NO_COLOR, TERM } = process.env
  const colour = wanted && stream.isTTY && TERM !== 'dumb' && (NO_COLOR === undefined || NO_COLOR === '')
  return colour ? coloured : plain
}

/**
 * `text` without anything that a terminal would act on: file contents and names are not to be trusted.
 *
 * @param {string} text
 */
function printable(text) {
  // eslint-disable-next-line no-control-regex -- finding these is the point
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
}

module.exports = { paintFor, plain, printable }
