// What callers bring along: models, a log, settings that change.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTree, require, Workspace } from './helpers.mjs'

const { renderContext } = require('../index.js')

const TREE = {
  'wagon.py': 'def wagon():\n    """horses pull the heavy wagon across muddy fields"""\n',
  'kettle.py': 'def kettle():\n    """boiling water whistles within the copper kettle"""\n',
  'anchor.py': 'def anchor():\n    """sailors drop their iron anchor near the harbour"""\n',
}

/** Vectors of words: texts that share words are near. */
function vectorOf(text) {
  const vector = new Float32Array(32).fill(0.01)
  for (const word of text.match(/\w{3,}/g) ?? []) {
    let hash = 7
    for (const character of word) hash = (hash * 31 + character.charCodeAt(0)) % 997
    vector[hash % 32] += 1
  }
  return vector
}

async function open(t, options = {}, tree = TREE) {
  const { root, storage } = makeTree(t, tree)
  const workspace = await Workspace.open({ roots: [root], storage, cache: join(storage, 'cache'), ...options })
  t.after(() => workspace.close())
  return { workspace, root, storage }
}

test('a function makes the vectors, and is asked once for each text and query', async (t) => {
  const asked = []
  const embed = async ({ texts, role }, { signal }) => {
    assert.ok(signal instanceof AbortSignal)
    asked.push([role, texts.length])
    return texts.map(vectorOf)
  }
  const { workspace } = await open(t, { embedder: { id: 'words', dimensions: 32, embed }, config: { vectorDb: { batchSize: 2 } } })
  const phases = new Set()
  const report = await workspace.sync({ onProgress: ({ phase }) => phases.add(phase) })
  assert.deepEqual([report.textsEmbedded, report.textsPending], [3, 0])
  assert.ok(phases.has('embed'))
  assert.deepEqual(asked, [
    ['document', 2],
    ['document', 1],
  ])
  assert.match((await workspace.status()).model, /words/)
  const search = { query: 'water whistles in copper', strategy: 'embeddings' }
  assert.equal((await workspace.search(search)).hits[0].path, 'kettle.py')
  assert.equal((await workspace.search(search)).cached, true)
  assert.deepEqual(asked.at(-1), ['query', 1])
  assert.equal(asked.length, 3)
})

test('arrays of numbers are vectors as well, and a wrong answer is said', async (t) => {
  let answer = (texts) => texts.map((text) => [...vectorOf(text)])
  const embed = ({ texts }) => answer(texts)
  const { workspace } = await open(t, { embedder: { id: 'numbers', embed } })
  assert.equal((await workspace.sync()).textsEmbedded, 3)
  for (const [wrong, message] of [
    [() => 'no', /embed gave "no"; expected an array/],
    [() => [], /0 vectors for 1 texts/],
    [() => [[1, 2]], /vector of 2 dimensions; expected 32/],
    [() => [['a']], /values that are no numbers/],
    [() => [new Uint8Array(32)], /no Float32Array/],
    [() => { throw new Error('out of order') }, /out of order/],
    [() => Promise.reject(new Error('rejected')), /rejected/],
  ]) {
    answer = wrong
    writeFileSync(join((await workspace.status()).roots[0], 'new.py'), `def new_${Math.random()}(): pass\n`.replace('0.', ''))
    const report = await workspace.sync()
    assert.equal(report.textsPending, 1)
    assert.match(report.degraded[0].message, message)
  }
  const answered = await workspace.search({ query: 'boiling water' })
  assert.equal(answered.hits[0].path, 'kettle.py')
  assert.equal(answered.strategy, 'tfidf')
  assert.equal(answered.degraded[0].code, 'EMBEDDINGS_UNAVAILABLE')
  assert.deepEqual(
    answered.tried.map(({ strategy, outcome }) => `${strategy} ${outcome}`),
    ['full skipped', 'remote skipped', 'hybrid failed', 'tfidf answered'],
  )
})

test('a function that hangs is left, is told so, and does not keep a sync from being cancelled', async (t) => {
  const signals = []
  const embed = (_, { signal }) => new Promise(() => signals.push(signal))
  const config = { embedding: { timeout: 60_000, queryTimeout: 30 } }
  const { workspace } = await open(t, { embedder: { id: 'hangs', embed }, config })
  const abort = new AbortController()
  const syncing = workspace.sync({ signal: abort.signal, onProgress: ({ phase }) => phase === 'embed' && abort.abort() })
  await assert.rejects(syncing, { code: 'CANCELLED' })
  const answer = await workspace.search({ query: 'boiling water' })
  assert.equal(answer.hits[0].path, 'kettle.py')
  while (!signals.every((signal) => signal.aborted)) await new Promise((resolve) => setTimeout(resolve, 1))
})

test('a question that nobody waits for any more is not asked of a function', async (t) => {
  const roles = []
  const embed = ({ texts, role }) => {
    roles.push(role)
    return texts.map(vectorOf)
  }
  const { workspace } = await open(t, { embedder: { id: 'busy', embed }, config: { embedding: { queryTimeout: 30 } } })
  await workspace.sync()
  const searching = workspace.search({ query: 'boiling water' })
  // The thread of the function is busy for longer than the question is worth.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
  assert.equal((await searching).hits[0].path, 'kettle.py')
  assert.deepEqual([...new Set(roles)], ['document'])
})

