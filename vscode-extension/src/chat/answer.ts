/** Streams the words of a model into the chat, with its citations as links into the files. */

import * as vscode from 'vscode'
import type { Hit } from '../engine'
import { locationOf, resolvePath, shownPath } from '../places'
import { CitationReader, type AnswerPiece, type Citation } from './citations'

/**
 * Returns how many characters were written. An answer that breaks off, as by an error of the model, is ended so that
 * what comes after it stands by itself.
 */
export async function streamAnswer(text: AsyncIterable<string>, stream: vscode.ChatResponseStream, hits: readonly Hit[], token: vscode.CancellationToken): Promise<number> {
  const reader = new CitationReader()
  let length = 0
  const write = async (pieces: readonly AnswerPiece[]): Promise<void> => {
    for (const piece of pieces) {
      if ('text' in piece) {
        length += piece.text.trim().length
        stream.markdown(piece.text)
      } else {
        length += piece.citation.source.length
        await cite(piece.citation, stream, hits)
      }
    }
  }
  try {
    const parts = text[Symbol.asyncIterator]()
    for (;;) {
      // A model may take no notice of a Stop.
      const part = await orCancelled(token, parts.next())
      if (part.done === true) {
        break
      }
      await write(reader.push(part.value))
    }
  } catch (error) {
    await write(reader.end())
    if (length > 0) {
      stream.markdown(`${reader.closing === '' ? '\n' : reader.closing}\n`)
    }
    throw length > 0 ? new BrokenOff(error) : error
  }
  await write(reader.end())
  return length
}

/** What comes of `work`, unless somebody presses Stop before. */
export async function orCancelled<T>(token: vscode.CancellationToken, work: PromiseLike<T>): Promise<T> {
  let subscription: vscode.Disposable | undefined
  const stopped = new Promise<never>((_, reject) => {
    const stop = (): void => { reject(new vscode.CancellationError()) }
    subscription = token.onCancellationRequested(stop)
    if (token.isCancellationRequested) {
      stop()
    }
  })
  try {
    return await Promise.race([stopped, work])
  } finally {
    subscription?.dispose()
  }
}

/** The answer stopped after some of it was written. */
export class BrokenOff extends Error {
  constructor(override readonly cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause))
  }
}

async function cite(citation: Citation, stream: vscode.ChatResponseStream, hits: readonly Hit[]): Promise<void> {
  const location = await locationOfCitation(citation, hits)
  if (location === undefined) {
    // A place that is not there is no link.
    stream.markdown(`\`${citation.source}\``)
  } else {
    stream.anchor(location, citation.source)
  }
}

async function locationOfCitation({ path, startLine, endLine }: Citation, hits: readonly Hit[]): Promise<vscode.Location | undefined> {
  const hit = hits.find((candidate) => path === shownPath(candidate) || path === candidate.path)
    ?? hits.find((candidate) => candidate.path.endsWith(`/${path}`))
  if (hit !== undefined) {
    return locationOf({ root: hit.root, path: hit.path, startLine, endLine })
  }
  const uri = await resolvePath(path)
  return uri && new vscode.Location(uri, new vscode.Range(startLine - 1, 0, endLine - 1, Number.MAX_SAFE_INTEGER))
}
