/** What do tools tell an agent, and what may it ask? Pure. */

import type { ChunkKind, Degradation, FileChunks, Hit, RootOverview, SearchOptions } from '../engine'
import { fenced, place, type ShownPath } from '../hit-text'
import type { Snapshot } from '../session'
import { bytes, count, modelName, stateLine } from '../status-text'
import { cutToFit, fitPieces, type CountTokens } from '../chat/budget'

const KINDS: readonly ChunkKind[] = ['function', 'class', 'component', 'hook', 'type', 'export', 'section', 'full-file', 'block']
const MOST_HITS = 50

/** Reads what an agent sent; it may differ from the schema. */
export function searchInput(input: object): SearchOptions {
  const query = textAt(input, 'query')
  if (query === undefined) {
    throw new Error('"query" is missing: say what to find, in words or as the name of a symbol')
  }
  const keywords = textsAt(input, 'keywords')
  const paths = textsAt(input, 'paths')
  const languages = textsAt(input, 'languages')
  const kinds = textsAt(input, 'kinds').map(kindOf)
  const limit = wholeAt(input, 'limit')
  return {
    query,
    sync: true,
    ...(limit !== undefined && { limit: Math.min(MOST_HITS, limit) }),
    ...(keywords.length > 0 && { keywords }),
    ...(paths.length > 0 && { paths }),
    ...(languages.length > 0 && { languages }),
    ...(kinds.length > 0 && { kinds }),
  }
}

/** A name that is no kind would widen the search without a word if it were dropped. */
function kindOf(name: string): ChunkKind {
  const known = KINDS.find((kind) => kind === name)
  if (known === undefined) {
    throw new Error(`"kinds" knows no ${JSON.stringify(name.slice(0, 40))}: ${KINDS.join(', ')}`)
  }
  return known
}

export interface LinesInput { readonly path: string, readonly startLine: number, readonly endLine: number, readonly contextLines: number }

export function linesInput(input: object): LinesInput {
  const path = textAt(input, 'path')
  const startLine = wholeAt(input, 'startLine') ?? wholeAt(input, 'line')
  if (path === undefined || startLine === undefined) {
    throw new Error('"path" and a line are needed: take them from a result of sextant_search')
  }
  return {
    path,
    startLine,
    endLine: Math.max(startLine, wholeAt(input, 'endLine') ?? startLine),
    contextLines: Math.min(200, at(input, 'contextLines') === 0 ? 0 : wholeAt(input, 'contextLines') ?? 10),
  }
}

export async function hitsText(hits: readonly Hit[], degraded: readonly Degradation[], shown: ShownPath, budgetTokens: number, countTokens: CountTokens): Promise<string> {
  if (hits.length === 0) {
    return ['Nothing matches. Other words, fewer filters or the name of a symbol may help.', ...notes(degraded)].join('\n')
  }
  const pieces = hits.map((hit) => `${place(hit, shown)} ${hit.kind}${hit.name === null ? '' : ` ${hit.name}`}\n${fenced(hit.language, hit.text)}\n`)
  const { kept, omitted } = await fitPieces(pieces, budgetTokens - 60, countTokens)
  return [
    ...kept,
    ...(omitted > 0 ? [`${count(omitted, 'more hit')} left out for lack of room; ask more narrowly with "paths" or "kinds".`] : []),
    ...notes(degraded),
  ].join('\n')
}

const notes = (degraded: readonly Degradation[]): string[] => degraded.map(({ code, message }) => `Note (${code}): ${message}`)

/** The chunk that holds a line, else the one that is least far away. */
export function nearest(chunks: FileChunks['chunks'], line: number): FileChunks['chunks'][number] | undefined {
  const distance = ({ startLine, endLine }: FileChunks['chunks'][number]): number => Math.max(startLine - line, line - endLine, 0)
  return chunks.reduce<FileChunks['chunks'][number] | undefined>((best, chunk) => best === undefined || distance(chunk) < distance(best) ? chunk : best, undefined)
}

/**
 * The wanted lines, the chunks that they touch and the context around them, as far as there is room: the context goes
 * first, then the rest of the chunks, then the last of the wanted lines.
 */
