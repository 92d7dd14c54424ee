/** How are hits shown in the chat when no model answers? Pure. */

import type { Degradation, Hit } from '../engine'
import { fenced, title } from '../hit-text'

const MOST_LINES = 30

/** The code of a hit, cut after some lines so that several fit on a screen. */
export function shownCode(hit: Hit): string {
  const lines = hit.text.replace(/\n$/, '').split('\n')
  const more = lines.length - MOST_LINES
  const note = more > 0 ? `\n\n… ${more} more ${more === 1 ? 'line' : 'lines'}` : ''
  return `${fenced(hit.language, lines.slice(0, MOST_LINES).join('\n'))}${note}\n\n`
}

export const heading = (hit: Hit, rank: number): string => `**${rank}. ${title(hit).replace(/[\\`*_[\]<>]/g, '\\$&')}** `

export type WhyNoAnswer =
  | { readonly kind: 'asked' | 'no model' | 'cancelled' | 'empty' }
  | { readonly kind: 'refused' | 'quota' | 'failed' | 'broken off', readonly message: string }

/** One sentence that says whose words these are. */
export function label(why: WhyNoAnswer, hits: number): string {
  const places = hits === 1 ? 'This is the place that matches' : `These are the ${hits} places that match best, in order`
  switch (why.kind) {
    case 'asked':
      return `${places}.`
    case 'no model':
      return `No language model is available, so there is no answer in words. ${places}.`
    case 'cancelled':
      return `The answer was stopped. ${places}.`
    case 'empty':
      return `The model said nothing. ${places}.`
    case 'refused':
      return `The model gave no answer (${why.message}). ${places}.`
    case 'quota':
      return `The model's quota is used up (${why.message}). ${places}.`
    case 'failed':
      return `The model could not be asked (${why.message}). ${places}.`
    case 'broken off':
      return `The answer broke off (${why.message}). ${places}.`
  }
}

export function degradedText(degraded: readonly Degradation[]): string {
  // What kind of answer is wanted changes nothing about what was found.
  const told = degraded.filter(({ code }) => code !== 'QUERY_INTENT_UNKNOWN').map(({ message }) => message)
  return told.length === 0 ? '' : `\n\n_Less than complete: ${told.join('; ')}._\n`
}
