/**
 * What the extension `sextant-code.sextant` offers to other extensions:
 *
 *     const sextant = vscode.extensions.getExtension<SextantApi>('sextant-code.sextant')
 *     const api = await sextant?.activate()
 *     const answer = await api?.search({ query: 'how is a request retried?', limit: 5 })
 */

import type { CancellationToken, Event, Location } from 'vscode'

export interface SextantApi {
  /** Goes up when something here changes in a way that callers must know of. */
  readonly version: 1

  /**
   * Answers a question from the index of the open folders, brought up to date first. Waits for the first index if there is
   * none yet. Rejects with an `Error` that has a stable `code`, among them `NO_FOLDER`, `EMPTY_QUERY`, `INDEX_CLEARED` and
   * `CANCELLED`.
   */
  search(query: SextantQuery, token?: CancellationToken): Promise<SextantAnswer>

  /** How the index stands now. */
  readonly status: SextantStatus

  /** Fires whenever the state, a count or the progress changes. */
  readonly onDidChangeStatus: Event<SextantStatus>
}

export interface SextantQuery {
  /** A question in the asker's words, or the name of a symbol. */
  readonly query: string
  /** Further words or identifiers to look for. */
  readonly keywords?: readonly string[]
  /** Most hits wanted, from 1 to 1000; by default what `sextant.hybridSearch.topK` says, or
   * `sextant.vectorDb.searchResultLimit` where a search is not hybrid. */
  readonly limit?: number
  /** Most tokens (o200k) of text over all hits. */
  readonly tokenBudget?: number
  /** Path globs, relative to the folders or absolute; a folder stands for all below it. */
  readonly paths?: readonly string[]
  /** Language ids. */
  readonly languages?: readonly string[]
  /** What a hit may be. */
  readonly kinds?: readonly SextantKind[]
}

export type SextantKind = 'function' | 'class' | 'component' | 'hook' | 'type' | 'export' | 'section' | 'full-file' | 'block'

export interface SextantAnswer {
  /** Best first. Empty means that nothing matches. */
  readonly hits: readonly SextantHit[]
  /** What made the answer less than complete, each with a stable code; empty for a complete one. */
  readonly degraded: readonly { readonly code: string, readonly message: string }[]
}

export interface SextantHit {
  /** The file and the lines. */
  readonly location: Location
  /** Relative to its folder, with `/` between the parts. */
  readonly path: string
  /** Name of what the lines hold: an identifier, a heading. */
  readonly name: string | null
  readonly kind: SextantKind
  readonly language: string
  /** Higher is better; comparable within one answer only. */
  readonly score: number
  readonly text: string
}

export interface SextantStatus {
  /** `off`: no folder is open. `empty`: nothing is indexed yet. */
  readonly state: 'off' | 'opening' | 'indexing' | 'empty' | 'ready' | 'paused' | 'cleared' | 'failed'
  /** Files in the index. */
  readonly files: number
  /** Chunks in the index. */
  readonly chunks: number
  /** Whole percent of a run that goes on, once there is something to go by. */
  readonly percent?: number
  /** What went wrong, while `state` is `failed`. */
  readonly failure?: { readonly code: string, readonly message: string }
}
