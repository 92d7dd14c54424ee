import assert from 'node:assert/strict'
import { test } from 'node:test'
import { require } from './helpers.mjs'

const { highlightLines } = require('../lib/cli/highlight.js')
const { editDistance, didYouMean } = require('../lib/cli/near-miss.js')

const mark = (style, text) => `<${style} ${text}>`
const check = (language, words, source, expected) =>
  assert.equal(highlightLines(source.split('\n'), language, new Set(words), mark).join('\n'), expected)

test('comments, texts, numbers and keywords are told apart', () => {
  check('typescript', [], "const a = 'x // y' // end", "<magenta const> a = <green 'x // y'> <dim // end>")
  check('rust', [], "fn f<'a>(c: u8) { 0xff }", "<magenta fn> f<'a>(c: u8) { <cyan 0xff> }")
  check('python', [], 'return "#" # end', '<magenta return> <green "#"> <dim # end>')
  check('go', [], 'a /* one\ntwo */ b', 'a <dim /* one>\n<dim two */> b')
  check('markdown', [], "it's a \"plain\" text", "it's a \"plain\" text")
})

test('words that were asked for stand out everywhere, also as parts of names', () => {
  const expired = '<bold <yellow isExpired>>'
  check('javascript', ['expired'], 'isExpired(x) // not isExpired yet', `${expired}(x) <dim // not >${expired}<dim  yet>`)
  check('unheard-of', ['expired'], 'isExpired', expired)
})

test('no input loses a character', () => {
  const source = 'a"b\'c`d/*e*/\u00e9\ud83d\ude00\t#\\ "\\'
  for (const language of ['javascript', 'rust', 'python', 'lua', 'plaintext']) {
    assert.equal(highlightLines([source], language, new Set(['b']), (_, text) => text)[0], source)
  }
})

test('near misses are named, far ones are not', () => {
  assert.equal(editDistance('kitten', 'sitting'), 3)
  assert.equal(didYouMean('hybird', ['tfidf', 'hybrid']), '; did you mean hybrid?')
  assert.equal(didYouMean('zzz', ['tfidf', 'hybrid']), '')
})
