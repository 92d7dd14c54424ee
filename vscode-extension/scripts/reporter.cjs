// Mocha's own list of tests, a plain last line that a script can count, and the results as JSON in MOCHA_RESULTS.

const { writeFileSync } = require('node:fs')
const { reporters } = require('mocha')

module.exports = class extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    const results = { passed: 0, failed: 0, skipped: 0, failures: [] }
    runner.on('pass', () => { results.passed += 1 })
    runner.on('pending', () => { results.skipped += 1 })
    runner.on('fail', (test, error) => {
      results.failed += 1
      results.failures.push({ title: test.fullTitle(), error: String(error?.stack ?? error) })
    })
    runner.once('end', () => {
      if (process.env.MOCHA_RESULTS) {
        writeFileSync(process.env.MOCHA_RESULTS, JSON.stringify(results, null, 2))
      }
      process.stdout.write('')
      console.log(`${results.passed} passed, ${results.failed} failed, ${results.skipped} skipped`)
    })
  }
}
