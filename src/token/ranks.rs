//! Is this a token, and which rank has it?
//!
//! The table is made by build.rs and part of the program: nothing is loaded or built at run time. In: a text and a
//! range of its bytes (the text, so that eight bytes can be read at once). Out: the rank, or [`NO_RANK`].

use super::hash;
use super::layout::{self, NO_RANK, RANK_BYTES};

/// Where the keys of one length lie in the table.
struct Shape {
    pilots_at: usize,
    n_buckets: u32,
    slots_at: usize,
    n_slots: u32,
}

static TABLE: [u8; include_bytes!(concat!(env!("OUT_DIR"), "/ranks.bin")).len()] =
    *include_bytes!(concat!(env!("OUT_DIR"), "/ranks.bin"));

// `SHAPES`, by length of key.
include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

/// No token has more bytes.
pub const MAX_TOKEN_BYTES: usize = SHAPES.len() - 1;

/// The rank of the token `text[start..end]`.
#[inline]
pub fn rank(text: &[u8], start: usize, end: usize) -> u32 {
    match end - start {
        len @ 0..=8 => rank_of_word(word(text, start, len), len),
        len @ 9..=16 => {
            rank_of_two_words(word(text, start, 8), word(text, start + 8, len - 8), len)
        }
        _ => rank_of_long(&text[start..end]),
    }
}

/// [`rank`] of two bytes, in one step.
#[inline]
pub fn pair_rank(first: u8, second: u8) -> u32 {
    rank_at(layout::pair_at(first, second))
}

#[inline]
fn rank_of_word(key: u64, len: usize) -> u32 {
    let slot = slot_at(hash::finish(hash::add_word(hash::EMPTY_HASH, key)), len);
    // Read before it is known to be wanted: choosing between numbers is cheaper than a wrong guess of a branch.
    let rank = rank_at(slot + len);
    if word(&TABLE, slot, len) == key { rank } else { NO_RANK }
}

#[inline]
fn rank_of_two_words(first: u64, second: u64, len: usize) -> u32 {
    let hash = hash::add_word(hash::add_word(hash::EMPTY_HASH, first), second);
    let slot = slot_at(hash::finish(hash), len);
    if word(&TABLE, slot, 8) == first && word(&TABLE, slot + 8, len - 8) == second {
        rank_at(slot + len)
    } else {
        NO_RANK
    }
}

fn rank_of_long(key: &[u8]) -> u32 {
    if key.len() > MAX_TOKEN_BYTES {
        return NO_RANK;
    }
    let words = key.chunks(8).map(|chunk| word(chunk, 0, chunk.len()));
    let slot = slot_at(hash::finish(words.fold(hash::EMPTY_HASH, hash::add_word)), key.len());
    if TABLE[slot..slot + key.len()] == *key { rank_at(slot + key.len()) } else { NO_RANK }
}

/// Where the slot of this hash, of a key of `len` bytes, is in the table.
#[inline]
fn slot_at(hash: u64, len: usize) -> usize {
    let shape = &SHAPES[len];
    let pilot_at = shape.pilots_at + 2 * hash::bucket(hash, shape.n_buckets);
    let pilot = u16::from_le_bytes([TABLE[pilot_at], TABLE[pilot_at + 1]]);
    shape.slots_at + hash::slot(hash, pilot, shape.n_slots) * (len + RANK_BYTES)
}

#[inline]
fn rank_at(at: usize) -> u32 {
    u32::from_le_bytes([TABLE[at], TABLE[at + 1], TABLE[at + 2], 0])
}

/// The `len` bytes, at most eight, from `at` on, as a little-endian number.
#[inline]
pub fn word(bytes: &[u8], at: usize, len: usize) -> u64 {
    match bytes.get(at..).and_then(<[u8]>::first_chunk) {
        Some(&eight) => u64::from_le_bytes(eight) & (u64::MAX >> (64 - 8 * len as u32).min(63)),
        None => bytes[at..at + len].iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// The number of slots with a key.
#[cfg(test)]
pub fn n_ranks() -> usize {
    let slots = SHAPES.iter().enumerate().flat_map(|(len, shape)| {
        (0..shape.n_slots as usize).map(move |s| shape.slots_at + s * (len + RANK_BYTES) + len)
    });
    slots.filter(|&at| rank_at(at) != NO_RANK).count()
}
