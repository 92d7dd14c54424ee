import type { Ctx } from '../ctx'

export const showLog = ({ log }: Ctx) => async (): Promise<void> => {
  log.show()
  return Promise.resolve()
}
