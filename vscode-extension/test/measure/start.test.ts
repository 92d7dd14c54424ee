/** A fresh window: how long activate() takes, and with a folder, when the first search is answered. */

import { activated, ctx, ready } from '../host/host'
import { addonLoaded, LoopWatch, pause, plainWalk, roots, starts, stopwatch, tell } from './measure'

suite('measure the start', () => {
  test('of this window', async () => {
    await activated()
    if (roots().length === 0) {
      await pause(3000)
      tell('start', { ...await starts(), folder: false, addon: addonLoaded() })
      return
    }
    const loop = new LoopWatch()
    const first = await (await stopwatch()).first
    await ready()
    const delay = loop.stop()
    const { report } = (await ctx()).session.snapshot
    const walk = await plainWalk(roots())
    tell('start', { ...await starts(), folder: true, addon: addonLoaded(), first, report, loop: delay, walk })
  })
})
