/**
 * Which settings are there, and which values may they have?
 *
 * In: raw values of `sextant.*`, of any type. Out: [`Settings`], complete and within range, and a sentence for each
 * value that had to be corrected. Pure. The manifest repeats this table for the settings editor; a test compares them.
 */

import { isAbsolute } from 'node:path'

interface Flag { readonly kind: 'flag', readonly fallback: boolean }
interface Choice<C extends string> { readonly kind: 'choice', readonly fallback: C, readonly choices: readonly C[] }
interface Quantity {
  readonly kind: 'whole' | 'decimal'
  readonly fallback: number
  readonly min: number
  readonly max: number
}
interface Text { readonly kind: 'text' | 'path', readonly fallback: string }
interface List { readonly kind: 'list', readonly fallback: readonly string[] }
export type Rule = Flag | Choice<string> | Quantity | Text | List

const flag = (fallback: boolean): Flag => ({ kind: 'flag', fallback })
const choice = <const C extends string>(fallback: C, ...others: readonly C[]): Choice<C> => ({
  kind: 'choice',
  fallback,
  choices: [fallback, ...others],
})
const whole = (fallback: number, min: number, max: number): Quantity => ({ kind: 'whole', fallback, min, max })
const decimal = (fallback: number, min: number, max: number): Quantity => ({ kind: 'decimal', fallback, min, max })
const text = (): Text => ({ kind: 'text', fallback: '' })
const path = (): Text => ({ kind: 'path', fallback: '' })
const list = (): List => ({ kind: 'list', fallback: [] })

export const RULES = {
  'vectorDb.enabled': flag(true),
  'vectorDb.embeddingModel': choice('embedded', 'openai', 'gemini', 'local'),
  'vectorDb.maxTokens': whole(6000, 1000, 32_000),
  'vectorDb.batchSize': whole(10, 1, 50),
  'vectorDb.searchResultLimit': whole(8, 1, 20),
  'vectorDb.enableBackgroundProcessing': flag(true),
  'vectorDb.enableProgressNotifications': flag(true),
  'vectorDb.progressLocation': choice('notification', 'statusBar'),
  'vectorDb.debounceDelay': whole(1000, 100, 10_000),
  'vectorDb.performanceMode': choice('balanced', 'performance', 'memory'),
  'vectorDb.fallbackToKeywordSearch': flag(true),
  'vectorDb.cacheEnabled': flag(true),
  'vectorDb.logLevel': choice('info', 'debug', 'warn', 'error'),
  'hybridSearch.vectorWeight': decimal(0.5, 0, 1),
  'hybridSearch.textWeight': decimal(0.5, 0, 1),
  'hybridSearch.topK': whole(10, 1, 50),
  'hybridSearch.mmr.enabled': flag(false),
  'hybridSearch.mmr.lambda': decimal(0.7, 0, 1),
  'hybridSearch.temporalDecay.enabled': flag(false),
  'hybridSearch.temporalDecay.halfLifeDays': whole(30, 1, 365),
  'cascade.fullWorkspace': flag(true),
  'cascade.hybrid': flag(true),
  'cascade.minScoreShare': decimal(0, 0, 1),
  'embedding.baseUrl': text(),
  'embedding.model': text(),
  'embedding.dimensions': whole(0, 0, 65_536),
  'embedding.allowLarge': flag(false),
  'embedding.timeout': whole(30_000, 10, 600_000),
  'embedding.proxy': text(),
  'embedding.noProxy': text(),
  'embedding.caFile': path(),
  'embedding.strictTls': flag(true),
  'index.startOnOpen': flag(true),
  'index.storage': path(),
  'ignore.gitignore': flag(true),
  'ignore.sextantignore': flag(true),
  'ignore.defaults': flag(true),
  'ignore.secrets': flag(true),
  'ignore.exclude': list(),
  'chat.rephrase': flag(true),
  'chat.model': text(),
  'chat.maxContextTokens': whole(16_000, 1000, 100_000),
  'tools.maxResultTokens': whole(8000, 500, 50_000),
} as const satisfies Record<string, Rule>

export type SettingKey = keyof typeof RULES

type ValueOf<R> = R extends Flag ? boolean
  : R extends Choice<infer C> ? C
    : R extends Quantity ? number
      : R extends List ? readonly string[]
        : string

