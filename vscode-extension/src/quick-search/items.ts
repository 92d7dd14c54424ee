/** How does a hit look in the quick pick? Pure. */

import type { QuickInputButton, QuickPickItem } from 'vscode'
import type { Action } from '../actions'
import type { Hit } from '../engine'
import { firstLine, iconOf, title, type ShownPath } from '../hit-text'

export interface Item extends QuickPickItem {
  readonly hit: Hit | undefined
  readonly action?: Action | undefined
}

export function hitItem(hit: Hit, shown: ShownPath, buttons: readonly QuickInputButton[]): Item {
  const label = title(hit)
  const detail = firstLine(hit.text)
  return {
    label: `$(${iconOf(hit.kind)}) ${plain(label)}`,
    description: plain(`${shown(hit)}:${hit.startLine}`),
    ...(detail !== undefined && detail !== label && { detail: plain(detail) }),
    // The quick pick would hide what does not contain the letters of the question.
    alwaysShow: true,
    buttons,
    hit,
  }
}

/** A sentence in place of hits; `action` is what Enter does about it. */
export const messageItem = (label: string, detail: string, action?: Action): Item => ({
  label: plain(label),
  detail: plain(action === undefined ? detail : `${detail} Enter: ${action.label}.`),
  alwaysShow: true,
  hit: undefined,
  action,
})

/** The list takes `$(name)` for an icon; in code it is a variable. */
const plain = (text: string): string => text.replaceAll('$(', '\\$(')
