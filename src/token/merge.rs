//! Into how many tokens does byte pair encoding merge a piece?
//!
//! Again and again the two neighbours with the lowest rank of what they make together become one, the leftmost of
//! equals first (Sennrich, Haddow & Birch, ACL 2016, with ranks looked up by bytes). Time is O(n²) with a very small
//! factor for short pieces and O(n log n) for others, so that no piece, however long, holds an index up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::cache;
use super::layout::{NO_RANK, RANK_BITS};
use super::ranks;

/// Pieces of up to so many bytes, nearly all, find the next pair by a scan, which is faster than a heap for them.
const MAX_SCANNED_BYTES: usize = 64;
/// Bits of a place in a scanned piece.
const PLACE_BITS: u32 = MAX_SCANNED_BYTES.ilog2();
/// Pieces of up to so many bytes, most of those, get by with smaller arrays.
const FEW_BYTES: usize = 16;
/// From here on a pair has no rank. A signed number, since baseline x86-64 has no minimum of unsigned ones.
const NO_PAIR: i32 = (NO_RANK << PLACE_BITS) as i32;

/// The number of tokens of `text[start..end]`, which is not empty.
#[inline]
pub fn n_tokens(text: &[u8], start: usize, end: usize) -> usize {
    let len = end - start;
    if len == 1 || ranks::rank(text, start, end) != NO_RANK {
        1
    } else if len <= FEW_BYTES {
        cache::n_tokens(text, start, end, || n_tokens_by_scan::<FEW_BYTES>(text, start, len))
    } else if len <= MAX_SCANNED_BYTES {
        n_tokens_by_scan::<MAX_SCANNED_BYTES>(text, start, len)
    } else {
        n_tokens_by_heap(&text[start..end])
    }
}

fn n_tokens_by_scan<const MAX: usize>(text: &[u8], start: usize, len: usize) -> usize {
    // By place of a part's first byte: the rank of part and successor together, with the place below it; where the
    // successor begins, and the predecessor.
    let mut pairs = [NO_PAIR; MAX];
    let mut next = [0_u8; MAX];
    let mut previous = [0_u8; MAX];
    let pair = |rank: u32, place: usize| (rank << PLACE_BITS) as i32 | place as i32;
    let piece = &text[start..start + len];
    for place in 0..MAX {
        next[place] = place as u8 + 1;
        previous[place] = (place as u8).wrapping_sub(1);
    }
    for (place, two) in piece.windows(2).enumerate() {
        pairs[place] = pair(ranks::pair_rank(two[0], two[1]), place);
    }
    let mut n_parts = len;
    loop {
        // Over all places, not only those of the piece: the loop then compiles to a few vector instructions.
        let best = pairs.iter().fold(NO_PAIR, |least, &pair| least.min(pair));
        if best >= NO_PAIR {
            return n_parts;
        }
        let left = best as usize % MAX_SCANNED_BYTES;
        let right = usize::from(next[left]);
        let after = usize::from(next[right]);
        n_parts -= 1;
        next[left] = after as u8;
        pairs[right] = NO_PAIR;
        pairs[left] = NO_PAIR;
        if after < len {
            previous[after] = left as u8;
            let end = usize::from(next[after]);
            pairs[left] = pair(ranks::rank(text, start + left, start + end), left);
        }
        if left > 0 {
            let before = usize::from(previous[left]);
            pairs[before] = pair(ranks::rank(text, start + before, start + after), before);
        }
    }
}

/// A pair of neighbours: rank, then place of the first, in one number, so that the heap compares numbers.
type Pair = Reverse<u64>;

fn n_tokens_by_heap(piece: &[u8]) -> usize {
    const PLACE_BITS: u32 = u64::BITS - RANK_BITS;
    let len = piece.len();
    let pair =
        |rank: u32, place: usize| -> Pair { Reverse(u64::from(rank) << PLACE_BITS | place as u64) };
    let mut next: Vec<usize> = (1..=len).collect();
    let mut previous: Vec<usize> = (0..len).map(|place| place.saturating_sub(1)).collect();
    let mut ranks: Vec<u32> =
        piece.windows(2).map(|two| ranks::pair_rank(two[0], two[1])).collect();
    ranks.push(NO_RANK);
    let mut heap: BinaryHeap<Pair> = (0..len)
        .filter(|&place| ranks[place] != NO_RANK)
        .map(|place| pair(ranks[place], place))
        .collect();
    let mut n_parts = len;
    while let Some(Reverse(best)) = heap.pop() {
        let left = (best & (u64::MAX >> RANK_BITS)) as usize;
        // A pair that a merge has replaced stays in the heap until it comes out of it.
        if u64::from(ranks[left]) != best >> PLACE_BITS {
            continue;
        }
        let right = next[left];
        let after = next[right];
        n_parts -= 1;
        next[left] = after;
        ranks[right] = NO_RANK;
        ranks[left] = NO_RANK;
        if after < len {
            previous[after] = left;
            ranks[left] = ranks::rank(piece, left, next[after]);
            if ranks[left] != NO_RANK {
                heap.push(pair(ranks[left], left));
            }
        }
        if left > 0 {
            let before = previous[left];
            ranks[before] = ranks::rank(piece, before, after);
            if ranks[before] != NO_RANK {
                heap.push(pair(ranks[before], before));
            }
        }
    }
    n_parts
}
