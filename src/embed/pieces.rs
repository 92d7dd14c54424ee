//! The embedded model's tokenizer: text to vocabulary rows.
//!
//! Runs of letters and digits are split at `lower|Upper`, `digit|letter` and before the last capital of a run of
//! capitals, lower-cased, and looked up in the vocabulary; an unknown piece is taken apart greedily from the left.
//! Rows of one run of `[A-Za-z0-9_$]` and non-ASCII characters do not depend on what stands around it, so callers may
//! cache them by run.

use hashbrown::HashMap;

/// Pieces longer than this many characters carry no meaning (hashes, encoded data).
const MAX_PIECE_CHARS: usize = 40;

/// Words of the vocabulary, each with its row.
pub struct Vocabulary {
    rows: HashMap<&'static str, u32, foldhash::fast::FixedState>,
    max_piece_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Separator,
    Lower,
    Upper,
    Digit,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Digit,
        _ if c.is_ascii() => Class::Separator,
        _ if c.is_uppercase() => Class::Upper,
        _ if c.is_alphabetic() => Class::Lower,
        _ => Class::Separator,
    }
}

/// Calls `emit` for each lower-cased piece of `text`, in text order.
fn pieces(text: &str, mut emit: impl FnMut(&str)) {
    let mut piece = String::with_capacity(48);
    let mut n_chars = 0;
    let mut previous = Class::Separator;
    let mut upper_run = 0;
    let mut flush = |piece: &mut String, n_chars: &mut usize| {
        if (2..=MAX_PIECE_CHARS).contains(n_chars) {
            emit(piece);
        }
        piece.clear();
        *n_chars = 0;
    };
    for c in text.chars() {
        let class = class(c);
        if class == Class::Separator {
            flush(&mut piece, &mut n_chars);
            previous = class;
            upper_run = 0;
            continue;
        }
        let mut split = false;
        if n_chars > 0 {
            match (previous, class) {
                (Class::Lower | Class::Digit, Class::Upper) | (Class::Digit, Class::Lower) => {
                    flush(&mut piece, &mut n_chars);
                    split = true;
                }
                (Class::Upper, Class::Lower) if upper_run >= 2 => {
                    let last = piece.pop().expect("an upper run of two left a character");
                    n_chars -= 1;
                    flush(&mut piece, &mut n_chars);
                    piece.push(last);
                    n_chars = 1;
                }
                _ => {}
            }
        }
        if c.is_ascii() {
            piece.push(c.to_ascii_lowercase());
        } else {
            piece.extend(c.to_lowercase());
        }
        upper_run = match class {
            Class::Upper if previous == Class::Upper && !split => upper_run + 1,
            Class::Upper => 1,
            _ => 0,
        };
        n_chars += 1;
        previous = class;
    }
    flush(&mut piece, &mut n_chars);
}

impl Vocabulary {
    /// From a list of one piece per line; the line number is the row.
    pub(super) fn new(list: &'static str) -> Self {
        let mut rows = HashMap::with_capacity_and_hasher(
            list.len() / 7,
            foldhash::fast::FixedState::default(),
        );
        let mut max_piece_bytes = 1;
        for (row, piece) in (0u32..).zip(list.lines()) {
            max_piece_bytes = max_piece_bytes.max(piece.len());
            rows.insert(piece, row);
        }
        Self { rows, max_piece_bytes }
    }

    /// Appends the rows of `text` to `rows`, in text order, with repeats.
    pub fn rows(&self, text: &str, rows: &mut Vec<u32>) {
        pieces(text, |piece| self.piece_rows(piece, rows));
    }

    fn piece_rows(&self, piece: &str, rows: &mut Vec<u32>) {
        if let Some(&row) = self.rows.get(piece) {
            rows.push(row);
            return;
        }
        let stem = piece.trim_end_matches(|c: char| c.is_ascii_digit());
        if stem.len() == piece.len() {
            self.greedy_rows(piece, rows);
            return;
        }
        if stem.len() >= 2 {
            match self.rows.get(stem) {
                Some(&row) => rows.push(row),
                None => self.greedy_rows(stem, rows),
            }
        }
        let digits = &piece[stem.len()..];
        if digits.len() >= 2
            && let Some(&row) = self.rows.get(digits)
        {
            rows.push(row);
        }
    }

    /// Longest match from the left; a character that nothing matches is passed over.
    fn greedy_rows(&self, piece: &str, rows: &mut Vec<u32>) {
        let mut continuation = String::with_capacity(48);
        let mut start = 0;
        while start < piece.len() {
            let longest = piece.len().min(start + self.max_piece_bytes);
            let hit = (start + 1..=longest)
                .rev()
                .filter(|&end| piece.is_char_boundary(end))
                .find_map(|end| {
                    let part = &piece[start..end];
                    let min_word_bytes = if start == 0 { 2 } else { 3 };
                    if part.len() >= min_word_bytes
                        && let Some(&row) = self.rows.get(part)
                    {
                        return Some((row, end));
                    }
                    if start == 0 {
                        return None;
                    }
                    continuation.clear();
                    continuation.push_str("##");
                    continuation.push_str(part);
                    self.rows.get(continuation.as_str()).map(|&row| (row, end))
                });
            match hit {
                Some((row, end)) => {
                    rows.push(row);
                    start = end;
                }
                None => {
                    start += piece[start..].chars().next().map_or(1, char::len_utf8);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        pieces(text, |piece| found.push(piece.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn pieces_follow_the_model_specification() {
        check("HTTPServer getUserName2x", &["http", "server", "get", "user", "name2"]);
        check(
            "utf8 sha256 v2 snake_case-kebab.dot$",
            &["utf8", "sha256", "v2", "snake", "case", "kebab", "dot"],
        );
        check("Größe ÜBERSchrift a", &["größe", "über", "schrift"]);
        check(&"x".repeat(41), &[]);
    }
}
