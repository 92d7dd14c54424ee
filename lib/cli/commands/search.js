'use strict'

const { EXIT_DONE, usageError } = require('../failure.js')
const { SEARCH } = require('../flags.js')
const { writeHits } = require('../hits.js')
const { answerQueries } = require('../queries.js')
const { evenIfCleared, withWorkspace } = require('../session.js')

/** @typedef {import('../../../index.js').SearchOptions} SearchOptions */

/** @type {import('../commands.js').Command} */
const search = {
  usage: 'QUERY | --queries FILE',
  about: 'Ask in your own words, or name a symbol. Brings the index up to date first.',
  flags: SEARCH,
  async run(args, output) {
    const filters = readFilters(args)
    const file = args.value('queries')
    if (file !== undefined) {
      if (args.positionals.length > 0) {
        throw usageError('ask either one query or those of --queries FILE')
      }
      return answerQueries(args, file, filters)
    }
    if (args.positionals.length === 0) {
      throw usageError('the query is missing: sextant search "where is the token checked"')
    }
    // Words without quotes are one question.
    const query = args.positionals.join(' ')
    const sync = !args.has('no-sync')
    const answer = await withWorkspace(args, (workspace, call) => {
      const ask = () => workspace.search({ query, ...filters, sync }, call)
      return sync ? evenIfCleared(workspace, call, ask) : ask()
    })
    if (output.json) {
      output.document(answerDocument(answer, filters))
      return EXIT_DONE
    }
    output.degraded(answer.degraded)
    writeHits(answer, filters, output)
    return EXIT_DONE
  },
}

/**
 * @param {import('../arguments.js').Arguments} args
 * @returns {Omit<SearchOptions, 'query'>}
 */
function readFilters(args) {
  const limit = args.count('limit')
  const tokenBudget = args.count('token-budget')
  const strategy = /** @type {SearchOptions['strategy']} */ (args.value('strategy'))
  return {
    ...(limit !== undefined && { limit }),
    ...(tokenBudget !== undefined && { tokenBudget }),
    ...(strategy !== undefined && { strategy }),
    paths: args.all('path'),
    languages: args.all('language'),
    kinds: /** @type {import('../../../index.js').ChunkKind[]} */ (args.all('kind')),
    explain: args.has('explain'),
  }
}

/**
 * The answer as a script sees it: hits say how their score came about only if that was asked for.
 *
 * @param {import('../../../index.js').SearchResponse} answer
 * @param {Omit<SearchOptions, 'query'>} filters
 */
function answerDocument(answer, filters) {
  if (filters.explain === true) {
    return answer
  }
  return { ...answer, hits: answer.hits.map(({ explanation: _, ...hit }) => hit) }
}

module.exports = { answerDocument, search }
