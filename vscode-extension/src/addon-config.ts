/**
 * What is the core told of the settings?
 *
 * In: the settings of the window and the key of the chosen provider. Out: the `config` of the core, in which each setting
 * has its own name: `vectorDb.batchSize` becomes `{ vectorDb: { batchSize } }`. Pure.
 */

import type { Config } from '@sextant-code/sextant'
import { SETTING_KEYS, type Settings } from './settings'

/** The core knows these by the same names; the others are about the editor. */
const SECTIONS = ['vectorDb', 'hybridSearch', 'cascade', 'embedding', 'ignore']

/** A small model may think longer than the core waits by itself: in a chat somebody watches. */
const QUERY = { intent: true, wait: 8000 } as const

export function addonConfig(settings: Settings, apiKey: string | undefined): Config {
  const config: Record<string, unknown> = { query: QUERY }
  for (const key of SETTING_KEYS) {
    const [section = '', ...names] = key.split('.')
    if (SECTIONS.includes(section)) {
      put(config, [section, ...names], settings[key])
    }
  }
  if (apiKey !== undefined) {
    put(config, ['embedding', 'apiKey'], apiKey)
  }
  // The core refuses a name that it does not know; the tests open an index with all of them.
  return config
}

function put(into: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    into[name] = Array.isArray(value) ? [...value as readonly unknown[]] : value
    return
  }
  const inner = into[name] ??= {}
  put(inner as Record<string, unknown>, rest, value)
}
