/** What fits into a number of tokens? Pure but for the counting, which the caller brings. */

export type CountTokens = (text: string) => PromiseLike<number>

export interface Fitted {
  readonly kept: readonly string[]
  /** How many of the last pieces had no room. */
  readonly omitted: number
  readonly tokens: number
}

/**
 * Keeps pieces from the first on while they fit. A first piece that is too long is cut, and what was fenced in it is closed;
 * later ones are dropped whole.
 */
export async function fitPieces(pieces: readonly string[], budgetTokens: number, count: CountTokens): Promise<Fitted> {
  const kept: string[] = []
  let tokens = 0
  for (const piece of pieces) {
    const needed = await count(piece)
    if (tokens + needed <= budgetTokens) {
      kept.push(piece)
      tokens += needed
      continue
    }
    if (kept.length === 0) {
      const whole = await cutToFit(piece, Math.max(0, budgetTokens - (piece.includes('```') ? FENCE_TOKENS : 0)), count)
      const cut = `${whole}${openFence(whole)}`
      return { kept: cut === '' ? [] : [cut], omitted: pieces.length - (cut === '' ? 0 : 1), tokens: await count(cut) }
    }
    break
  }
  return { kept, omitted: pieces.length - kept.length, tokens }
}

/** What the line that closes a fence takes at most. */
const FENCE_TOKENS = 4

/** The line that closes a fence left open, if one is. */
function openFence(text: string): string {
  let open = ''
  for (const [, fence = ''] of text.matchAll(/^(`{3,})/gm)) {
    open = open === '' ? fence : fence.startsWith(open) ? '' : open
  }
  return open === '' ? '' : `${text.endsWith('\n') ? '' : '\n'}${open}\n`
}

/** No model has longer tokens on average over a text: spaces come in tokens of many. */
const MOST_CHARACTERS = 32

/** The longest start of `text`, in whole lines where there are some, that fits. */
export async function cutToFit(whole: string, budgetTokens: number, count: CountTokens): Promise<string> {
  // What cannot fit need not be counted again and again.
  const text = whole.slice(0, budgetTokens * MOST_CHARACTERS)
  if (await count(text) <= budgetTokens) {
    return text
  }
  const units = text.includes('\n') ? text.split(/(?<=\n)/) : Array.from(text)
  let fits = 0
  let tooMany = units.length
  while (tooMany - fits > 1) {
    const middle = (fits + tooMany) >> 1
    if (await count(units.slice(0, middle).join('')) <= budgetTokens) {
      fits = middle
    } else {
      tooMany = middle
    }
  }
  return units.slice(0, fits).join('')
}

/** For when nobody counts for us: no text of code has more tokens than this. */
export const estimateTokens: CountTokens = (text) => Promise.resolve(Math.ceil(text.length / 3))
