'use strict'

const path = require('node:path')
const { printable } = require('./terminal.js')

/**
 * The path to show for a file: relative to the current folder where it is below it, so that it can be opened from
 * there, and absolute elsewhere.
 *
 * @param {string} root
 * @param {string} relative
 */
function shownPath(root, relative) {
  const absolute = path.join(root, relative)
  const fromHere = path.relative(process.cwd(), absolute)
  const below = fromHere !== '' && !path.isAbsolute(fromHere) && fromHere.split(path.sep)[0] !== '..'
  return printable(below ? fromHere : absolute)
}

module.exports = { shownPath }
