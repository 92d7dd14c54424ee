import * as vscode from 'vscode'
import type { Ctx } from '../ctx'
import { hitsPage } from '../hit-text'
import { contextOf } from '../context'
import { shownPath, uriOf } from '../places'

/** Asks the question of the results view once more, over the files as they are now. */
export const searchAgain = ({ results, session }: Ctx) => async (): Promise<void> => {
  const { query } = results
  if (query !== undefined) {
    const { hits } = await session.search({ query, sync: true })
    results.show(query, hits)
  }
}

/** All results on one page in an editor. */
export const openResults = ({ results, pages }: Ctx) => async (): Promise<void> => {
  if (results.query !== undefined) {
    const link = (hit: (typeof results.hits)[number]): string => `${uriOf(hit).toString()}#L${hit.startLine}`
    await pages.show(`${results.query}.md`, hitsPage(results.query, results.hits, shownPath, link))
  }
}

/** All results on the clipboard, as context for a model or a colleague. */
export const copyResults = ({ results }: Ctx) => async (): Promise<void> => {
  await vscode.env.clipboard.writeText(contextOf(results.hits, shownPath).text)
  vscode.window.setStatusBarMessage(`Sextant: ${results.hits.length} hits copied`, 3000)
}

export const clearResults = ({ results }: Ctx) => async (): Promise<void> => {
  results.clear()
  return Promise.resolve()
}
