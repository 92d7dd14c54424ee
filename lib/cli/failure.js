'use strict'

/** Done, also for no hits. */
const EXIT_DONE = 0
/** The command was right and failed. */
const EXIT_FAILED = 1
/** The command line was wrong. */
const EXIT_USAGE = 2
/** Ctrl-C, as shells count it. */
const EXIT_INTERRUPTED = 130

/** Codes of the API that mean: the command line was wrong. */
const USAGE_CODES = new Set(['EMPTY_QUERY', 'INVALID_ARGUMENT'])

/** A failure of the command line itself; those of the API have the same two properties. */
class CommandError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {number} [exitCode]
   */
  constructor(code, message, exitCode = EXIT_FAILED) {
    super(message)
    this.code = code
    this.exitCode = exitCode
  }
}

/** @param {string} message */
function usageError(message) {
  return new CommandError('INVALID_USAGE', message, EXIT_USAGE)
}

/**
 * What an error of any kind says to the outside.
 *
 * @param {unknown} error
 * @returns {{ code: string, message: string, exitCode: number }}
 */
function describeFailure(error) {
  if (!(error instanceof Error)) {
    return { code: 'INTERNAL', message: String(error), exitCode: EXIT_FAILED }
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'INTERNAL'
  if (error instanceof CommandError) {
    return { code, message: error.message, exitCode: error.exitCode }
  }
  if (code === 'CANCELLED') {
    return { code, message: error.message, exitCode: EXIT_INTERRUPTED }
  }
  return { code, message: error.message, exitCode: USAGE_CODES.has(code) ? EXIT_USAGE : EXIT_FAILED }
}

module.exports = { CommandError, EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, describeFailure, usageError }
