/** What other extensions may call; api.d.ts documents it. */

import * as vscode from 'vscode'
import type { SextantAnswer, SextantApi, SextantQuery, SextantStatus } from '../api'
import { withSignal, type Ctx } from './ctx'
import type { SearchOptions } from './engine'
import { locationOf } from './places'
import type { Snapshot } from './session'
import { percentOf } from './status-text'

export function createApi({ session, context }: Ctx): SextantApi {
  const changed = new vscode.EventEmitter<SextantStatus>()
  context.subscriptions.push(changed, session.onChange((snapshot) => { changed.fire(statusOf(snapshot)) }))
  return {
    version: 1,
    get status() { return statusOf(session.snapshot) },
    onDidChangeStatus: changed.event,
    async search(query: SextantQuery, token?: vscode.CancellationToken): Promise<SextantAnswer> {
      const { keywords, limit, tokenBudget, paths, languages, kinds } = query
      const options: SearchOptions = {
        query: query.query,
        sync: true,
        ...(limit !== undefined && { limit }),
        ...(keywords && { keywords: [...keywords] }),
        ...(tokenBudget !== undefined && { tokenBudget }),
        ...(paths && { paths: [...paths] }),
        ...(languages && { languages: [...languages] }),
        ...(kinds && { kinds: [...kinds] }),
      }
      const { hits, degraded } = await (token === undefined ? session.search(options) : withSignal(token, (signal) => session.search(options, signal)))
      return {
        degraded,
        hits: hits.map((hit) => ({
          location: locationOf(hit),
          path: hit.path,
          name: hit.name,
          kind: hit.kind,
          language: hit.language,
          score: hit.score,
          text: hit.text,
        })),
      }
    },
  }
}

function statusOf({ state, status }: Snapshot): SextantStatus {
  const percent = state.kind === 'indexing' ? percentOf(state) : undefined
  return {
    state: state.kind,
    files: status?.files ?? 0,
    chunks: status?.chunks ?? 0,
    ...(percent !== undefined && { percent }),
    ...(state.kind === 'failed' && { failure: state.failure }),
  }
}
