//! Where to cut what does not fit into one chunk.

use std::ops::Range;

use super::lines::Lines;
use crate::config::{FALLBACK_CHUNK_LINES, FALLBACK_OVERLAP_LINES, MAX_CHUNK_TOKENS};

/// Overlap of fallback chunks is at most this share of the chunk, so that short chunks do not repeat each other.
const OVERLAP_SHARE: usize = FALLBACK_CHUNK_LINES / FALLBACK_OVERLAP_LINES;

/// Parts of a function share their last statement if it has at most so many lines.
const OVERLAP_STATEMENT_LINES: usize = 3;

/// Lines that are not cut unless they are too long by themselves.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    pub(super) lines: Range<usize>,
    /// How good a place the border before it is for a cut.
    pub(super) strength: u8,
    /// Whether a part may repeat it.
    may_repeat: bool,
}

impl Atom {
    /// A statement at nesting `depth`, or the signature before the first one.
    pub(super) fn statement(lines: &Lines, span: Range<usize>, depth: u8, is_header: bool) -> Self {
        let strength = Self::statement_strength(lines, &span, depth);
        Self { may_repeat: !is_header, lines: span, strength }
    }

    /// Shallow borders are better than deep ones, and those after a blank line better than others.
    pub(super) fn statement_strength(lines: &Lines, span: &Range<usize>, depth: u8) -> u8 {
        200u8.saturating_sub(10 * depth.min(15)) + lines.looks(span.start)
    }
}

/// What neighbouring parts share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// Nothing.
    None,
    /// The last statement, if it is small.
    LastAtom,
    /// Some lines; the number of lines of a part is limited too.
    Lines,
}

/// Every non-blank line of `span` as an atom.
pub(super) fn line_atoms(lines: &Lines, span: &Range<usize>, depth: u8) -> Vec<Atom> {
    let base = 40u8.saturating_sub(depth.min(40));
    span.clone()
        .filter(|&line| !lines.is_blank(line))
        .map(|line| Atom {
            lines: line..line + 1,
            strength: base + lines.looks(line),
            may_repeat: true,
        })
        .collect()
}

/// Cuts `atoms` into parts. A part that does not fit is one atom of one line. Parts are in order, cover all atoms, and
/// each ends later than the one before.
pub(super) fn cut(lines: &Lines, atoms: &[Atom], overlap: Overlap) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut first = 0;
    let mut start = 0;
    while first < atoms.len() {
        // `start` may lie before `first`: the atoms between are repeated.
        let from = atoms[start].lines.start;
        let fits = |end: usize| {
            let span = from..atoms[end - 1].lines.end;
            (overlap != Overlap::Lines || span.len() <= FALLBACK_CHUNK_LINES) && lines.fit(&span)
        };
        let mut end = first;
        while end < atoms.len() && fits(end + 1) {
            end += 1;
        }
        if end == first {
            if start < first {
                start = first;
                continue;
            }
            end = first + 1;
        } else if end < atoms.len() {
            end = best_end(lines, atoms, start, first, end, overlap);
        }
        parts.push(from..atoms[end - 1].lines.end);
        first = end;
        start = match overlap {
            Overlap::None => end,
            Overlap::LastAtom => {
                let last = &atoms[end - 1];
                let repeats = last.may_repeat && last.lines.len() <= OVERLAP_STATEMENT_LINES;
                if repeats && end - 1 > start && end < atoms.len() { end - 1 } else { end }
            }
            Overlap::Lines => end - ((end - start) / OVERLAP_SHARE).min(FALLBACK_OVERLAP_LINES),
        };
        if first < atoms.len() && overlap == Overlap::Lines && atoms.len() - first < end - start {
            // The rest is shorter than what it would repeat: let it be part of this chunk if it fits.
            let all = from..atoms[atoms.len() - 1].lines.end;
            if lines.fit(&all) {
                parts.pop();
                parts.push(all);
                break;
            }
        }
    }
    parts
}

/// The best border in `first + 1..=end`, `end` being the last that fits: the strongest of those that leave the part
/// reasonably full, and among equals the one that makes the remaining parts even.
fn best_end(
    lines: &Lines,
    atoms: &[Atom],
    start: usize,
    first: usize,
    end: usize,
    overlap: Overlap,
) -> usize {
    let cost = |to: usize| lines.cost(&(atoms[start].lines.start..atoms[to - 1].lines.end));
    let total = cost(atoms.len());
    let full = cost(end);
    if 3 * full < MAX_CHUNK_TOKENS {
        return end;
    }
    let (least, target) = match overlap {
        Overlap::LastAtom | Overlap::None => {
            let n_parts = total.div_ceil(MAX_CHUNK_TOKENS - MAX_CHUNK_TOKENS / 8).max(1);
            let target = (total / n_parts).min(full);
            (target * 6 / 10, target)
        }
        Overlap::Lines => (full * 6 / 10, full),
    };
    let candidates = (first + 1..=end).filter(|&to| cost(to) >= least);
    candidates
        .max_by_key(|&to| (atoms[to].strength, usize::MAX - cost(to).abs_diff(target), to))
        .unwrap_or(end)
}
