import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '../../src/engine'
import { Session, type IndexState } from '../../src/session'
import { readSettings, type SettingKey, type Settings } from '../../src/settings'

const ADDON = join(__dirname, '../../../dist/addon')

const settings = (given: Partial<Record<SettingKey, unknown>> = {}): Settings => readSettings((key) => ({ 'vectorDb.debounceDelay': 100, ...given })[key]).settings

/** A session over the real addon, with two folders of one file each. */
suite('session', () => {
  let place: string
  let session: Session
  let states: string[]
  let logged: string[]
  const one = (): string => join(place, 'one')
  const two = (): string => join(place, 'two')

  setup(() => {
    place = mkdtempSync(join(tmpdir(), 'sextant-session-'))
    for (const [folder, word] of [[one(), 'alpha'], [two(), 'beta']] as const) {
      mkdirSync(folder)
      writeFileSync(join(folder, `${word}.ts`), `export function ${word}Counter(): number { return 1 }\n`)
    }
    states = []
    logged = []
    const log = (message: string): void => { logged.push(message) }
    session = new Session({ open: openEngine, addon: ADDON, storage: () => join(place, 'storage'), log: { debug: log, info: log, warn: log, error: log } })
    session.onChange(({ state }) => { if (states.at(-1) !== state.kind) { states.push(state.kind) } })
  })

  teardown(async () => {
    await session.close()
    rmSync(place, { recursive: true, force: true })
  })

  const reach = async (kind: IndexState['kind']): Promise<void> => {
    const end = Date.now() + 10_000
    while (session.snapshot.state.kind !== kind) {
      assert.ok(Date.now() < end, `${kind}, not ${JSON.stringify(session.snapshot.state)}`)
      await new Promise((done) => { setTimeout(done, 10) })
    }
  }
  const paths = async (query: string): Promise<string[]> => (await session.search({ query, sync: true })).hits.map(({ path }) => path)

  test('without a folder nothing is opened, and a search says so', async () => {
    await session.apply({ roots: [], settings: settings() })
    assert.deepEqual(session.snapshot.state, { kind: 'off' })
    await assert.rejects(session.search({ query: 'alpha' }), { code: 'NO_FOLDER' })
  })

  test('a folder is indexed and followed', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    assert.equal(session.snapshot.status?.watching, true)
    assert.deepEqual(await paths('alphaCounter'), ['alpha.ts'])
    writeFileSync(join(one(), 'gamma.ts'), 'export function gammaCounter(): number { return 3 }\n')
    await eventually(async () => (await session.search({ query: 'gammaCounter' })).hits[0]?.path === 'gamma.ts')
  })

  test('without background processing a search brings the index up to date', async () => {
    await session.apply({ roots: [one()], settings: settings({ 'vectorDb.enableBackgroundProcessing': false }) })
    await reach('ready')
    assert.equal(session.snapshot.status?.watching, false)
    writeFileSync(join(one(), 'gamma.ts'), 'export function gammaCounter(): number { return 3 }\n')
    assert.equal((await paths('gammaCounter'))[0], 'gamma.ts')
  })

  test('if nothing starts by itself, the index waits for the user', async () => {
    await session.apply({ roots: [one()], settings: settings({ 'index.startOnOpen': false }) })
    assert.equal(session.snapshot.state.kind, 'empty')
    assert.equal(session.snapshot.status?.watching, false)
    await session.index()
    await eventually(() => session.snapshot.status?.watching === true)
    assert.equal(session.snapshot.state.kind, 'ready')
  })

  test('folders come and go', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    await session.apply({ roots: [one(), two()], settings: settings() })
    assert.equal((await paths('betaCounter'))[0], 'beta.ts')
    await session.apply({ roots: [two()], settings: settings() })
    assert.ok(!(await paths('alphaCounter')).includes('alpha.ts'))
  })

  test('ignore rules act without opening the folder again', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    await session.apply({ roots: [one()], settings: settings({ 'ignore.exclude': ['alpha.ts'] }) })
    assert.deepEqual(await paths('alphaCounter'), [])
    assert.equal(session.snapshot.status?.watching, true, 'the watch goes on')
    await session.apply({ roots: [one()], settings: settings() })
    assert.deepEqual(await paths('alphaCounter'), ['alpha.ts'])
  })

  test('rules that change while a run goes on are not lost', async () => {
    mkdirSync(join(one(), 'build'))
    writeFileSync(join(one(), 'build', 'made.ts'), 'export const builtByMachine = 1\n')
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    for (let turn = 0; turn < 10; turn++) {
      await session.apply({ roots: [one()], settings: settings({ 'ignore.exclude': ['/nothing/'] }) })
      await new Promise((done) => { setTimeout(done, turn * 6) })
      await session.apply({ roots: [one()], settings: settings({ 'ignore.defaults': false }) })
      await eventually(async () => (await paths('builtByMachine')).includes('build/made.ts'))
      await session.apply({ roots: [one()], settings: settings() })
      await eventually(async () => !(await paths('builtByMachine')).includes('build/made.ts'))
    }
  })

  test('a folder that is not there is told, and the others are searched', async () => {
    await session.apply({ roots: [one()], missing: [join(place, 'gone')], settings: settings() })
    await reach('ready')
    assert.deepEqual(await paths('alphaCounter'), ['alpha.ts'])
    assert.match(session.snapshot.trouble.join(), /The folder .*gone is not there/)
    await session.apply({ roots: [one()], settings: settings() })
    assert.deepEqual(session.snapshot.trouble, [])
  })

  test('if none of the folders is there, that is a failure', async () => {
    await session.apply({ roots: [], missing: [join(place, 'gone')], settings: settings() })
    assert.deepEqual(session.snapshot.state.kind === 'failed' && session.snapshot.state.failure.code, 'ROOT_NOT_FOUND')
  })

  test('folders that the engine refuses leave it as it is, and the next change tries again', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    await session.apply({ roots: [one(), join(place, 'gone')], settings: settings() })
    assert.match(session.snapshot.trouble.join(), /^The new folders are not in use: .*gone/)
    assert.deepEqual(await paths('alphaCounter'), ['alpha.ts'])
    mkdirSync(join(place, 'gone'))
    await session.apply({ roots: [one(), join(place, 'gone')], settings: settings() })
    assert.deepEqual([session.snapshot.trouble, session.snapshot.status?.roots.length], [[], 2])
  })

  test('a folder that is deleted on the disk is told, and the others are searched', async () => {
    // As the life of the index looks: which folders are there?
    const folders = [one(), two()]
    let looks = 0
    const told = (): Promise<void> => session.apply({ roots: folders.filter((folder) => existsSync(folder)), missing: folders.filter((folder) => !existsSync(folder)), settings: settings() })
    const log = (message: string): void => { logged.push(message) }
    session = new Session({
      open: openEngine, addon: ADDON, storage: () => join(place, 'storage'), log: { debug: log, info: log, warn: log, error: log },
      lookAgain: async () => {
        looks += 1
        await told()
      },
    })
    await told()
    await reach('ready')
    rmSync(two(), { recursive: true })
    assert.deepEqual(await paths('alphaCounter'), ['alpha.ts'])
    await eventually(() => session.snapshot.trouble.some((message) => message.includes('two')))
    assert.ok(looks > 0)
    await reach('ready')
    assert.equal((await session.index()).files, 1)
  })

  test('a search that other folders stop is asked again', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    for (let turn = 0; turn < 5; turn++) {
      const asked = Array.from({ length: 4 }, () => paths('alphaCounter'))
      await session.apply({ roots: turn % 2 === 0 ? [one(), two()] : [one()], settings: settings() })
      for (const found of await Promise.all(asked)) {
        assert.equal(found[0], 'alpha.ts')
      }
    }
  })

  test('a cleared index stays so when it is opened again, whatever brings it up to date', async () => {
    const byItself = settings({ 'vectorDb.enableBackgroundProcessing': false })
    await session.apply({ roots: [one()], settings: byItself })
    await reach('ready')
    await session.clear()
    await session.apply({ roots: [], settings: byItself })
    await session.apply({ roots: [one()], settings: byItself })
    assert.equal(session.snapshot.state.kind, 'cleared')
    await session.resume()
    assert.equal(session.snapshot.state.kind, 'ready')
  })

  test('what could not be opened is tried again when an index is asked for', async () => {
    const gone = join(place, 'gone')
    await session.apply({ roots: [gone], settings: settings() })
    assert.equal(session.snapshot.state.kind, 'failed')
    await assert.rejects(session.index(), { code: 'ROOT_NOT_FOUND' })
    mkdirSync(gone)
    writeFileSync(join(gone, 'back.ts'), 'export const isBack = 1\n')
    assert.equal((await session.index()).files, 1)
    await reach('ready')
    assert.deepEqual(await paths('isBack'), ['back.ts'])
  })

  test('who does not want an answer any more is let go while the index opens', async () => {
    const controller = new AbortController()
    session.expect(new Promise(() => undefined))
    const asked = session.search({ query: 'alpha' }, controller.signal)
    controller.abort()
    await assert.rejects(asked, { code: 'CANCELLED' })
    await assert.rejects(session.search({ query: 'alpha' }, controller.signal), { code: 'CANCELLED' })
  })

  test('a listener that fails does not harm the index, and is logged', async () => {
    let told = 0
    session.onChange(() => { throw new Error('the stream was closed') })
    session.onChange(() => { told += 1 })
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    assert.ok(told > 0)
    assert.ok(logged.includes('the stream was closed'))
  })

  test('nothing opens after the end', async () => {
    await session.close()
    await session.apply({ roots: [one()], settings: settings() })
    await assert.rejects(session.engine(), { code: 'NO_FOLDER' })
  })

  test('of many changes at once the last one wins', async () => {
    const applied = [one(), two(), one(), two()].map((root) => session.apply({ roots: [root], settings: settings() }))
    await Promise.all(applied)
    assert.deepEqual(session.snapshot.status?.roots.map((root) => root.endsWith('two')), [true])
  })

  test('pause, resume, clear and a new index', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    await session.pause()
    assert.equal(session.snapshot.state.kind, 'paused')
    const { degraded, hits } = await session.search({ query: 'alphaCounter', sync: true })
    assert.equal(degraded[0]?.code, 'INDEX_PAUSED')
    assert.equal(hits.length, 1)
    await session.resume()
    assert.equal(session.snapshot.state.kind, 'ready')
    await session.clear()
    assert.equal(session.snapshot.state.kind, 'cleared')
    await assert.rejects(session.search({ query: 'alpha', sync: true }), { code: 'INDEX_CLEARED' })
    await session.index()
    assert.equal(session.snapshot.state.kind, 'ready')
  })

  test('a folder that is gone is a state with a reason, and another one helps', async () => {
    await session.apply({ roots: [join(place, 'nowhere')], settings: settings() })
    assert.equal(session.snapshot.state.kind, 'failed')
    await assert.rejects(session.search({ query: 'alpha' }), { code: 'ROOT_NOT_FOUND' })
    assert.ok(logged.some((line) => line.startsWith('ROOT_NOT_FOUND')))
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
  })

  test('a search that is under way while settings change is answered', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    const answers = Array.from({ length: 5 }, () => session.search({ query: 'alphaCounter', sync: true }))
    const applied = session.apply({ roots: [one()], settings: settings({ 'vectorDb.performanceMode': 'memory' }) })
    assert.deepEqual((await Promise.all(answers)).map(({ hits }) => hits[0]?.path), Array.from({ length: 5 }, () => 'alpha.ts'))
    await applied
  })

  test('a search can be cancelled', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await assert.rejects(session.search({ query: 'alpha' }, AbortSignal.abort()), { code: 'CANCELLED' })
  })

  test('an index that another one keeps is opened warm', async () => {
    await session.apply({ roots: [one()], settings: settings() })
    await reach('ready')
    await session.close()
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
    const again = new Session({ open: openEngine, addon: ADDON, storage: () => join(place, 'storage'), log })
    await again.apply({ roots: [one()], settings: settings({ 'index.startOnOpen': false }) })
    assert.equal(again.snapshot.state.kind, 'ready')
    assert.equal(again.snapshot.status?.files, 1)
    await again.close()
  })
})

async function eventually(look: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000
  while (!await look()) {
    assert.ok(Date.now() < end, look.toString())
    await new Promise((done) => { setTimeout(done, 20) })
  }
}
