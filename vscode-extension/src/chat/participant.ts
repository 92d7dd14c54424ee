/**
 * `@workspace`: what happens to a message, from the words to the answer.
 *
 * The message is put into words for the search, the search finds the lines, a model answers from them with links. Without
 * a model, or if it fails, the lines themselves are the answer, and the answer says so.
 */

import * as vscode from 'vscode'
import { remedyOf } from '../actions'
import { contextOf } from '../context'
import { withSignal, type Ctx } from '../ctx'
import type { SearchOptions, SearchResponse } from '../engine'
import { failureOf, friendly, isCancelled } from '../failure'
import { locationOf, shownPath } from '../places'
import { BrokenOff, orCancelled, streamAnswer } from './answer'
import { exchanges, intentOf, keywordsByRule, type Command } from './conversation'
import { followUps, isAnswerMetadata, type AnswerMetadata } from './follow-ups'
import { previousQuestion, turnsOf } from './history'
import { degradedText, heading, label, shownCode, type WhyNoAnswer } from './hits-text'
import { answerPrompt } from './prompt'
import { overlaps, scopeOf, type Scope } from './scope'
import { tellOfIndexing } from './tell-of-indexing'

const COMMANDS = ['search', 'explain', 'related'] as const satisfies readonly Command[]

export const handler = (ctx: Ctx): vscode.ChatRequestHandler => async (request, context, stream, token) => {
  const command = COMMANDS.find((name) => name === request.command)
  try {
    const scope = await scopeOf(request.references, async (uri) => isIndexed(ctx, uri))
    const message = messageOf(request.prompt, command, scope)
    if (message === '') {
      stream.markdown(HELP)
      return {}
    }
    const answer = await search(ctx, { request, context, stream, token, message, scope, command })
    answer.hits.forEach((hit) => { stream.reference(locationOf(hit)) })
    const why = command === 'search' ? { kind: 'asked' } as const : await answerInWords(ctx, { request, context, stream, token, message, scope, command }, answer)
    if (token.isCancellationRequested) {
      return afterStop(() => { showHits(stream, answer, { kind: 'cancelled' }) })
    }
    if (why !== undefined) {
      showHits(stream, answer, why)
    }
    stream.markdown(degradedText(answer.degraded))
    const metadata: AnswerMetadata = {
      question: answer.question,
      answered: why === undefined,
      names: [...new Set(answer.hits.flatMap(({ name, kind }) => name === null || kind === 'full-file' || kind === 'section' ? [] : name))].slice(0, 3),
    }
    return { metadata }
  } catch (error) {
    return sayFailure(ctx, error, stream)
  }
}

/** Whether the index may show a file, which it may not if it holds secrets. */
async function isIndexed({ session }: Ctx, uri: vscode.Uri): Promise<boolean> {
  return session.engine().then((engine) => engine.chunks(uri.fsPath)).then(() => true, () => false)
}

/** After Stop the editor takes no more for an answer, at latest after a second. What was found is shown if it still does. */
function afterStop(show: () => void): vscode.ChatResult {
  try {
    show()
  } catch {
    // The references that were shown before stay.
  }
  return {}
}

export function registerParticipant(ctx: Ctx): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant('sextant.workspace', handler(ctx))
  participant.iconPath = vscode.Uri.joinPath(ctx.context.extensionUri, 'media', 'icon.png')
  participant.followupProvider = {
    provideFollowups: ({ metadata }) => isAnswerMetadata(metadata)
      // Without a command of its own VS Code would go on with that of the answer above, such as /search.
      ? followUps(metadata).map((followUp) => ({ command: '', ...followUp }))
      : [],
  }
  return vscode.Disposable.from(participant)
}

const HELP = `Ask about the code of the open folders in your own words, for example *how is a request retried?*

- \`/search\` finds the code and asks no model for an answer.
- \`/explain\` explains how something works.
- \`/related\` finds code related to a file, a selection or a topic.

Attach a file or a selection to ask about it alone.`

function messageOf(prompt: string, command: Command | undefined, scope: Scope): string {
  const message = prompt.trim()
  if (message !== '' || scope.attachments.length === 0) {
    return message
  }
  switch (command) {
    case 'related':
      return 'What is related to the attached code?'
    case 'search':
    case 'explain':
    case undefined:
      return 'How does the attached code work?'
  }
}

interface Asking {
  readonly request: vscode.ChatRequest
  readonly context: vscode.ChatContext
  readonly stream: vscode.ChatResponseStream
  readonly token: vscode.CancellationToken
  readonly message: string
  readonly scope: Scope
  readonly command: Command | undefined
}

/** The types promise a model; an editor without any has none to give. */
const modelOf = ({ request }: Asking): vscode.LanguageModelChat | undefined => request.model

/** The answer to the message; its `question` is what was understood. */
async function search(ctx: Ctx, asking: Asking): Promise<SearchResponse> {
  const { session } = ctx
  const { stream, token, message, command, scope } = asking
  const told = tellOfIndexing(session, (line) => { if (!token.isCancellationRequested) { stream.progress(line) } })
  try {
    stream.progress(`Searching: ${message}`)
    const answer = await (command === 'related' && scope.code !== '' ? searchAround(ctx, asking) : searchWithin(ctx, asking))
    if (answer.question !== message) {
      stream.progress(`Understood as: ${answer.question}`)
    }
    return answer
  } finally {
    told.dispose()
  }
}

