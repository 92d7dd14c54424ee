/** How does a hit look in the quick pick? Pure. */

import type { QuickInputButton, QuickPickItem } from 'vscode'
import type { Hit } from '../engine'
import { firstLine, iconOf, title, type ShownPath } from '../hit-text'

export interface Item extends QuickPickItem {
  readonly hit: Hit | undefined
}

export function hitItem(hit: Hit, shown: ShownPath, buttons: readonly QuickInputButton[]): Item {
  const label = title(hit)
  const detail = firstLine(hit.text)
  return {
    label: `$(${iconOf(hit.kind)}) ${label}`,
    description: `${shown(hit)}:${hit.startLine}`,
    ...(detail !== undefined && detail !== label && { detail }),
    // The quick pick would hide what does not contain the letters of the question.
    alwaysShow: true,
    buttons,
    hit,
  }
}

export const messageItem = (label: string, detail: string): Item => ({ label, detail, alwaysShow: true, hit: undefined })
