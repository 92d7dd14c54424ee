import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { addonConfig } from '../../src/addon-config'
import { readSettings, RULES, SETTING_KEYS, type Rule, type SettingKey } from '../../src/settings'

interface Property {
  readonly type: string
  readonly default: unknown
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly scope: string
  readonly order: number
  readonly markdownDescription: string
}
interface Manifest {
  readonly capabilities: { readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] } }
  readonly contributes: { readonly configuration: readonly { readonly properties: Readonly<Record<string, Property>> }[] }
}

const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as Manifest
const properties = Object.assign({}, ...manifest.contributes.configuration.map((section) => section.properties)) as Record<string, Property>

const check = (given: Partial<Record<SettingKey, unknown>>) => readSettings((key) => given[key])

suite('settings', () => {
  test('the manifest lists the same settings', () => {
    assert.deepEqual(Object.keys(properties).sort(), SETTING_KEYS.map((key) => `sextant.${key}`).sort())
  })

  for (const key of SETTING_KEYS) {
    test(`${key} has the same type, default and range in the manifest`, () => {
      const property = properties[`sextant.${key}`]
      assert.ok(property)
      assert.deepEqual(property.default, RULES[key].fallback)
      assert.deepEqual(
        { type: property.type, enum: property.enum?.toSorted(), minimum: property.minimum, maximum: property.maximum },
        inManifest(RULES[key]),
      )
      assert.match(property.markdownDescription, /[.)]$/, 'a sentence')
    })
  }

  test('what decides where code is sent or stored cannot come from a workspace that is not trusted', () => {
    const { restrictedConfigurations } = manifest.capabilities.untrustedWorkspaces
    for (const key of [
      'vectorDb.embeddingModel', 'embedding.baseUrl', 'embedding.model', 'embedding.allowLarge', 'embedding.proxy', 'embedding.noProxy', 'embedding.caFile', 'embedding.strictTls', 'index.storage',
      'ignore.secrets', 'ignore.exclude',
    ]) {
      assert.ok(restrictedConfigurations.includes(`sextant.${key}`), key)
    }
    assert.ok(restrictedConfigurations.every((key) => key in properties), 'each is a setting')
  })

  // All that decides where code is sent, together: on another machine none of it holds, not half of it.
  test('what is about this machine is not carried to others', () => {
    const ofMachine = Object.entries(properties).filter(([, { scope }]) => scope !== 'window')
    assert.deepEqual(ofMachine.map(([key, { scope }]) => [key.replace('sextant.', ''), scope]).sort(), [
      ['embedding.baseUrl', 'machine-overridable'], ['embedding.caFile', 'machine-overridable'], ['embedding.noProxy', 'machine-overridable'], ['embedding.proxy', 'machine-overridable'],
      ['embedding.strictTls', 'machine-overridable'], ['index.storage', 'machine-overridable'], ['vectorDb.embeddingModel', 'machine-overridable'],
    ])
  })

  test('each section is in an order of its own', () => {
    for (const { properties: section } of manifest.contributes.configuration) {
      assert.deepEqual(Object.values(section).map(({ order }) => order).sort((left, right) => left - right), Object.keys(section).map((_, place) => place + 1))
    }
  })

  test('without any value all defaults hold', () => {
    const { settings, problems } = check({})
    assert.equal(settings['vectorDb.embeddingModel'], 'embedded')
    assert.equal(settings['vectorDb.searchResultLimit'], 8)
    assert.deepEqual(problems, [])
  })

  test('a number out of range is brought within it, and said', () => {
    const { settings, problems } = check({ 'vectorDb.batchSize': 80, 'hybridSearch.mmr.lambda': -1, 'vectorDb.debounceDelay': 250.4 })
    assert.equal(settings['vectorDb.batchSize'], 50)
    assert.equal(settings['hybridSearch.mmr.lambda'], 0)
    assert.equal(settings['vectorDb.debounceDelay'], 250)
    assert.equal(problems[0], 'sextant.vectorDb.batchSize is 80, expected a whole number from 1 to 50; using 50')
    assert.equal(problems.length, 3)
  })

  test('a value of another type is the default', () => {
    const { settings, problems } = check({ 'vectorDb.enabled': 'yes', 'vectorDb.logLevel': 'loud', 'vectorDb.maxTokens': Number.NaN, 'ignore.exclude': 'dist' })
    assert.equal(settings['vectorDb.enabled'], true)
    assert.equal(settings['vectorDb.logLevel'], 'info')
    assert.equal(settings['vectorDb.maxTokens'], 6000)
    assert.deepEqual(settings['ignore.exclude'], [])
    assert.equal(problems.length, 3)
  })

  test('a path is absolute', () => {
    const { settings, problems } = check({ 'index.storage': 'index/here', 'embedding.caFile': '~/ca.pem' })
    assert.deepEqual([settings['index.storage'], settings['embedding.caFile'], problems.length], ['', '', 2])
    assert.match(problems.join(), /sextant\.index\.storage is not as expected: an absolute path/)
    assert.doesNotMatch(check({ 'embedding.proxy': ' http://bob:secret@host ' }).problems.join(), /secret/, 'a text may hold a password')
    assert.deepEqual(check({ 'index.storage': '/var/index ' }).settings['index.storage'], '/var/index')
  })

  test('two weights of 0 are the defaults', () => {
    const { settings, problems } = check({ 'hybridSearch.vectorWeight': 0, 'hybridSearch.textWeight': 0 })
    assert.equal(settings['hybridSearch.vectorWeight'] + settings['hybridSearch.textWeight'], 1)
    assert.equal(problems.length, 1)
  })

  test('a weight that is left out is what the other leaves of 1', () => {
    const { settings } = check({ 'hybridSearch.vectorWeight': 0.75 })
    assert.equal(settings['hybridSearch.textWeight'], 0.25)
    assert.equal(check({ 'hybridSearch.textWeight': 0 }).settings['hybridSearch.vectorWeight'], 1)
  })

  test('one weight of 0 is allowed', () => {
    const { settings, problems } = check({ 'hybridSearch.vectorWeight': 0, 'hybridSearch.textWeight': 0.5 })
    assert.equal(settings['hybridSearch.vectorWeight'], 0)
    assert.deepEqual(problems, [])
  })
})

