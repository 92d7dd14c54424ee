/** Which paths were left out, grouped by reason? Pure. */

import type { SkippedPath } from './engine'
import { count } from './status-text'

export interface SkippedGroup {
  readonly reason: string
  readonly paths: readonly SkippedPath[]
}

/** Groups with the most paths first. */
export function bySkipReason(skipped: readonly SkippedPath[]): readonly SkippedGroup[] {
  const groups = new Map<string, SkippedPath[]>()
  for (const path of skipped) {
    const group = groups.get(path.reason) ?? []
    group.push(path)
    groups.set(path.reason, group)
  }
  return [...groups].map(([reason, paths]) => ({ reason, paths }))
    .sort((left, right) => right.paths.length - left.paths.length || left.reason.localeCompare(right.reason))
}

export function skippedPage(skipped: readonly SkippedPath[], shown: (path: SkippedPath) => string): string {
  if (skipped.length === 0) {
    return '# Skipped files\n\nNothing was left out.\n'
  }
  const sections = bySkipReason(skipped).map(({ reason, paths }) =>
    `## ${reason} (${count(paths.length, 'path')})\n\n${paths.map((path) => `- ${shown(path)}`).join('\n')}\n`)
  return ['# Skipped files\n', 'A folder stands for everything below it. A rule `!path` in `.sextantignore` takes a path back in.\n', ...sections].join('\n')
}
