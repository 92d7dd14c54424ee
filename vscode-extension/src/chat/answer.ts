/** Streams the words of a model into the chat, with its citations as links into the files. */

import * as vscode from 'vscode'
import type { Hit } from '../engine'
import { locationOf, resolvePath, shownPath } from '../places'
import { CitationReader, type AnswerPiece, type Citation } from './citations'

/** Returns how many characters were written. */
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
  for await (const part of text) {
    if (token.isCancellationRequested) {
      break
    }
    await write(reader.push(part))
  }
  await write(reader.end())
  return length
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
