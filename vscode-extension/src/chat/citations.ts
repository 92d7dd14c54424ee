/**
 * Which parts of a streamed answer are places in files?
 *
 * In: text as it comes, cut anywhere. Out: the same text in order, with each `path:line` or `path:first-last` in backticks
 * as a [`Citation`]. What might become one is held back until that is clear, and never longer than one line. Code in
 * fences is left alone. Pure.
 */

export interface Citation {
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  /** As the model wrote it. */
  readonly source: string
}

export type AnswerPiece = { readonly text: string } | { readonly citation: Citation }

const CITATION = /^([^\s`][^`\n]*?):(?:L)?(\d+)(?:\s*[-–]\s*L?(\d+))?$/

export class CitationReader {
  #held = ''
  #fenced = false
  #lineStart = true

  /** Whether what was read so far ends within a fence of code. */
  get isFenced(): boolean { return this.#fenced }

  push(text: string): readonly AnswerPiece[] {
    this.#held += text
    return this.#read(false)
  }

  /** The rest; nothing comes after it. */
  end(): readonly AnswerPiece[] {
    return this.#read(true)
  }

  #read(last: boolean): readonly AnswerPiece[] {
    const pieces: AnswerPiece[] = []
    while (this.#held !== '') {
      const piece = this.#next(last)
      if (piece === undefined) {
        break
      }
      const before = pieces.at(-1)
      if ('text' in piece && before !== undefined && 'text' in before) {
        pieces[pieces.length - 1] = { text: before.text + piece.text }
      } else {
        pieces.push(piece)
      }
    }
    return pieces
  }

  /** The next piece, or nothing if more text is needed to tell. */
  #next(last: boolean): AnswerPiece | undefined {
    const tick = this.#held.indexOf('`')
    if (tick > 0 || tick === -1) {
      return this.#take(tick === -1 ? this.#held.length : tick)
    }
    const run = /^`+/.exec(this.#held)?.[0].length ?? 0
    if (run === this.#held.length && !last) {
      return undefined
    }
    if (run >= 3 && this.#lineStart) {
      this.#fenced = !this.#fenced
      return this.#take(run)
    }
    if (this.#fenced || run > 1) {
      return this.#take(run)
    }
    const close = this.#held.indexOf('`', 1)
    const newline = this.#held.indexOf('\n', 1)
    if (newline !== -1 && (close === -1 || newline < close)) {
      return this.#take(newline)
    }
    if (close === -1) {
      return last ? this.#take(this.#held.length) : undefined
    }
    const citation = parseCitation(this.#held.slice(1, close))
    return citation === undefined ? this.#take(close + 1) : this.#cite(close + 1, citation)
  }

  #take(length: number): AnswerPiece {
    const text = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    this.#lineStart = /(?:^|\n)[ \t]*$/.test(text) && (text.includes('\n') || this.#lineStart)
    return { text }
  }

  #cite(length: number, citation: Citation): AnswerPiece {
    this.#held = this.#held.slice(length)
    this.#lineStart = false
    return { citation }
  }
}

export function parseCitation(source: string): Citation | undefined {
  const [, path, first, last] = CITATION.exec(source.trim()) ?? []
  if (path === undefined || first === undefined || !/[./\\]/.test(path) || path.includes('://')) {
    return undefined
  }
  const startLine = Number(first)
  return startLine < 1 ? undefined : { path, startLine, endLine: Math.max(startLine, Number(last ?? first)), source }
}