/** Every setting by its key without the leading `sextant.`. */
export type Settings = { readonly [K in SettingKey]: ValueOf<(typeof RULES)[K]> }

export const SETTING_KEYS = Object.keys(RULES) as readonly SettingKey[]

export interface ReadSettings {
  readonly settings: Settings
  /** One sentence for each value that is not as expected, for the log. */
  readonly problems: readonly string[]
}

/** Reads every setting; `get` returns its value, or `undefined`, and `isWritten` whether the user wrote one. */
export function readSettings(get: (key: SettingKey) => unknown, isWritten = (key: SettingKey): boolean => get(key) !== undefined): ReadSettings {
  const problems: string[] = []
  const values = SETTING_KEYS.map((key) => {
    const raw = get(key)
    const read = raw === undefined ? RULES[key].fallback : accept(RULES[key], raw)
    if (read !== raw && raw !== undefined && !Array.isArray(read)) {
      // A text may hold a password, as the address of a proxy does.
      const found = isFree(RULES[key]) ? 'is not as expected:' : `is ${JSON.stringify(raw)}, expected`
      problems.push(`sextant.${key} ${found} ${expectation(RULES[key])}${isFree(RULES[key]) ? '' : `; using ${JSON.stringify(read)}`}`)
    }
    return [key, read]
  })
  // Each value was accepted by the rule of its own key.
  const settings = Object.fromEntries(values) as Settings
  return { settings: { ...settings, ...weights(settings, isWritten, problems) }, problems }
}

const VECTOR = 'hybridSearch.vectorWeight'
const WORDS = 'hybridSearch.textWeight'

/** A weight that is left out is what the other leaves of 1. */
function weights({ [VECTOR]: vector, [WORDS]: words }: Settings, isWritten: (key: SettingKey) => boolean, problems: string[]): Pick<Settings, typeof VECTOR | typeof WORDS> {
  const hasVector = isWritten(VECTOR)
  const hasWords = isWritten(WORDS)
  if (hasVector && hasWords && vector === 0 && words === 0) {
    problems.push('sextant.hybridSearch: both weights are 0, so nothing could be found; using the defaults')
    return { [VECTOR]: RULES[VECTOR].fallback, [WORDS]: RULES[WORDS].fallback }
  }
  if (hasVector === hasWords) {
    return { [VECTOR]: vector, [WORDS]: words }
  }
  return hasVector ? { [VECTOR]: vector, [WORDS]: 1 - vector } : { [VECTOR]: 1 - words, [WORDS]: words }
}

function accept(rule: Rule, raw: unknown): unknown {
  switch (rule.kind) {
    case 'flag':
      return typeof raw === 'boolean' ? raw : rule.fallback
    case 'choice':
      return typeof raw === 'string' && rule.choices.includes(raw) ? raw : rule.fallback
    case 'whole':
      return isNumber(raw) ? Math.min(rule.max, Math.max(rule.min, Math.round(raw))) : rule.fallback
    case 'decimal':
      return isNumber(raw) ? Math.min(rule.max, Math.max(rule.min, raw)) : rule.fallback
    case 'text':
      return typeof raw === 'string' ? raw.trim() : rule.fallback
    case 'path':
      return typeof raw === 'string' && isAbsolute(raw.trim()) ? raw.trim() : rule.fallback
    case 'list':
      return Array.isArray(raw) ? raw.filter((entry): entry is string => typeof entry === 'string') : rule.fallback
  }
}

function expectation(rule: Rule): string {
  switch (rule.kind) {
    case 'flag':
      return 'true or false'
    case 'choice':
      return rule.choices.join(', ')
    case 'whole':
      return `a whole number from ${rule.min} to ${rule.max}`
    case 'decimal':
      return `a number from ${rule.min} to ${rule.max}`
    case 'text':
      return 'text without spaces around it'
    case 'path':
      return 'an absolute path'
    case 'list':
      return 'a list of texts'
  }
}

const isFree = ({ kind }: Rule): boolean => kind === 'text' || kind === 'path' || kind === 'list'

const isNumber = (raw: unknown): raw is number => typeof raw === 'number' && Number.isFinite(raw)
