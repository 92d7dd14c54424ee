//! From scores to the list that is shown.

use super::rules::Scored;
use super::{Facts, Ranked};
use crate::config::ranking::Constants;
use crate::span::ByteRange;

/// A hit takes in overlapping chunks up to so many bytes: some three chunks. What goes beyond is shown in part already.
const MAX_MERGED_BYTES: usize = 4000;

/// Takes the best candidate again and again; each hit of a file makes its other chunks count less. A candidate that
/// overlaps a hit of the same file is merged into it instead of standing again.
pub fn select(
    candidates: &[Facts],
    scored: &[Scored],
    limit: usize,
    constants: &Constants,
) -> Vec<Ranked> {
    let key =
        |at: usize| (candidates[at].file, candidates[at].bytes.start, candidates[at].bytes.end);
    // Best last, so that the next is popped.
    let before = |a: (usize, f32), b: (usize, f32)| {
        a.1.total_cmp(&b.1).then_with(|| key(b.0).cmp(&key(a.0)))
    };
    let mut waiting: Vec<(usize, f32)> =
        scored.iter().enumerate().map(|(at, scored)| (at, scored.score)).collect();
    waiting.sort_unstable_by(|&a, &b| before(a, b));
    let mut hits: Vec<Ranked> = Vec::with_capacity(limit.min(candidates.len()));
    let mut shown: Vec<ByteRange> = Vec::with_capacity(hits.capacity());
    while hits.len() < limit
        && let Some((at, score)) = waiting.pop()
    {
        let facts = &candidates[at];
        let same_file: Vec<usize> = (0..hits.len())
            .filter(|&hit| candidates[hits[hit].candidate].file == facts.file)
            .collect();
        if let Some(&hit) = same_file.iter().find(|&&hit| overlap(shown[hit], facts.bytes)) {
            let union = ByteRange {
                start: shown[hit].start.min(facts.bytes.start),
                end: shown[hit].end.max(facts.bytes.end),
            };
            let bridges =
                same_file.iter().any(|&other| other != hit && overlap(shown[other], union));
            if union.len() <= MAX_MERGED_BYTES && !bridges {
                shown[hit] = union;
                hits[hit].merged.push(at);
            }
            continue;
        }
        let factor = constants.repeat_factor.powi(same_file.len() as i32);
        let decayed = scored[at].score * factor;
        if decayed < score {
            let place = waiting.partition_point(|&other| before(other, (at, decayed)).is_lt());
            if place < waiting.len() {
                waiting.insert(place, (at, decayed));
                continue;
            }
        }
        let mut parts = scored[at].parts.clone();
        if factor < 1.0 {
            parts.push(("repeated file", f64::from(factor)));
        }
        shown.push(facts.bytes);
        hits.push(Ranked { candidate: at, merged: Vec::new(), score: decayed, parts });
    }
    hits
}

fn overlap(a: ByteRange, b: ByteRange) -> bool {
    a.start < b.end && b.start < a.end
}
