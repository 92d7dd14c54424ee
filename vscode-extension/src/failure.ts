/** What went wrong, for branching and for people? Pure. */

export interface Failure {
  /** Stable code of docs/errors.md, or `INTERNAL`. */
  readonly code: string
  readonly message: string
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : 'INTERNAL'
    return { code, message: error.message }
  }
  return { code: 'INTERNAL', message: String(error) }
}

export const isCancelled = (error: unknown): boolean =>
  failureOf(error).code === 'CANCELLED' || (error instanceof Error && (error.name === 'AbortError' || error.name === 'Canceled'))

/** An error of our own with a code, thrown where the engine is not there to throw one. */
export class CodedError extends Error {
  constructor(readonly code: string, message: string) {
    super(message)
  }
}

/** A sentence that says what to do where the engine's own words speak to programmers. */
export function friendly({ code, message }: Failure): string {
  switch (code) {
    case 'NO_FOLDER':
      return message
    case 'INDEX_CLEARED':
      return 'The index was cleared. Run "Sextant: Index Workspace" to build it again.'
    case 'INDEX_PAUSED':
      return 'Indexing is paused. Run "Sextant: Resume Indexing" to go on.'
    case 'INDEX_NOT_BUILT':
      return 'There is no index yet. Run "Sextant: Index Workspace" to build it.'
    case 'STORAGE_BUSY':
      return 'Another window is writing the index. Try again in a moment.'
    case 'EMPTY_QUERY':
      return 'Ask something: a few words or the name of a symbol.'
    case 'NATIVE_ADDON_UNAVAILABLE':
      return 'This build of Sextant does not run on this machine. Install the version for your platform.'
    default:
      return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`
  }
}

export function assertNever(value: never): never {
  throw new Error(`not expected: ${JSON.stringify(value)}`)
}
