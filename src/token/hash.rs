//! Where does a token lie in the table of ranks?
//!
//! Shared by build.rs, which lays the table out, and by `ranks`, which reads it, so that both agree.
//! A key's hash picks a bucket; the bucket's pilot, found at build time, sends each of its keys to a slot of its own
//! (perfect hashing as in Pibiri & Trani, "PTHash", SIGIR 2021). A look-up is thus one pilot and one slot.

const WORD_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const FINAL_FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;
const PILOT_FACTOR: u64 = 0xA076_1D64_78BD_642F;

/// The hash before the first word of a key.
pub const EMPTY_HASH: u64 = 0;

/// Takes the next eight bytes of a key, little-endian and filled up with zeros, into its hash.
#[inline]
pub const fn add_word(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(WORD_FACTOR);
    mixed ^ (mixed >> 32)
}

/// The last step of hashing, after all words.
#[inline]
pub const fn finish(hash: u64) -> u64 {
    hash.wrapping_mul(FINAL_FACTOR)
}

/// The bucket of a hash, below `n_buckets`.
#[inline]
pub const fn bucket(hash: u64, n_buckets: u32) -> usize {
    scale((hash >> 32) as u32, n_buckets)
}

/// The slot of a hash whose bucket has this pilot, below `n_slots`.
#[inline]
pub const fn slot(hash: u64, pilot: u16, n_slots: u32) -> usize {
    let moved = (hash ^ (pilot as u64).wrapping_mul(PILOT_FACTOR)).wrapping_mul(WORD_FACTOR);
    scale((moved >> 32) as u32, n_slots)
}

const fn scale(uniform: u32, below: u32) -> usize {
    ((uniform as u64 * below as u64) >> 32) as usize
}
