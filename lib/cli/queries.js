'use strict'

const { readFileSync } = require('node:fs')
const { CommandError, EXIT_DONE, EXIT_FAILED, describeFailure } = require('./failure.js')
const { withWorkspace } = require('./session.js')

/** @typedef {{ line: number, query: string, id: unknown }} Query */

/**
 * Answers every query of a file, one JSON document a line, in the order of the file. The index is brought up to date
 * once, before the first. A query that fails is answered by its error; the others are answered all the same.
 *
 * @param {import('./arguments.js').Arguments} args
 * @param {string} file
 * @param {Omit<import('../../index.js').SearchOptions, 'query'>} filters
 */
async function answerQueries(args, file, filters) {
  const { answerDocument } = require('./commands/search.js')
  const queries = parseQueries(readQueries(file), file)
  return withWorkspace(args, async (workspace, call) => {
    const paused = args.has('no-sync') ? [] : await syncUnlessPaused(workspace, call)
    /** @type {import('../../index.js').CallOptions} */
    const quiet = call.signal === undefined ? {} : { signal: call.signal }
    let status = EXIT_DONE
    for (const { query, id } of queries) {
      const document = await workspace.search({ query, ...filters }, quiet).then(
        (answer) => answerDocument({ ...answer, degraded: [...paused, ...answer.degraded] }, filters),
        (error) => {
          const { code, message } = describeFailure(error)
          if (code === 'CANCELLED') {
            throw error
          }
          status = EXIT_FAILED
          return { query, error: { code, message } }
        },
      )
      process.stdout.write(`${JSON.stringify(id === undefined ? document : { id, ...document })}\n`)
    }
    return status
  })
}

/**
 * Brings the index up to date; in a pause the last complete one answers, and every answer says so.
 *
 * @param {import('../../index.js').Workspace} workspace
 * @param {import('../../index.js').CallOptions} call
 * @returns {Promise<{ code: string, message: string }[]>}
 */
async function syncUnlessPaused(workspace, call) {
  try {
    await workspace.sync(call)
    return []
  } catch (error) {
    const { code, message } = describeFailure(error)
    if (code !== 'INDEX_PAUSED') {
      throw error
    }
    return [{ code, message: `answered from an older index: ${message}` }]
  }
}

/** @param {string} file */
function readQueries(file) {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new CommandError('QUERIES_UNREADABLE', `cannot read ${file}: ${describeFailure(error).message}`)
  }
}

/**
 * @param {string} text
 * @param {string} file
 * @returns {Query[]}
 */
function parseQueries(text, file) {
  const lines = text.replace(/^\ufeff/, '').split('\n')
  return lines.flatMap((content, index) => {
    if (content.trim() === '') {
      return []
    }
    const line = index + 1
    const value = parseLine(content)
    if (typeof value !== 'object' || value === null || typeof value.query !== 'string') {
      const expected = 'expected a JSON object with the text "query"'
      throw new CommandError('QUERIES_INVALID', `line ${line} of ${file} is no query; ${expected}`)
    }
    return [{ line, query: value.query, id: value.id }]
  })
}

/**
 * @param {string} content
 * @returns {any}
 */
function parseLine(content) {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

module.exports = { answerQueries, parseQueries }