export async function linesText(
  { startLine, endLine, contextLines }: LinesInput, { chunks, language }: FileChunks, lines: readonly string[], shown: string, budgetTokens: number, countTokens: CountTokens,
): Promise<string> {
  const touched = chunks.filter((chunk) => chunk.startLine <= endLine && chunk.endLine >= startLine)
  const most = Math.max(startLine, Math.min(lines.length, endLine))
  const names = [...new Set(touched.flatMap(({ kind, name }) => name === null ? [] : [`${kind} ${name}`]))].slice(0, MOST_NAMES)
  const head = (first: number, last: number): string => `${shown}:${first}-${last}${names.length > 0 ? ` (${names.join(', ')})` : ''}\n`
  const text = (first: number, last: number): string => `${head(first, last)}${fenced(language, numbered(lines.slice(first - 1, last), first))}\n`
  const widest = {
    above: startLine - Math.max(1, Math.min(startLine, ...touched.map((chunk) => chunk.startLine)) - contextLines),
    below: Math.min(lines.length, Math.max(most, ...touched.map((chunk) => chunk.endLine)) + contextLines) - most,
  }
  const around = (share: number): string => text(startLine - Math.round(widest.above * share), most + Math.round(widest.below * share))
  const fits = async (candidate: string): Promise<boolean> => await countTokens(candidate) <= budgetTokens
  if (await fits(around(0))) {
    const steps = Math.max(1, widest.above, widest.below)
    return around(await largest(steps, (step) => fits(around(step / steps))) / steps)
  }
  if (await fits(text(startLine, startLine))) {
    return text(startLine, startLine + await largest(most - startLine, (n) => fits(text(startLine, startLine + n))))
  }
  // Not even one line has room, as of code that was made smaller for browsers.
  const line = await cutToFit(numbered(lines.slice(startLine - 1, startLine), startLine), Math.max(0, budgetTokens - CUT_TOKENS - await countTokens(head(startLine, startLine))), countTokens)
  return `${head(startLine, startLine)}${fenced(language, line)}\nThe line is longer; the rest has no room.\n`
}

/** Names in the head; more say nothing more. */
const MOST_NAMES = 5
/** What the fence and the sentence about a cut line take at most. */
const CUT_TOKENS = 30

/** The largest whole number up to `most` that holds, where all below one that holds do; 0 if none. */
async function largest(most: number, holds: (n: number) => Promise<boolean>): Promise<number> {
  let good = 0
  let bad = most + 1
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (await holds(middle)) {
      good = middle
    } else {
      bad = middle
    }
  }
  return good
}

/** Lines with their numbers. */
function numbered(lines: readonly string[], first: number): string {
  const width = String(first + lines.length - 1).length
  return lines.map((line, place) => `${String(first + place).padStart(width)} | ${line}`).join('\n')
}

export function statusReport({ state, status, report, updatedAt, trouble }: Snapshot, overview: readonly RootOverview[], folderName: (root: string) => string): string {
  return [
    `State: ${stateLine(state, status)}`,
    ...(status === undefined ? [] : [
      `Files: ${status.files}; chunks: ${status.chunks}; waiting to be updated: ${status.pendingFiles}`,
      `Model: ${modelName(status)}; database: ${bytes(status.databaseBytes)}`,
      ...(report !== undefined && report.textsPending > 0 ? [`Waiting for a vector: ${count(report.textsPending, 'text')}, found by words until then`] : []),
    ]),
    ...overview.flatMap(({ root, files, languages, skipped }) => [
      `Folder ${folderName(root)}: ${count(files, 'file')}${languages.length > 0 ? ` (${languages.slice(0, MOST_LISTED).map(({ language, files: n }) => `${language} ${n}`).join(', ')})` : ''}`,
      ...skipped.slice(0, MOST_LISTED).map(({ reason, paths }) => `  left out: ${count(paths, 'path')} (${reason})`),
    ]),
    `Last update: ${updatedAt?.toISOString() ?? 'before this window'}`,
    ...trouble.map((message) => `Note: ${message}`),
    ...notes([...report?.degraded ?? [], ...status?.degraded ?? []]),
  ].join('\n')
}

/** Languages and reasons of a folder that are worth an agent's tokens. */
const MOST_LISTED = 12

const at = (input: object, name: string): unknown => (input as Readonly<Record<string, unknown>>)[name]

function textAt(input: object, name: string): string | undefined {
  const value = at(input, name)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

function textsAt(input: object, name: string): string[] {
  const value = at(input, name)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.filter((text): text is string => typeof text === 'string' && text.trim() !== '')
}

function wholeAt(input: object, name: string): number | undefined {
  const value = Number(at(input, name))
  return Number.isFinite(value) && value >= 1 ? Math.floor(value) : undefined
}
