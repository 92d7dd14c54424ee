'use strict'

/**
 * ", did you mean X?" for the candidate that is nearest to what was typed, or nothing if none is near.
 *
 * @param {string} typed
 * @param {readonly string[]} candidates
 */
function didYouMean(typed, candidates) {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(typed.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  const near = best !== undefined && best.distance <= Math.max(1, Math.floor(best.candidate.length / 3))
  return near ? `; did you mean ${best.candidate}?` : ''
}

/**
 * Single-character insertions, deletions and substitutions from `a` to `b` (Levenshtein).
 *
 * @param {string} a
 * @param {string} b
 */
function editDistance(a, b) {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = previous[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(previous[j] + 1, current[j - 1] + 1, substituted))
    }
    previous = current
  }
  return previous[b.length]
}

module.exports = { didYouMean, editDistance }
