'use strict'

/** @typedef {import('./arguments.js').Flags} Flags */

/** @type {Flags} */
const GLOBAL = {
  json: { kind: 'switch', about: 'print one JSON document (watch: one a line)' },
  'no-color': { kind: 'switch', about: 'print without colours (also: the variable NO_COLOR)' },
  help: { kind: 'switch', about: 'explain the command' },
}

/** Flags of every command that works on a workspace. @type {Flags} */
const COMMON = {
  root: { kind: 'list', value: 'DIR', about: 'a folder of the workspace (default: the current one)' },
  storage: { kind: 'value', value: 'DIR', about: 'folder of the database (default: in the cache folder)' },
  config: { kind: 'value', value: 'FILE', about: 'settings as JSON (docs/settings.md)' },
  ...GLOBAL,
}

/** Flags of every command that may index. @type {Flags} */
const INDEXING = {
  'performance-mode': {
    kind: 'value',
    value: 'MODE',
    about: 'how much of the machine indexing may take: all cores (the default), half of them, one',
    values: ['performance', 'balanced', 'memory'],
  },
  ...COMMON,
}

/** @type {Flags} */
const WATCH = {
  debounce: { kind: 'value', value: 'MS', about: 'milliseconds without a change before an update (default: 1000)' },
  ...INDEXING,
}

/** @type {Flags} */
const SEARCH = {
  limit: { kind: 'value', value: 'N', about: 'most hits wanted (default: 10, or what the budget has room for)' },
  strategy: {
    kind: 'value',
    value: 'NAME',
    about: 'how to search (default: auto)',
    values: ['auto', 'full', 'remote', 'embeddings', 'tfidf', 'hybrid'],
  },
  path: { kind: 'list', value: 'GLOB', about: 'only files below a folder or that match a glob' },
  language: { kind: 'list', value: 'NAME', about: 'only files in a language' },
  kind: {
    kind: 'list',
    value: 'KIND',
    about: 'only chunks of a kind',
    values: ['function', 'class', 'component', 'hook', 'type', 'export', 'section', 'full-file', 'block'],
  },
  'token-budget': { kind: 'value', value: 'N', about: 'most tokens of text over all hits; a small workspace is then shown whole' },
  queries: { kind: 'value', value: 'FILE', about: 'ask every {"query", "id"?} of a JSONL file (-: standard input)' },
  'no-sync': { kind: 'switch', about: 'ask the index as it is' },
  explain: { kind: 'switch', about: 'say how each score came about' },
  ...INDEXING,
}

module.exports = { COMMON, GLOBAL, INDEXING, SEARCH, WATCH }
