'use strict'

// What the highlighter knows about languages: how comments and texts look, and which words are keywords. Table only.

/**
 * @typedef {{
 *   tokens: RegExp, // cuts a line into tokens; the named groups say what they are
 *   commentEnd: string | undefined, // what ends a comment that goes over lines
 *   keywords: ReadonlySet<string>,
 * }} Family
 */

const WORD = String.raw`(?<word>[\p{L}_$][\p{L}\p{N}_$]*)`
const NUMBER = String.raw`(?<number>\b\d[\d_.a-fxA-FX]*\b)`
const DOUBLE = String.raw`"(?:[^"\\]|\\.)*"`
const SINGLE = String.raw`'(?:[^'\\]|\\.)*'`
// A single character: in Rust and its like a lone quote is a lifetime.
const CHARACTER = String.raw`'(?:[^'\\]|\\.[^']*)'`
const TEMPLATE = '`(?:[^`\\\\]|\\\\.)*`'
const REST = String.raw`\s+|[^\s]`

/**
 * @param {string} comment one that goes to the end of the line
 * @param {string} text
 * @param {boolean} block whether there are comments between slash-star and star-slash
 */
function tokens(comment, text, block) {
  const closed = block ? String.raw`\/\*.*?\*\/|` : ''
  const open = block ? String.raw`(?<open>\/\*.*)|` : ''
  return new RegExp(`(?<comment>${closed}${comment})|${open}(?<text>${text})|${NUMBER}|${WORD}|${REST}`, 'gu')
}

/** @param {string} words */
const keywords = (words) => new Set(words.split(/\s+/))

/** @satisfies {Record<string, Family>} */
const FAMILIES = {
  script: {
    tokens: tokens(String.raw`\/\/.*`, `${DOUBLE}|${SINGLE}|${TEMPLATE}`, true),
    commentEnd: '*/',
    keywords: keywords(`abstract any as async await boolean break case catch class const continue default delete do else
      enum export extends false final finally for from function get if implements import in instanceof interface let new
      null number of package private protected public readonly return set static string super switch this throw true try
      type typeof undefined var void while yield`),
  },
  braces: {
    tokens: tokens(String.raw`\/\/.*`, `${DOUBLE}|${CHARACTER}`, true),
    commentEnd: '*/',
    keywords: keywords(`abstract as async auto await base bool break byte case catch chan char class const continue crate
      default defer delete do double dyn else enum explicit export extends extern false final finally float fn for func
      fun go goto guard if impl implements import in inline int interface internal is let long loop match mod move mut
      namespace new nil null object operator override package private protected pub public readonly ref return sealed
      select self Self short signed sizeof static struct super switch template this throw trait true try type typedef
      union unsafe unsigned use using val var virtual void volatile when where while with yield`),
  },
  hash: {
    tokens: tokens('#.*', `${DOUBLE}|${SINGLE}`, false),
    commentEnd: undefined,
    keywords: keywords(`and as assert async await begin break case class continue def defmodule del do done elif else
      elsif end ensure esac except export false False fi finally for from function global if import in is lambda local
      module None nil nonlocal not or pass raise require rescue return self then True true try unless until use when
      while with yield`),
  },
  dashes: {
    tokens: tokens('--.*', `${DOUBLE}|${SINGLE}`, false),
    commentEnd: undefined,
    keywords: keywords(`and as break case class data deriving do else elseif end false for from function if import in
      infix instance let local module newtype nil not of or repeat return select then true type until where while`),
  },
  prose: {
    tokens: new RegExp(`${WORD}|${REST}`, 'gu'),
    commentEnd: undefined,
    keywords: new Set(),
  },
}

/** @type {Record<string, keyof typeof FAMILIES>} */
const BY_LANGUAGE = {
  ...Object.fromEntries(
    ['javascript', 'javascriptreact', 'typescript', 'typescriptreact', 'vue', 'svelte', 'dart', 'php', 'json', 'jsonc', 'graphql'].map(
      (name) => [name, 'script'],
    ),
  ),
  ...Object.fromEntries(
    ['rust', 'go', 'java', 'c', 'cpp', 'csharp', 'kotlin', 'swift', 'scala', 'solidity', 'zig', 'css', 'scss', 'proto', 'proto3'].map((name) => [
      name,
      'braces',
    ]),
  ),
  ...Object.fromEntries(
    ['python', 'ruby', 'shellscript', 'yaml', 'toml', 'elixir', 'r', 'powershell', 'terraform', 'dockerfile', 'makefile'].map((name) => [name, 'hash']),
  ),
  haskell: 'dashes',
  lua: 'dashes',
  sql: 'dashes',
}

/** @param {string} language */
function familyOf(language) {
  return Object.hasOwn(BY_LANGUAGE, language) ? BY_LANGUAGE[language] : 'prose'
}

module.exports = { FAMILIES, familyOf }
