/** How are hits written for people: one line in a list, a page of Markdown? Pure. */

import { posix } from 'node:path'
import type { ChunkKind, Hit } from './engine'

export type ShownPath = (hit: Pick<Hit, 'root' | 'path'>) => string

/** `src/server.ts:12-20`, `src/server.ts:12`. */
export function place(hit: Hit, shown: ShownPath): string {
  return `${shown(hit)}:${hit.startLine}${hit.endLine === hit.startLine ? '' : `-${hit.endLine}`}`
}

/** What a hit is called in a list: its name, else its first line that says something. */
export function title(hit: Hit): string {
  return hit.name ?? firstLine(hit.text) ?? posix.basename(hit.path)
}

/** The first line with a letter or digit that is no comment mark alone, without indentation. */
export function firstLine(text: string): string | undefined {
  return text.split('\n').map((line) => line.trim()).find((line) => /[\p{L}\p{N}]{2}/u.test(line))
}

const ICONS: Readonly<Record<ChunkKind, string>> = {
  'function': 'symbol-method',
  'class': 'symbol-class',
  'component': 'symbol-structure',
  'hook': 'symbol-event',
  'type': 'symbol-interface',
  'export': 'symbol-variable',
  'section': 'symbol-string',
  'full-file': 'symbol-file',
  'block': 'symbol-namespace',
}

export const iconOf = (kind: ChunkKind): string => ICONS[kind]

/** Code in a Markdown fence that is longer than any run of backticks in it. */
export function fenced(language: string, code: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${code.replace(/\n$/, '')}\n${fence}`
}

/** A page to read, with links into the files. */
export function hitsPage(query: string, hits: readonly Hit[], shown: ShownPath, link: (hit: Hit) => string): string {
  const parts = hits.map((hit, rank) => `## ${rank + 1}. ${title(hit)}\n\n[${place(hit, shown)}](${link(hit)})\n\n${fenced(hit.language, hit.text)}\n`)
  return [`# ${query}\n`, ...parts].join('\n')
}
