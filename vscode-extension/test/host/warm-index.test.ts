import assert from 'node:assert/strict'
import { ready, until } from './host'

/** Run twice with the same storage: what one window indexed, the next one opens. */
suite('an index that is opened again', () => {
  test('is the one of the first run, and nothing is indexed anew', async () => {
    const { session } = await ready()
    const report = await until('the first run is done', () => session.snapshot.report)
    if (process.env['SEXTANT_TEST_LABEL'] === 'warm') {
      assert.deepEqual([report.added, report.changed, report.removed], [0, 0, 0])
      assert.ok(report.unchanged >= 7)
    } else {
      assert.ok(report.added >= 7)
    }
    assert.equal((await session.search({ query: 'retry a failed request' })).hits[0]?.path, 'src/net/retry.ts')
  })
})
