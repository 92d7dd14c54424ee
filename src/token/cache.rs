//! Has this piece been merged before?
//!
//! Names recur in source text, and merging one costs ten times what finding it here does. Each thread remembers the
//! pieces it merged last, 32 KiB of them. Knows only short pieces, nearly all of those that are merged.

use std::cell::Cell;

use super::{hash, ranks};

/// The longest piece that is remembered: with its length and its number of tokens it fills two words.
const MAX_BYTES: usize = 15;
const N_ENTRIES: u32 = 2048;
/// Where in the second word the number of tokens is; the length follows it.
const COUNT_SHIFT: u32 = 56;
const LEN_SHIFT: u32 = 60;
const COUNT_MASK: u64 = 0xF << COUNT_SHIFT;

thread_local! {
    // No piece is empty, so that these match none.
    static ENTRIES: [Cell<[u64; 2]>; N_ENTRIES as usize] =
        const { [const { Cell::new([0; 2]) }; N_ENTRIES as usize] };
}

/// The number of tokens of `text[start..end]`, which `count` finds out if it is not remembered.
#[inline]
pub fn n_tokens(text: &[u8], start: usize, end: usize, count: impl FnOnce() -> usize) -> usize {
    let len = end - start;
    if len > MAX_BYTES {
        return count();
    }
    let first = ranks::word(text, start, len.min(8));
    let second = if len > 8 { ranks::word(text, start + 8, len - 8) } else { 0 };
    let second = second | (len as u64) << LEN_SHIFT;
    let hash = hash::add_word(hash::add_word(hash::EMPTY_HASH, first), second);
    ENTRIES.with(|entries| {
        let entry = &entries[hash::bucket(hash::finish(hash), N_ENTRIES)];
        let known = entry.get();
        if known[0] == first && known[1] & !COUNT_MASK == second {
            return ((known[1] & COUNT_MASK) >> COUNT_SHIFT) as usize;
        }
        let n_tokens = count();
        entry.set([first, second | (n_tokens as u64) << COUNT_SHIFT]);
        n_tokens
    })
}