test('a language model puts the question in other words', async (t) => {
  const asked = []
  const complete = async (request, { signal }) => {
    assert.ok(signal instanceof AbortSignal)
    asked.push(request)
    return request.purpose === 'intent' ? 'find-code;' : '## Question\nWhere does the kettle boil water?\n\n## Keywords\n- kettle, pot\n- boiling\n'
  }
  const { workspace } = await open(t, { languageModel: { complete }, config: { query: { intent: true } } })
  await workspace.sync()
  const history = [{ question: 'what is in the kitchen?', answer: 'a kettle' }]
  const answer = await workspace.search({ query: 'and where does it get hot?', history })
  assert.equal(answer.query, 'and where does it get hot?')
  assert.equal(answer.question, 'Where does the kettle boil water?')
  assert.deepEqual(answer.keywords[0], { word: 'kettle', variations: ['pot'] })
  assert.equal(answer.intent, 'find-code')
  assert.equal(answer.hits[0].path, 'kettle.py')
  const intent = asked.find(({ purpose }) => purpose === 'intent')
  assert.deepEqual([intent.maxTokens, intent.stop], [20, [';']])
  const plain = await workspace.search({ query: 'and where does it get hot?', history, rewrite: false })
  assert.equal(plain.question, 'and where does it get hot?')
  assert.equal(asked.length, 2)
})

test('a language model that fails or is slow costs a notice', async (t) => {
  let complete = () => Promise.reject(new Error('quota exceeded'))
  const languageModel = { complete: (...args) => complete(...args) }
  const { workspace } = await open(t, { languageModel, config: { query: { wait: 100 } } })
  await workspace.sync()
  const failed = await workspace.search({ query: 'boiling water' })
  assert.deepEqual([failed.hits[0].path, failed.degraded[0].code], ['kettle.py', 'QUERY_NOT_REWRITTEN'])
  assert.match(failed.degraded[0].message, /quota exceeded/)
  complete = () => new Promise(() => {})
  const slow = await workspace.search({ query: 'boiling water' })
  assert.deepEqual([slow.hits[0].path, slow.degraded[0].code], ['kettle.py', 'QUERY_NOT_REWRITTEN'])
})

test('settings change while a workspace is open, and the log is told what was asked for', async (t) => {
  const logged = []
  const { workspace } = await open(t, { onLog: (level, message) => logged.push([level, message]) })
  await workspace.sync()
  assert.equal((await workspace.search({ query: 'boiling water' })).strategy, 'hybrid')
  assert.deepEqual(logged.filter(([level]) => level === 'debug'), [])
  await workspace.configure({ vectorDb: { enabled: false, logLevel: 'debug', searchResultLimit: 1 } })
  const answer = await workspace.search({ query: 'boiling water in fields' })
  assert.deepEqual([answer.strategy, answer.hits.length], ['tfidf', 1])
  assert.ok(logged.some(([level, message]) => level === 'debug' && message.includes('tfidf answered')))
  await assert.rejects(workspace.configure({ vectorDb: { debounceDelay: 1 } }), { code: 'INVALID_ARGUMENT', message: /from 100 to 10000/ })
})

test('a small workspace is answered whole under a budget, and hits become a prompt', async (t) => {
  const { workspace } = await open(t)
  await workspace.sync()
  const whole = await workspace.search({ query: 'anything', tokenBudget: 5000 })
  assert.deepEqual([whole.strategy, whole.hits.map((hit) => hit.path)], ['full', ['anchor.py', 'kettle.py', 'wagon.py']])
  const some = await workspace.search({ query: 'boiling water', strategy: 'tfidf', tokenBudget: 12 })
  assert.equal(some.hits.length, 1)
  assert.ok(some.tokens <= 12 && some.omitted.lines === 1)
  const context = renderContext(whole.hits, { order: 'best-last', tokenBudget: 1000 })
  assert.equal(context.rendered, 3)
  assert.ok(context.text.indexOf('wagon.py') < context.text.indexOf('anchor.py'))
  assert.match(context.text, /`kettle\.py`/)
  assert.equal(context.cutLines, 0)
  const budget = renderContext([whole.hits[0]]).tokens - 1
  assert.equal(renderContext([whole.hits[0]], { tokenBudget: budget }).cutLines, 1)
  const twins = ['/a/app', '/b/app'].map((root) => ({ ...whole.hits[0], root }))
  const both = renderContext(twins)
  assert.equal(both.rendered, 2)
  assert.match(both.text, /`a\/app\/anchor\.py`/)
  assert.throws(() => renderContext([{ path: 'a' }]), { code: 'INVALID_ARGUMENT' })
  assert.throws(() => renderContext(whole.hits, { order: 'worst' }), { code: 'INVALID_ARGUMENT' })
})
