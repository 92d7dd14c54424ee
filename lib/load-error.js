'use strict'

/**
 * What to say when the native addon cannot be loaded. index.js calls this.
 *
 * @param {readonly unknown[]} errors why each try failed, in order
 * @param {() => boolean} isMusl whether this Linux uses musl
 * @returns {Error & { code: string }}
 */
function loadError(errors, isMusl) {
  const { platform, arch } = process
  const libc = platform === 'linux' ? (isMusl() ? 'musl' : 'gnu') : undefined
  const machine = [platform, arch, libc].filter((part) => part !== undefined).join('-')
  const reasons = errors.map((error) => `  - ${firstLine(error)}`)
  const message = [
    `sextant's native addon cannot be loaded on ${machine} (Node ${process.versions.node}); tried:`,
    ...reasons,
    'what helps: install the package again with optional dependencies (npm install --include=optional) on this very machine;',
    'in a checkout, or where there is no prebuilt addon for the machine, build it: npm ci && npm run build',
  ].join('\n')
  return Object.assign(new Error(message, { cause: errors[0] }), { code: 'NATIVE_ADDON_UNAVAILABLE' })
}

/** @param {unknown} error */
function firstLine(error) {
  const message = error instanceof Error ? error.message : String(error)
  return message.split('\n', 1)[0]
}

module.exports = { loadError }
