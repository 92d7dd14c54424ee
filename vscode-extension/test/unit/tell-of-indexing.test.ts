import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { tellOfIndexing } from '../../src/chat/tell-of-indexing'
import type { Progress } from '../../src/engine'
import type { IndexState, Snapshot } from '../../src/session'

/** A session whose state the test sets, and what is told of it. */
suite('what the chat is told of indexing', () => {
  let listener: ((snapshot: Snapshot) => void) | undefined
  let snapshot: Snapshot
  let told: string[]
  setup(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    snapshot = { state: { kind: 'ready' }, status: undefined, report: undefined, updatedAt: undefined, trouble: [] }
    told = []
    listener = undefined
  })
  teardown(() => { mock.timers.reset() })

  const become = (state: IndexState): void => {
    snapshot = { ...snapshot, state }
    listener?.(snapshot)
  }
  const indexing = (phase: Progress['phase'], filesDone: number): void => {
    become({ kind: 'indexing', progress: { phase, filesDone, filesTotal: 100, currentFile: null, remainingMs: null, location: 'notification' } })
  }
  const follow = (): { dispose(): void } => {
    const session = {
      get snapshot(): Snapshot { return snapshot },
      onChange: (added: (snapshot: Snapshot) => void) => {
        listener = added
        return { dispose: () => { listener = undefined } }
      },
    }
    return tellOfIndexing(session, (line) => { told.push(line) })
  }

  test('a short run is not worth a line', () => {
    follow()
    indexing('index', 0)
    mock.timers.tick(999)
    become({ kind: 'ready' })
    mock.timers.tick(5000)
    assert.deepEqual(told, [])
  })

  test('a long one has a line for each phase, however often it tells', () => {
    follow()
    for (let done = 0; done < 50; done++) {
      indexing('index', done)
      mock.timers.tick(100)
    }
    for (let done = 0; done < 50; done++) {
      indexing('embed', done)
      mock.timers.tick(100)
    }
    assert.deepEqual(told, ['Indexing: 9 of 100 files', 'Waiting for the embedding service: 9 of 100 texts'])
  })

  test('one that goes on already is told, and nothing after the end', () => {
    indexing('index', 3)
    const telling = follow()
    mock.timers.tick(1000)
    assert.deepEqual(told, ['Indexing: 3 of 100 files'])
    indexing('commit', 1)
    telling.dispose()
    mock.timers.tick(5000)
    assert.equal(told.length, 1)
    assert.equal(listener, undefined)
  })
})
