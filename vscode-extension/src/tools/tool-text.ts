/** What do tools tell an agent, and what may it ask? Pure. */

import type { ChunkKind, Degradation, FileChunks, Hit, SearchOptions, SkippedPath } from '../engine'
import { fenced, place, type ShownPath } from '../hit-text'
import type { Snapshot } from '../session'
import { bytes, count, modelName, stateLine } from '../status-text'
import { bySkipReason } from '../skipped-page'
import { fitPieces, type CountTokens } from '../chat/budget'

const KINDS: readonly string[] = ['function', 'class', 'component', 'hook', 'type', 'export', 'section', 'full-file', 'block'] satisfies readonly ChunkKind[]
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
  const kinds = textsAt(input, 'kinds').filter((kind): kind is ChunkKind => KINDS.includes(kind))
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

/** The lines of the chunks that `startLine` to `endLine` touch, and the context around them, within the file. */
export function linesWanted({ startLine, endLine, contextLines }: LinesInput, { chunks }: FileChunks, fileLines: number): { first: number, last: number, names: readonly string[] } {
  const touched = chunks.filter((chunk) => chunk.startLine <= endLine && chunk.endLine >= startLine)
  const first = Math.min(startLine, ...touched.map((chunk) => chunk.startLine)) - contextLines
  const last = Math.max(endLine, ...touched.map((chunk) => chunk.endLine)) + contextLines
  return { first: Math.max(1, first), last: Math.min(fileLines, last), names: touched.flatMap(({ kind, name }) => name === null ? [] : [`${kind} ${name}`]) }
}

/** Lines with their numbers. */
export function numbered(lines: readonly string[], first: number): string {
  const width = String(first + lines.length - 1).length
  return lines.map((line, place) => `${String(first + place).padStart(width)} | ${line}`).join('\n')
}

export function statusReport({ state, status, report, updatedAt }: Snapshot, skipped: readonly SkippedPath[], folderNames: readonly string[]): string {
  return [
    `State: ${stateLine(state, status)}`,
    ...(status === undefined ? [] : [
      `Folders: ${folderNames.join(', ')}`,
      `Files: ${status.files}; chunks: ${status.chunks}; waiting to be updated: ${status.pendingFiles}`,
      `Model: ${modelName(status)}; database: ${bytes(status.databaseBytes)}`,
      ...(report !== undefined && report.textsPending > 0 ? [`Waiting for a vector: ${count(report.textsPending, 'text')}, found by words until then`] : []),
    ]),
    `Last update: ${updatedAt?.toISOString() ?? 'before this window'}`,
    ...bySkipReason(skipped).slice(0, 12).map(({ reason, paths }) => `Left out: ${count(paths.length, 'path')} (${reason})`),
    ...notes([...report?.degraded ?? [], ...status?.degraded ?? []]),
  ].join('\n')
}

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
