'use strict'

const { readFileSync } = require('node:fs')
const { Workspace } = require('../../index.js')
const { CommandError, EXIT_FAILED, EXIT_INTERRUPTED, describeFailure } = require('./failure.js')
const { ProgressBar } = require('./progress-bar.js')

/** @typedef {import('./arguments.js').Arguments} Arguments */
/** @typedef {import('../../index.js').CallOptions} CallOptions */

/**
 * Opens the workspace that a command line names.
 *
 * @param {Arguments} args
 * @param {readonly string[]} [roots] folders named in another way than by --root
 */
function openWorkspace(args, roots = []) {
  const named = [...roots, ...args.all('root')]
  const storage = args.value('storage')
  return Workspace.open({
    roots: named.length > 0 ? named : ['.'],
    ...(storage !== undefined && { storage }),
    config: readConfig(args),
  })
}

/**
 * Opens the workspace that a command line names, lets `work` use it, and closes it. Ctrl-C stops what runs; a second
 * one ends the process.
 *
 * @template T
 * @param {Arguments} args
 * @param {(workspace: Workspace, call: CallOptions) => Promise<T>} work
 * @param {readonly string[]} [roots] folders named in another way than by --root
 */
async function withWorkspace(args, work, roots = []) {
  const workspace = await openWorkspace(args, roots)
  const abort = new AbortController()
  const bar = new ProgressBar()
  const interrupt = () => {
    if (abort.signal.aborted) {
      process.exit(EXIT_INTERRUPTED)
    }
    bar.clear()
    process.stderr.write('stopping; press Ctrl-C again to end at once\n')
    abort.abort()
  }
  process.on('SIGINT', interrupt)
  try {
    return await work(workspace, { signal: abort.signal, onProgress: bar.update })
  } finally {
    bar.clear()
    process.off('SIGINT', interrupt)
    await workspace.close()
  }
}

/**
 * Waits for Ctrl-C or a polite request to end; a second one ends the process.
 */
function untilInterrupted() {
  const abort = new AbortController()
  const { signal } = abort
  const interrupt = () => {
    if (signal.aborted) {
      process.exit(EXIT_INTERRUPTED)
    }
    abort.abort()
  }
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM'])
  signals.forEach((name) => process.on(name, interrupt))
  return {
    signal,
    /** @type {Promise<void>} */
    promise: new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    release: () => signals.forEach((name) => process.off(name, interrupt)),
  }
}

/**
 * The settings of --config, --performance-mode and the environment.
 *
 * @param {Arguments} args
 * @returns {import('../../index.js').Config}
 */
function readConfig(args) {
  const file = args.value('config')
  const config = file === undefined ? {} : readSettings(file)
  const mode = args.knows('performance-mode') ? args.value('performance-mode') : undefined
  const key = process.env['SEXTANT_API_KEY'] ?? ''
  return {
    ...config,
    ...(isGroup(config.vectorDb) && {
      vectorDb: {
        // Who types a command waits for it.
        performanceMode: 'performance',
        ...config.vectorDb,
        ...(mode !== undefined && { performanceMode: /** @type {'performance' | 'balanced' | 'memory'} */ (mode) }),
      },
    }),
    ...(key !== '' && isGroup(config.embedding) && { embedding: { apiKey: key, ...config.embedding } }),
  }
}

/**
 * Whether a group of settings can be added to. What is no group is left as it is, to be refused by its name.
 *
 * @param {unknown} group
 */
function isGroup(group) {
  return group === undefined || (typeof group === 'object' && group !== null && !Array.isArray(group))
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandError('CONFIG_UNREADABLE', `cannot read the settings ${file}: ${why}`, EXIT_FAILED)
  }
}

/**
 * @param {string} file
 * @returns {import('../../index.js').Config}
 */
function readSettings(file) {
  const text = readText(file)
  try {
    const config = JSON.parse(text)
    if (typeof config === 'object' && config !== null && !Array.isArray(config)) {
      return config
    }
  } catch {
    // Said below, as for JSON of another kind.
  }
  throw new CommandError('CONFIG_INVALID', `${file} is no JSON object of settings; docs/settings.md lists them`, EXIT_FAILED)
}

/**
 * Builds an index that was cleared: a person who watches wants one. What else is wrong, the watch meets, and says.
 *
 * @param {Workspace} workspace
 * @param {CallOptions} call
 */
async function syncIfCleared(workspace, call) {
  const status = await workspace.status().catch(() => null)
  if (status?.state === 'cleared') {
    await workspace.sync(call)
  }
}

/**
 * The answer of `ask`, for which an index that was cleared is built: a person who asks wants one, a program may not.
 *
 * @template T
 * @param {Workspace} workspace
 * @param {CallOptions} call
 * @param {() => Promise<T>} ask
 */
async function evenIfCleared(workspace, call, ask) {
  try {
    return await ask()
  } catch (error) {
    if (describeFailure(error).code !== 'INDEX_CLEARED') {
      throw error
    }
    await workspace.sync(call)
    return ask()
  }
}

module.exports = { evenIfCleared, openWorkspace, syncIfCleared, untilInterrupted, withWorkspace }
