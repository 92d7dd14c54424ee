/** A hit to test with. */

import type { Hit } from '../../src/engine'

export function hit(path: string, text: string, more: Partial<Hit> = {}): Hit {
  return {
    root: '/shop', path, startLine: 1, endLine: text.split('\n').length, kind: 'function', name: 'send', language: 'typescript', score: 1, text,
    explanation: [], ...more,
  }
}
