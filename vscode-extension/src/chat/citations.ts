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

/** Code in a fence, by the rules of CommonMark. */
interface Fence {
  /** As it was opened, without a list's mark before it. */
  readonly indent: string
  readonly marker: string
}

const OPENING = /^([ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(`{3,}(?!.*`)|~{3,})/
/** A line that may yet become one that opens or closes a fence. */
const UNDECIDED = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)]?)[ \t]*)?(?:`*|~*)$/

export class CitationReader {
  #held = ''
  #fence: Fence | undefined
  #lineStart = true

  /** What ends the fence of code in which the text read so far stops; empty if it is in none. */
  get closing(): string {
    return this.#fence === undefined ? '' : `${this.#lineStart ? '' : '\n'}${this.#fence.indent}${this.#fence.marker}\n`
  }

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
      const piece = (this.#lineStart ? this.#fenceLine(last) : undefined) ?? this.#next(last)
      if (piece === 'more') {
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

  /** A line that opens or closes a fence; `more` if that is not clear yet; nothing for any other line. */
  #fenceLine(last: boolean): AnswerPiece | 'more' | undefined {
    const newline = this.#held.indexOf('\n')
    const line = newline === -1 ? this.#held : this.#held.slice(0, newline)
    const [whole, before = '', marker = ''] = OPENING.exec(line) ?? []
    if (newline === -1 && !last) {
      return whole !== undefined || UNDECIDED.test(line) ? 'more' : undefined
    }
    if (this.#fence === undefined) {
      if (whole === undefined) {
        return undefined
      }
      this.#fence = { indent: before.replace(/[^\t]/g, ' '), marker }
    } else if (closes(line.trim(), this.#fence.marker)) {
      this.#fence = undefined
    } else {
      return undefined
    }
    return this.#take(newline === -1 ? line.length : newline + 1)
  }

  /** The next piece of a line, or `more` if more text is needed to tell. */
  #next(last: boolean): AnswerPiece | 'more' {
    const newline = this.#held.indexOf('\n')
    const lineEnd = newline === -1 ? this.#held.length : newline + 1
    const tick = this.#held.indexOf('`')
    if (this.#fence !== undefined || tick === -1 || tick >= lineEnd) {
      return this.#take(lineEnd)
    }
    if (tick > 0) {
      return this.#take(tick)
    }
    const run = /^`+/.exec(this.#held)?.[0].length ?? 0
    if (run === this.#held.length && !last) {
      return 'more'
    }
    if (run > 1) {
      return this.#take(run)
    }
    const close = this.#held.indexOf('`', 1)
    if (newline !== -1 && (close === -1 || newline < close)) {
      return this.#take(lineEnd)
    }
    if (close === -1) {
      return last ? this.#take(this.#held.length) : 'more'
    }
    const citation = parseCitation(this.#held.slice(1, close))
    return citation === undefined ? this.#take(close + 1) : this.#cite(close + 1, citation)
  }

  #take(length: number): AnswerPiece {
    const text = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    this.#lineStart = text.endsWith('\n')
    return { text }
  }

  #cite(length: number, citation: Citation): AnswerPiece {
    this.#held = this.#held.slice(length)
    this.#lineStart = false
    return { citation }
  }
}

/** Whether a line is nothing but the mark of a fence, at least as long. */
const closes = (line: string, marker: string): boolean => line.startsWith(marker) && line.split('').every((sign) => sign === marker.charAt(0))

/** No file has more lines. */
const MOST_LINES = 10_000_000

export function parseCitation(source: string): Citation | undefined {
  const [, path, first, last] = CITATION.exec(source.trim()) ?? []
  if (path === undefined || first === undefined || !/[./\\]/.test(path) || path.includes('://')) {
    return undefined
  }
  const startLine = Number(first)
  const endLine = Math.max(startLine, Number(last ?? first))
  return startLine < 1 || endLine > MOST_LINES ? undefined : { path, startLine, endLine, source }
}
