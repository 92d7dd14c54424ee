/** What is said in the chat while the index is made. Knows nothing of VS Code. */

import type { Session } from '../session'
import { stateLine } from '../status-text'

/** What is done sooner, as after a save, is not worth a line. */
const TOLD_AFTER_MS = 1000

/** Says what a run that takes a while is doing, until disposed. The chat keeps each line, so there is one a phase. */
export function tellOfIndexing(session: Pick<Session, 'snapshot' | 'onChange'>, tell: (line: string) => void): { dispose(): void } {
  let phase: string | undefined
  let timer: NodeJS.Timeout | undefined
  const follow = (): void => {
    const { state } = session.snapshot
    const now = state.kind === 'indexing' ? state.progress?.phase ?? 'walk' : undefined
    if (now === phase) {
      return
    }
    phase = now
    clearTimeout(timer)
    timer = now === undefined ? undefined : setTimeout(() => { tell(stateLine(session.snapshot.state, session.snapshot.status)) }, TOLD_AFTER_MS)
  }
  const subscription = session.onChange(follow)
  follow()
  return {
    dispose: () => {
      clearTimeout(timer)
      subscription.dispose()
    },
  }
}