/** The attached files alone, if there are some. */
async function searchWithin({ session, config, rephraser }: Ctx, asking: Asking): Promise<SearchResponse> {
  const { context, message, command, token } = asking
  const { paths, shown, code } = asking.scope
  const within = paths.length > 0 ? { paths: [...paths] } : {}
  const model = config.settings['chat.rephrase'] ? modelOf(asking) : undefined
  const options: SearchOptions = {
    query: message,
    // Where a model helps, its own take their place.
    keywords: keywordsByRule(message, previousQuestion(context.history)),
    history: exchanges(turnsOf(context.history)),
    attached: [...shown],
    rewrite: model !== undefined,
    sync: true,
    ...within,
  }
  const find = (): Promise<SearchResponse> => withSignal(token, (signal) => session.search(options, signal))
  const answer = await (model === undefined ? find() : rephraser.during({ question: message, model, intent: intentOf(command) }, find))
  if (answer.hits.length > 0 || paths.length === 0 || code.trim() === '') {
    return answer
  }
  // "What happens here?" shares no word with the code that is pointed at.
  const again = await withSignal(token, (signal) => session.search({ query: codeQuery(code), sync: true, ...within }, signal))
  return { ...again, question: answer.question, intent: answer.intent }
}

/** What is related to some code lies outside of it: there the code is what to look for, not where. */
async function searchAround({ session, config }: Ctx, { message, scope, token }: Asking): Promise<SearchResponse> {
  const wanted = config.settings['hybridSearch.topK']
  const query = { query: `${message}\n${codeQuery(scope.code)}`, sync: true }
  // The code itself is found first: its place, or all of its file, however many hits that is.
  const options = { ...query, limit: Math.min(MOST_AROUND, wanted + OWN_HITS) }
  const answer = await withSignal(token, (signal) => session.search(options, signal))
  const others = answer.hits.filter((hit) => !scope.own.some((own) => overlaps(own, hit)))
  return { ...answer, question: message, hits: others.slice(0, wanted) }
}

/** Hits that the attached code may have of its own. */
const OWN_HITS = 100
const MOST_AROUND = 150

const codeQuery = (code: string): string => code.slice(0, 1000)

/** Lets the model answer; returns why it did not. */
async function answerInWords({ config, log }: Ctx, asking: Asking, answer: SearchResponse): Promise<WhyNoAnswer | undefined> {
  const { context, stream, token, scope, command } = asking
  const model = modelOf(asking)
  if (model === undefined) {
    return { kind: 'no model' }
  }
  try {
    const prompt = await answerPrompt({
      message: asking.message,
      question: answer.question,
      intent: command === 'related' ? command : intentOf(command) ?? answer.intent ?? 'other',
      hits: answer.hits,
      attachments: scope.attachments,
      history: turnsOf(context.history),
      render: (hits, tokenBudget) => contextOf(hits, shownPath, { tokenBudget }),
    }, Math.min(config.settings['chat.maxContextTokens'], Math.floor(model.maxInputTokens * 0.9)), (text) => model.countTokens(text, token))
    log.debug(`asking ${model.id} with ${prompt.tokens} tokens and ${prompt.hits.length} of ${answer.hits.length} hits`)
    const response = await orCancelled(token, model.sendRequest([vscode.LanguageModelChatMessage.User(prompt.text)], {}, token))
    const length = await streamAnswer(response.text, stream, answer.hits, token)
    return length === 0 ? { kind: 'empty' } : undefined
  } catch (error) {
    log.warn(`the model did not answer: ${failureOf(error).message}`)
    const cause = error instanceof BrokenOff ? error.cause : error
    if (token.isCancellationRequested || isCancelled(cause)) {
      return { kind: 'cancelled' }
    }
    return error instanceof BrokenOff ? { kind: 'broken off', message: error.message } : whyOf(cause)
  }
}

/** Models of others put their own reasons behind an error of VS Code, as `cause`. */
function whyOf(error: unknown): WhyNoAnswer {
  const { code, message } = failureOf(error)
  const behind = error instanceof Error && error.cause !== undefined ? failureOf(error.cause) : undefined
  const isRefusal = [code, behind?.code].some((name) => name === vscode.LanguageModelError.Blocked.name || name === vscode.LanguageModelError.NoPermissions.name)
  if (isRefusal || /off.?topic|content.?filter|responsible ai/i.test(`${message} ${behind?.code ?? ''} ${behind?.message ?? ''}`)) {
    return { kind: 'refused', message }
  }
  return { kind: /quota|rate.?limit|too many requests|\b429\b/i.test(`${code} ${message} ${behind?.code ?? ''} ${behind?.message ?? ''}`) ? 'quota' : 'failed', message }
}

function showHits(stream: vscode.ChatResponseStream, { hits }: SearchResponse, why: WhyNoAnswer): void {
  if (hits.length === 0) {
    stream.markdown('Nothing in the open folders matches. Other words may help; names of functions or files work too.')
    return
  }
  stream.markdown(`${label(why, hits.length)}\n\n`)
  hits.forEach((hit, place) => {
    stream.markdown(heading(hit, place + 1))
    stream.anchor(locationOf(hit), `${shownPath(hit)}:${hit.startLine}`)
    stream.markdown(`\n\n${shownCode(hit)}`)
  })
}

function sayFailure({ log }: Ctx, error: unknown, stream: vscode.ChatResponseStream): vscode.ChatResult {
  if (isCancelled(error)) {
    return {}
  }
  const failure = failureOf(error)
  log.error(`@workspace: ${failure.code}: ${failure.message}`)
  const remedy = remedyOf(failure.code)
  if (remedy !== undefined) {
    stream.button({ command: remedy.command.id, title: remedy.label, arguments: [...remedy.command.args] })
  }
  return { errorDetails: { message: friendly(failure) }, metadata: { code: failure.code } }
}
