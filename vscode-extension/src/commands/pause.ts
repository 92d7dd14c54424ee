import type { Ctx } from '../ctx'

/** Stops indexing in every window with these folders, until somebody resumes it. */
export const pauseIndexing = ({ session }: Ctx) => async (): Promise<void> => {
  await session.pause()
}

/** Goes on where indexing stopped. */
export const resumeIndexing = ({ session }: Ctx) => async (): Promise<void> => {
  await session.resume()
}
