import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSettings, RULES, SETTING_KEYS, type Rule, type SettingKey } from '../../src/settings'

interface Property {
  readonly type: string
  readonly default: unknown
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly scope: string
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
    for (const key of ['vectorDb.embeddingModel', 'embedding.baseUrl', 'embedding.model', 'index.storage']) {
      assert.ok(restrictedConfigurations.includes(`sextant.${key}`), key)
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

  test('two weights of 0 are the defaults', () => {
    const { settings, problems } = check({ 'hybridSearch.vectorWeight': 0, 'hybridSearch.textWeight': 0 })
    assert.equal(settings['hybridSearch.vectorWeight'] + settings['hybridSearch.textWeight'], 1)
    assert.equal(problems.length, 1)
  })

  test('one weight of 0 is allowed', () => {
    const { settings, problems } = check({ 'hybridSearch.vectorWeight': 0, 'hybridSearch.textWeight': 0.5 })
    assert.equal(settings['hybridSearch.vectorWeight'], 0)
    assert.deepEqual(problems, [])
  })
})

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
      return { type: 'string', ...none }
    case 'list':
      return { type: 'array', ...none }
  }
}
