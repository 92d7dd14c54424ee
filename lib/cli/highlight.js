'use strict'

const { FAMILIES, familyOf } = require('./syntax.js')

/** @typedef {import('./terminal.js').Paint} Paint */
/** @typedef {import('./syntax.js').Family} Family */

/**
 * Colours lines of code: comments, texts, numbers, keywords, and above all the words that were asked for. Goes by
 * tokens, not by grammar: a hit may begin anywhere.
 *
 * @param {readonly string[]} lines
 * @param {string} language
 * @param {ReadonlySet<string>} words lower-case words to emphasise
 * @param {Paint} paint
 */
function highlightLines(lines, language, words, paint) {
  const family = FAMILIES[familyOf(language)]
  const run = (/** @type {import('./terminal.js').Style | undefined} */ style, /** @type {string} */ text) =>
    paintRun(style, text, words, paint)
  let inComment = false
  return lines.map((line) => {
    let rest = line
    let out = ''
    if (inComment && family.commentEnd !== undefined) {
      const end = rest.indexOf(family.commentEnd)
      const length = end < 0 ? rest.length : end + family.commentEnd.length
      out += run('dim', rest.slice(0, length))
      rest = rest.slice(length)
      inComment = end < 0
    }
    for (const { 0: token, groups } of rest.matchAll(family.tokens)) {
      if (groups?.open !== undefined) {
        inComment = true
        out += run('dim', token)
      } else if (groups?.comment !== undefined) {
        out += run('dim', token)
      } else if (groups?.text !== undefined) {
        out += run('green', token)
      } else if (groups?.number !== undefined) {
        out += paint('cyan', token)
      } else if (groups?.word !== undefined && family.keywords.has(token)) {
        out += paint('magenta', token)
      } else {
        out += run(undefined, token)
      }
    }
    return out
  })
}

/**
 * `text` in one style, except for the words that were asked for.
 *
 * @param {import('./terminal.js').Style | undefined} style
 * @param {string} text
 * @param {ReadonlySet<string>} words
 * @param {Paint} paint
 */
function paintRun(style, text, words, paint) {
  const plain = (/** @type {string} */ part) => (part === '' || style === undefined ? part : paint(style, part))
  let out = ''
  let done = 0
  for (const { 0: word, index } of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu)) {
    const parts = [word, ...word.split(/[_$]|(?<=[a-z0-9])(?=[A-Z])/)]
    if (parts.some((part) => words.has(part.toLowerCase()))) {
      out += plain(text.slice(done, index)) + paint('bold', paint('yellow', word))
      done = index + word.length
    }
  }
  return out + plain(text.slice(done))
}

module.exports = { highlightLines }
