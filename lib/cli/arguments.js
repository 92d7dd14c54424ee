'use strict'

const { usageError } = require('./failure.js')
const { didYouMean } = require('./near-miss.js')

/**
 * A flag: whether it stands alone, takes one value, or may be repeated; what its value is called; what it does; and
 * the values it may have, if it is one of a few.
 *
 * @typedef {{ kind: 'switch' | 'value' | 'list', value?: string, about: string, values?: readonly string[] }} Flag
 */

/** @typedef {Readonly<Record<string, Flag>>} Flags */

/**
 * A parsed command line. Asking for a flag that the command does not have is a mistake of ours, and throws.
 */
class Arguments {
  /** @param {Flags} flags */
  constructor(flags) {
    /** What is not a flag. @type {string[]} */
    this.positionals = []
    /** @type {Map<string, string[]>} */
    this.given = new Map()
    this.flags = flags
  }

  /**
   * Whether the command has a flag.
   *
   * @param {string} name
   */
  knows(name) {
    return Object.hasOwn(this.flags, name)
  }

  /**
   * Whether a switch was given.
   *
   * @param {string} name
   */
  has(name) {
    return this.all(name).length > 0
  }

  /**
   * The value of a flag, or undefined.
   *
   * @param {string} name
   */
  value(name) {
    return this.all(name).at(-1)
  }

  /**
   * Every value of a flag.
   *
   * @param {string} name
   */
  all(name) {
    if (this.flags[name] === undefined) {
      throw new Error(`the command has no flag --${name}`)
    }
    return this.given.get(name) ?? []
  }

  /**
   * The value of a flag that counts something, or undefined.
   *
   * @param {string} name
   */
  count(name) {
    const text = this.value(name)
    if (text !== undefined && !/^[0-9]{1,9}$/.test(text)) {
      throw usageError(`--${name} is ${JSON.stringify(text)}; expected a whole number`)
    }
    return text === undefined ? undefined : Number(text)
  }
}

/**
 * Reads a command line. `--flag value` and `--flag=value` are the same; `--` ends the flags.
 *
 * @param {readonly string[]} words
 * @param {Flags} flags
 */
function parseArguments(words, flags) {
  const parsed = new Arguments(flags)
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      parsed.positionals.push(...rest)
      break
    }
    if (word === '-h') {
      word = '--help'
    }
    if (!word.startsWith('-') || word === '-') {
      parsed.positionals.push(word)
      continue
    }
    const [, name = word, value] = /^--([^=]+)(?:=([\s\S]*))?$/.exec(word) ?? []
    take(parsed, name, value, rest)
  }
  return parsed
}

/**
 * @param {Arguments} parsed
 * @param {string} name
 * @param {string | undefined} inline what stood behind an equals sign
 * @param {string[]} rest
 */
function take(parsed, name, inline, rest) {
  const flag = Object.hasOwn(parsed.flags, name) ? parsed.flags[name] : undefined
  if (flag === undefined) {
    const known = Object.keys(parsed.flags).map((known) => `--${known}`)
    const written = name.startsWith('-') ? name : `--${name}`
    const hint = didYouMean(written, known)
    throw usageError(`there is no flag ${written} here${hint || '; write -- before words that begin with a dash'}`)
  }
  const values = parsed.given.get(name) ?? []
  if (flag.kind === 'switch') {
    if (inline !== undefined) {
      throw usageError(`--${name} takes no value`)
    }
    parsed.given.set(name, ['true'])
    return
  }
  const value = inline ?? rest.shift()
  if (value === undefined || value === '') {
    throw usageError(`--${name} needs a value: --${name} ${flag.value}`)
  }
  if (flag.values !== undefined && !flag.values.includes(value)) {
    const hint = didYouMean(value, flag.values)
    throw usageError(`--${name} is ${JSON.stringify(value)}; expected one of ${flag.values.join(', ')}${hint}`)
  }
  if (flag.kind === 'value' && values.length > 0) {
    throw usageError(`--${name} is given twice`)
  }
  parsed.given.set(name, [...values, value])
}

module.exports = { Arguments, parseArguments }