/** docs/settings.md says what the core knows, and is written from it. */
suite('settings of the core', () => {
  const rows = [...readFileSync(join(__dirname, '../../../../docs/settings.md'), 'utf8').matchAll(/^\| `([\w.]+)` \| (.+?) \| (.+?) \| .+ \|$/gm)]
  const known = new Map(rows.map(([, name = '', values = '', fallback = '']) => [name, { values, fallback }]))
  const ofCore = (key: string): boolean => /^(vectorDb|hybridSearch|cascade|embedding)\./.test(key)

  test('the table is read', () => { assert.ok(known.size > 50, `${known.size} rows`) })

  test('all of vectorDb and hybridSearch can be set', () => {
    const expected = [...known.keys()].filter((name) => /^(vectorDb|hybridSearch)\./.test(name))
    assert.deepEqual(expected.filter((name) => !SETTING_KEYS.some((key) => key === name)), [])
  })

  for (const key of SETTING_KEYS.filter(ofCore)) {
    test(`${key} has the values and the default of the core`, () => {
      const row = known.get(key)
      assert.ok(row, 'the core knows it')
      const rule: Rule = RULES[key].kind === 'choice' ? { ...RULES[key], choices: RULES[key].choices.toSorted() } : RULES[key]
      // For the core a path is a text; here nobody knows relative to what it would be.
      assert.deepEqual(read(row), rule.kind === 'path' ? { ...rule, kind: 'text' } : rule)
    })
  }

  test('the core is told each of them by its name, and the key apart', () => {
    const { settings } = check({ 'vectorDb.batchSize': 20, 'hybridSearch.mmr.lambda': 0.3, 'ignore.exclude': ['/x/'] })
    const config = addonConfig(settings, undefined)
    assert.equal(config.vectorDb?.batchSize, 20)
    assert.equal(config.hybridSearch?.mmr?.lambda, 0.3)
    assert.deepEqual(config.ignore?.exclude, ['/x/'])
    assert.equal(config.embedding && 'apiKey' in config.embedding, false)
    assert.equal(addonConfig(settings, 'sk-1').embedding?.apiKey, 'sk-1')
    const told = leaves(config).filter(ofCore).sort()
    assert.deepEqual(told, SETTING_KEYS.filter(ofCore).toSorted())
  })
})

const leaves = (value: unknown, path = ''): string[] => typeof value === 'object' && value !== null && !Array.isArray(value)
  ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, path === '' ? name : `${path}.${name}`))
  : [path]

/** A row of the table as a rule. */
function read({ values, fallback }: { values: string, fallback: string }): Rule {
  const choices = [...values.matchAll(/`(.+?)`/g)].map(([, choice = '']) => choice)
  const range = /^([\d.]+) to ([\d.]+)( \w+)?$/.exec(values)
  const plain = fallback.replaceAll('`', '')
  if (range?.[1] !== undefined && range[2] !== undefined) {
    // What is counted has a unit; shares have none.
    return { kind: range[3] === undefined ? 'decimal' : 'whole', fallback: Number(plain), min: Number(range[1]), max: Number(range[2]) }
  }
  if (values.startsWith('text')) {
    return { kind: 'text', fallback: plain === 'empty' ? '' : plain }
  }
  return choices.includes('true') ? { kind: 'flag', fallback: plain === 'true' } : { kind: 'choice', fallback: plain, choices: choices.toSorted() }
}

function inManifest(rule: Rule): { type: string, enum: readonly string[] | undefined, minimum: number | undefined, maximum: number | undefined } {
  const none = { enum: undefined, minimum: undefined, maximum: undefined }
  switch (rule.kind) {
    case 'flag':
      return { type: 'boolean', ...none }
    case 'choice':
      return { type: 'string', ...none, enum: rule.choices.toSorted() }
    case 'whole':
      return { type: 'integer', ...none, minimum: rule.min, maximum: rule.max }
    case 'decimal':
      return { type: 'number', ...none, minimum: rule.min, maximum: rule.max }
    case 'text':
    case 'path':
      return { type: 'string', ...none }
    case 'list':
      return { type: 'array', ...none }
  }
}
