//! How are the tables of the token counter laid out?
//!
//! Shared by build.rs, which writes them, and by the modules that read them.

/// Bytes of a rank, little-endian.
pub const RANK_BYTES: usize = 3;

/// Bits that the greatest rank needs.
pub const RANK_BITS: u32 = 18;

/// The rank of what is no token.
pub const NO_RANK: u32 = 0xFF_FFFF;

/// Where in the table of ranks that of two bytes is.
#[inline]
pub const fn pair_at(first: u8, second: u8) -> usize {
    ((first as usize) << 8 | second as usize) * RANK_BYTES
}

/// Characters of one block of the table of classes. The first block is ASCII.
pub const CHARS_PER_BLOCK: usize = 128;

/// The greatest code point.
pub const MAX_CHAR: usize = char::MAX as usize;

// Classes of characters, as bits. The pattern of o200k_base asks for no others.

/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: may stand in the capitals with which a word begins.
pub const UPPER: u8 = 1;
/// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: may stand in the small letters with which a word ends.
pub const LOWER: u8 = 1 << 1;
/// `\p{N}`.
pub const NUMBER: u8 = 1 << 2;
/// `\s`.
pub const SPACE: u8 = 1 << 3;
/// `[\r\n]`.
pub const NEWLINE: u8 = 1 << 4;
/// `[^\s\p{L}\p{N}]`: marks, too, are punctuation where they follow no letter.
pub const PUNCTUATION: u8 = 1 << 5;
/// `[^\r\n\p{L}\p{N}]`: may precede a word.
pub const PREFIX: u8 = 1 << 6;
/// `[\r\n/]`: may follow punctuation.
pub const TAIL: u8 = 1 << 7;
