//! Where does the pattern of o200k_base part a text?
//!
//! The pattern, as published with the vocabulary, is an ordered choice of
//!
//! 1. `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
//! 2. `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
//! 3. `\p{N}{1,3}`
//! 4. ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
//! 5. `\s*[\r\n]+`
//! 6. `\s+(?!\S)`
//! 7. `\s+`
//!
//! Pieces leave nothing out and none is empty. Time is linear in the text. Borders are those a backtracking engine
//! finds; where it would step back, the comments say to where.

use super::layout::{
    CHARS_PER_BLOCK, LOWER, MAX_CHAR, NEWLINE, NUMBER, PREFIX, PUNCTUATION, SPACE, TAIL, UPPER,
};

static CHARS: [u8; include_bytes!(concat!(env!("OUT_DIR"), "/chars.bin")).len()] =
    *include_bytes!(concat!(env!("OUT_DIR"), "/chars.bin"));

/// Where in [`CHARS`] the blocks begin, after the number of each block.
const BLOCKS_AT: usize = (MAX_CHAR + 1) / CHARS_PER_BLOCK;

/// The end of the piece that begins at `start`, a border of a character before the end of `text`, which is UTF-8.
#[inline]
pub fn piece_end(text: &[u8], start: usize) -> usize {
    let (first, first_len) = class_at(text, start);
    let next = start + first_len;
    if first & PREFIX != 0 {
        if let Some(end) = word_end(text, next, first & LOWER != 0) {
            return contraction_end(text, end);
        }
    } else if first & (UPPER | LOWER) != 0 {
        if let Some(end) = word_end(text, start, false) {
            return contraction_end(text, end);
        }
    } else if first & NUMBER != 0 {
        return number_end(text, next);
    }
    // Without its letters a prefix that is a mark is the word itself.
    if first & LOWER != 0 {
        return contraction_end(text, next);
    }
    if first & PUNCTUATION != 0 {
        return punctuation_end(text, next);
    }
    if text[start] == b' ' {
        let (second, second_len) = class_at(text, next);
        if second & PUNCTUATION != 0 {
            return punctuation_end(text, next + second_len);
        }
    }
    space_end(text, start)
}

/// Choices 1 and 2 from after the prefix on and without the contraction; choice 1 alone if `only_first`.
#[inline]
fn word_end(text: &[u8], start: usize, only_first: bool) -> Option<usize> {
    let mut end = start;
    let mut last_caseless_end = None;
    loop {
        let (class, len) = class_at(text, end);
        if class & UPPER == 0 {
            if class & LOWER != 0 {
                return Some(run_end(text, small_letters_end(text, end + len), LOWER));
            }
            break;
        }
        end += len;
        if class & LOWER != 0 {
            last_caseless_end = Some(end);
        }
    }
    // No small letter follows the capitals. Choice 1 steps back to the last that counts as a small letter as well;
    // choice 2 takes all.
    last_caseless_end.or((end > start && !only_first).then_some(end))
}

/// The end of the contraction at `at`, or `at` if there is none.
#[inline]
fn contraction_end(text: &[u8], at: usize) -> usize {
    if text.get(at) != Some(&b'\'') {
        return at;
    }
    let lower = |i: usize| text.get(at + i).map(u8::to_ascii_lowercase);
    match (lower(1), lower(2)) {
        (Some(b's' | b't' | b'm' | b'd'), _) => at + 2,
        (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => at + 3,
        // The long s, which without regard to case is an s.
        (Some(0xC5), Some(0xBF)) => at + 3,
        _ => at,
    }
}

/// The end of a number of up to three characters, of which the first ends at `at`.
#[inline]
fn number_end(text: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        let (class, len) = class_at(text, at);
        if class & NUMBER == 0 {
            break;
        }
        at += len;
    }
    at
}

#[inline]
fn punctuation_end(text: &[u8], at: usize) -> usize {
    run_end(text, run_end(text, at, PUNCTUATION), TAIL)
}

/// Choices 5 to 7.
#[inline]
fn space_end(text: &[u8], start: usize) -> usize {
    let mut end = start;
    let mut last_start = start;
    let mut newline_end = None;
    loop {
        let (class, len) = class_at(text, end);
        if class & SPACE == 0 {
            break;
        }
        last_start = end;
        end += len;
        if class & NEWLINE != 0 {
            newline_end = Some(end);
        }
    }
    match newline_end {
        Some(newline_end) => newline_end,
        // The last of several spaces before other text begins the next piece.
        None if end < text.len() && last_start > start => last_start,
        None => end,
    }
}

/// The end of the run of ASCII small letters from `at` on, or an earlier place in it. Takes eight letters at once: a
/// loop over letters ends with a wrong guess of the processor in nearly each word.
#[inline]
fn small_letters_end(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    while let Some(&eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(eight);
        // Each sum stays within its byte; its high bit says whether the byte is at least `a`, or above `z`.
        let from_a = (word & !HIGH) + ONES * u64::from(0x80 - b'a');
        let above_z = (word & !HIGH) + ONES * u64::from(0x80 - b'z' - 1);
        let others = !(from_a & !above_z & !word) & HIGH;
        at += others.trailing_zeros() as usize / 8;
        if others != 0 {
            break;
        }
    }
    at
}

/// The end of the run of characters of these classes from `at` on.
#[inline]
fn run_end(text: &[u8], mut at: usize, classes: u8) -> usize {
    loop {
        let (class, len) = class_at(text, at);
        if class & classes == 0 {
            return at;
        }
        at += len;
    }
}

/// Classes and length in bytes of the character at `at`; neither, at the end of the text.
#[inline]
fn class_at(text: &[u8], at: usize) -> (u8, usize) {
    match text.get(at) {
        None => (0, 0),
        Some(&byte) if byte < 0x80 => (CHARS[BLOCKS_AT + usize::from(byte)], 1),
        Some(&byte) => class_of_multibyte(text, at, byte),
    }
}

fn class_of_multibyte(text: &[u8], at: usize, first: u8) -> (u8, usize) {
    let bits = |i: usize| text.get(at + i).map_or(0, |&byte| usize::from(byte & 0x3F));
    let first = usize::from(first);
    let (char, len) = match first {
        ..0xE0 => ((first & 0x1F) << 6 | bits(1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | bits(1) << 6 | bits(2), 3),
        _ => ((first & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3), 4),
    };
    let block = usize::from(CHARS[char / CHARS_PER_BLOCK]);
    (CHARS[BLOCKS_AT + block * CHARS_PER_BLOCK + char % CHARS_PER_BLOCK], len)
}
