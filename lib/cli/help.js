'use strict'

const { alignColumns } = require('./columns.js')

/** @typedef {import('./commands.js').Command} Command */

/**
 * @param {Readonly<Record<string, Command>>} commands
 * @returns {string}
 */
function helpForAll(commands) {
  const rows = Object.entries(commands).map(([name, command]) => [`  sextant ${name} ${command.usage}`, command.about])
  return [
    'Sextant finds the lines that answer a question about your code. Everything stays on this machine.',
    '',
    ...alignColumns(rows),
    '',
    '`sextant COMMAND --help` lists the flags of a command; `sextant --version` prints the version.',
  ].join('\n')
}

/**
 * @param {string} name
 * @param {Command} command
 * @returns {string}
 */
function helpFor(name, command) {
  const rows = Object.entries(command.flags).map(([flag, { kind, value, values, about }]) => [
    `  --${flag}${value === undefined ? '' : ` ${value}`}`,
    [about, ...(kind === 'list' ? ['may be repeated'] : []), ...(values === undefined ? [] : [`one of ${values.join(', ')}`])].join('; '),
  ])
  return [`usage: sextant ${name} ${command.usage}`.trimEnd(), '', command.about, '', ...alignColumns(rows)].join('\n')
}

module.exports = { helpFor, helpForAll }
