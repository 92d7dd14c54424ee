//! Hits to results: text, line ranges, token budget.
//!
//! Lines become 1-based and inclusive here. A budget takes whole hits in order; the first that does not fit is cut at a
//! line, and the rest is left out. [`render`] makes the text of a prompt, [`tree`] one of a workspace's folders. Pure.

pub mod budget;
pub mod comment;
pub mod render;
pub mod tree;

use crate::span::LineRange;
use crate::token::TokenCounter;

/// 1-based first and last line of a range.
#[must_use]
pub fn one_based(lines: LineRange) -> (u32, u32) {
    (lines.start + 1, lines.end.max(lines.start + 1))
}

/// What is left of a text under a budget of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of it; so many tokens are used.
    Whole(usize),
    /// Its first lines: bytes and number of lines kept.
    Cut {
        /// Bytes of the kept lines.
        n_bytes: usize,
        /// Kept lines, at least 1.
        n_lines: usize,
    },
    /// Not even a line.
    Nothing,
}

/// Fits `text` into `budget` tokens.
#[must_use]
pub fn fit(text: &str, budget: usize, counter: &TokenCounter) -> Fit {
    let n = counter.count(text);
    if n <= budget {
        return Fit::Whole(n);
    }
    let ends: Vec<usize> = text
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .chain((!text.ends_with('\n')).then_some(text.len()))
        .collect();
    let n_lines = ends.partition_point(|&end| counter.fits(&text[..end], budget));
    match n_lines {
        0 => Fit::Nothing,
        n => Fit::Cut { n_bytes: ends[n - 1], n_lines: n },
    }
}
