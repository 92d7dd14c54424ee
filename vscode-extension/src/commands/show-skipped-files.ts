import type { Ctx } from '../ctx'
import { shownPath } from '../places'
import { skippedPage } from '../skipped-page'

/** A page with every path that is not in the index, by reason. */
export const showSkippedFiles = ({ session, pages }: Ctx) => async (): Promise<void> => {
  const engine = await session.engine()
  await pages.show('Skipped Files.md', skippedPage(await engine.skipped(), shownPath))
}
