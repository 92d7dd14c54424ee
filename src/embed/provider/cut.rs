//! A text that is too long for the model: cut into pieces whose vectors are averaged.
//!
//! In: a text and a size. Out: ranges that cover it, cut at line ends where there are any. [`Parts`] gathers the vectors
//! of the pieces, each counted by its length. Pure.

use std::collections::VecDeque;
use std::ops::Range;

/// Most pieces of one text; what comes after has no share in its vector.
const MAX_PIECES: usize = 64;

/// The ranges of `text` within `within`, each at most `max_bytes` long and none blank.
pub(super) fn pieces(text: &str, within: Range<usize>, max_bytes: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = within.start;
    while start < within.end && pieces.len() < MAX_PIECES {
        let end = piece_end(text, start, within.end, max_bytes.max(4));
        if !text[start..end].trim().is_empty() {
            pieces.push(start..end);
        }
        start = end;
    }
    pieces
}

fn piece_end(text: &str, start: usize, limit: usize, max_bytes: usize) -> usize {
    if limit - start <= max_bytes {
        return limit;
    }
    let mut end = start + max_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A line end in the first half would make more pieces than it is worth.
    let half = start + (end - start) / 2;
    let at = text.as_bytes()[half..end].iter().rposition(|byte| *byte == b'\n');
    at.map_or(end, |at| half + at + 1)
}

/// The pieces of one text, and what is known of their vectors.
#[derive(Debug)]
pub(super) struct Parts {
    /// Longest piece, in bytes.
    pub(super) max_bytes: usize,
    /// Pieces that wait for the first to be accepted.
    pub(super) waiting: VecDeque<Range<usize>>,
    /// Pieces that are asked for or queued.
    pub(super) n_open: usize,
    /// Pieces that have a vector.
    pub(super) n_done: usize,
    sum: Vec<f32>,
}

impl Parts {
    pub(super) fn new(pieces: Vec<Range<usize>>, max_bytes: usize) -> Self {
        Self { max_bytes, waiting: pieces.into(), n_open: 0, n_done: 0, sum: Vec::new() }
    }

    /// Adds the vector of a piece of `n_bytes`.
    pub(super) fn add(&mut self, vector: &[f32], n_bytes: usize) {
        self.sum.resize(vector.len(), 0.0);
        let share = n_bytes as f32 / norm(vector).max(f32::MIN_POSITIVE);
        for (sum, n) in self.sum.iter_mut().zip(vector) {
            *sum += n * share;
        }
        self.n_open -= 1;
        self.n_done += 1;
    }

    /// The sum, once all pieces are there.
    pub(super) fn vector(&mut self) -> Option<Vec<f32>> {
        (self.n_open == 0 && self.waiting.is_empty()).then(|| std::mem::take(&mut self.sum))
    }
}

fn norm(vector: &[f32]) -> f32 {
    vector.iter().map(|n| f64::from(*n) * f64::from(*n)).sum::<f64>().sqrt() as f32
}

/// Makes a vector one long. `None` if it points nowhere.
pub(super) fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|n| f64::from(*n) * f64::from(*n)).sum::<f64>().sqrt();
    if !length.is_finite() || length == 0.0 {
        return None;
    }
    for n in &mut vector {
        *n = (f64::from(*n) / length) as f32;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, max_bytes: usize, expected: &[&str]) {
        let pieces = pieces(text, 0..text.len(), max_bytes);
        let pieces: Vec<&str> = pieces.into_iter().map(|range| &text[range]).collect();
        assert_eq!(pieces, expected);
    }

    #[test]
    fn texts_are_cut_at_line_ends() {
        check("aaa\nbbb\nccc\n", 8, &["aaa\nbbb\n", "ccc\n"]);
        check("aaa\nbbb\nccc", 100, &["aaa\nbbb\nccc"]);
        check("aaaabbbbcc", 4, &["aaaa", "bbbb", "cc"]);
        check("ééééé", 5, &["éé", "éé", "é"]);
        check("aaaa    bbbb", 4, &["aaaa", "bbbb"]);
    }

    #[test]
    fn pieces_count_by_their_length() {
        let mut parts = Parts::new(Vec::new(), 4);
        parts.n_open = 2;
        parts.add(&[10.0, 0.0], 3);
        assert_eq!(parts.vector(), None);
        parts.add(&[0.0, 2.0], 1);
        assert_eq!(parts.vector(), Some(vec![3.0, 1.0]));
    }

    #[test]
    fn vectors_become_one_long() {
        assert_eq!(normalised(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
        assert_eq!(normalised(vec![0.0, 0.0]), None);
        assert!(normalised(vec![1e30, 1e30]).is_some());
    }
}
