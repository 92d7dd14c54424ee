'use strict'

/**
 * Rows with their cells aligned; numbers to the right.
 *
 * @param {readonly (readonly (string | number)[])[]} rows
 */
function alignColumns(rows) {
  /** @type {number[]} */
  const widths = []
  for (const row of rows) {
    row.forEach((cell, index) => (widths[index] = Math.max(widths[index] ?? 0, String(cell).length)))
  }
  return rows.map((row) =>
    row
      .map((cell, index) => (typeof cell === 'number' ? String(cell).padStart(widths[index]) : cell.padEnd(widths[index])))
      .join('  ')
      .trimEnd(),
  )
}

/** @param {number} bytes */
function formatBytes(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`
}

/** @param {number} ms */
function formatDuration(ms) {
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

/**
 * "1 file", "2 files".
 *
 * @param {number} count
 * @param {string} noun
 */
function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

module.exports = { alignColumns, formatBytes, formatDuration, plural }
