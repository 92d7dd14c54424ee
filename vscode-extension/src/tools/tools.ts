/** What agents can do: search, read with context, find related code, ask how the index stands. */

import * as vscode from 'vscode'
import { estimateTokens, type CountTokens } from '../chat/budget'
import { asGlob } from '../chat/scope'
import { withSignal, type Ctx } from '../ctx'
import { failureOf, friendly } from '../failure'
import { folderOf, indexableFolders, nameOf, placeOf, resolvePath, shownPath } from '../places'
import type { Settings } from '../settings'
import { hitsText, linesInput, linesText, nearest, searchInput, statusReport } from './tool-text'

interface Call {
  readonly input: object
  readonly signal: AbortSignal
  readonly budgetTokens: number
  readonly countTokens: CountTokens
}

interface Tool {
  /** For the person who is asked to allow it. */
  readonly title: string
  readonly message: (input: object) => string
  /** What an embedding service is sent. */
  readonly sent?: string
  readonly call: (ctx: Ctx, call: Call) => Promise<string>
}

const field = (input: object, name: string): string => {
  const value = (input as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '…'
}

/** What a tool sends elsewhere, for the person who is asked. */
const whatLeaves = (what: string, settings: Settings): string => settings['vectorDb.embeddingModel'] === 'embedded' || !settings['vectorDb.enabled']
  ? "Nothing leaves this machine but what the agent's model is shown."
  : `The embedding service of the settings gets ${what}, and the agent's model what it is shown.`

export const TOOLS: Readonly<Record<string, Tool>> = {
  sextant_search: {
    title: 'Search the codebase?',
    message: (input) => `Search the code of the open folders for “${field(input, 'query')}”.`,
    sent: 'the question',
    call: searchTool,
  },
  sextant_read: {
    title: 'Read code?',
    message: (input) => `Read ${field(input, 'path')} around line ${field(input, 'startLine')}.`,
    call: readTool,
  },
  sextant_related: {
    title: 'Find related code?',
    message: (input) => `Find code related to ${field(input, 'path')}, line ${field(input, 'line')}.`,
    sent: 'the code at that line',
    call: relatedTool,
  },
  sextant_status: {
    title: 'Ask about the index?',
    message: () => 'Ask how the index of the open folders stands.',
    call: statusTool,
  },
}

export function registerTools(ctx: Ctx): vscode.Disposable {
  return vscode.Disposable.from(...Object.entries(TOOLS).map(([name, tool]) => vscode.lm.registerTool<object>(name, {
    prepareInvocation: ({ input }) => {
      const sent = tool.sent === undefined ? [] : [whatLeaves(tool.sent, ctx.config.settings)]
      return {
        invocationMessage: tool.message(input),
        confirmationMessages: { title: tool.title, message: [tool.message(input), ...sent].join(' ') },
      }
    },
    invoke: async ({ input, tokenizationOptions }, token) => {
      const text = await withSignal(token, (signal) => tool.call(ctx, {
        // A model may leave it out.
        input: (input as object | null | undefined) ?? {},
        signal,
        budgetTokens: tokenizationOptions?.tokenBudget ?? ctx.config.settings['tools.maxResultTokens'],
        countTokens: tokenizationOptions === undefined ? estimateTokens : (piece) => tokenizationOptions.countTokens(piece, token),
      })).catch((error: unknown) => {
        const failure = failureOf(error)
        ctx.log.warn(`${name}: ${failure.code}: ${failure.message}`)
        throw new Error(friendly(failure), { cause: error })
      })
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)])
    },
  })))
}

async function searchTool({ session }: Ctx, { input, signal, budgetTokens, countTokens }: Call): Promise<string> {
  const wanted = searchInput(input)
  const { hits, degraded } = await session.search({ ...wanted, ...(wanted.paths && { paths: wanted.paths.flatMap(globsOf) }) }, signal)
  return hitsText(hits, degraded, shownPath, budgetTokens, countTokens)
}

async function readTool({ session }: Ctx, { input, budgetTokens, countTokens }: Call): Promise<string> {
  const wanted = linesInput(input)
  const uri = await fileOf(wanted.path)
  // The engine refuses what is not part of the index, such as files that hold secrets.
  const chunks = await (await session.engine()).chunks(uri.fsPath)
  const lines = (await vscode.workspace.openTextDocument(uri)).getText().split(/\r?\n/)
  if (wanted.startLine > lines.length) {
    throw new Error(`${wanted.path} has ${lines.length} lines, so there is no line ${wanted.startLine}`)
  }
  const shown = placeOf(uri)
  const name = shown === undefined ? wanted.path : shownPath(shown)
  return linesText(wanted, chunks, lines, name, budgetTokens - 60, countTokens)
}

async function relatedTool({ session }: Ctx, { input, signal, budgetTokens, countTokens }: Call): Promise<string> {
  const wanted = linesInput(input)
  const uri = await fileOf(wanted.path)
  const { chunks, path } = await (await session.engine()).chunks(uri.fsPath)
  const chunk = nearest(chunks, wanted.startLine)
  if (chunk === undefined) {
    throw new Error(`${wanted.path} holds no code to start from`)
  }
  const { limit } = searchInput({ ...input, query: 'related' })
  // The pieces it starts from are found first, and left out.
  const most = limit === undefined ? {} : { limit: limit + 3 }
  const { hits, degraded } = await session.search({ query: `${chunk.name ?? ''}\n${chunk.text.slice(0, 1000)}`, sync: true, ...most }, signal)
  const root = placeOf(uri)?.root
  const others = hits.filter((hit) => hit.path !== path || folderOf(hit.root)?.uri.fsPath !== root || hit.startLine > chunk.endLine || hit.endLine < chunk.startLine)
  return hitsText(others.slice(0, limit), degraded, shownPath, budgetTokens, countTokens)
}

async function statusTool({ session }: Ctx): Promise<string> {
  await session.refresh()
  const { status } = session.snapshot
  // Before the first index there is nothing to count.
  const overview = status === undefined || status.state === 'empty' ? [] : await (await session.engine()).overview().catch(() => [])
  return statusReport(session.snapshot, overview, (root) => folderOf(root)?.name ?? root)
}

async function fileOf(path: string): Promise<vscode.Uri> {
  const uri = await resolvePath(path)
  if (uri === undefined) {
    throw new Error(`there is no file ${path} in the open folders; take the path from a result of sextant_search`)
  }
  return uri
}

/**
 * With several folders a shown path starts with the name of one, and means that one alone; it may as well be relative to
 * each of them.
 */
function globsOf(path: string): string[] {
  const folders = indexableFolders()
  if (folders.length < 2) {
    return [path]
  }
  const named = folders.filter((folder) => path === nameOf(folder) || path.startsWith(`${nameOf(folder)}/`))
    .map((folder) => `${asGlob(folder.uri.fsPath)}${path.slice(nameOf(folder).length)}`)
  return named.length > 0 ? named : [path]
}
