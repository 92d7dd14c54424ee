//! From scores to the list that is shown.

use super::constants::Constants;
use super::rules::Scored;
use super::{Facts, Ranked};

/// Takes the best candidate again and again; each hit of a file makes its other chunks count less. A candidate whose
/// lines overlap a hit of the same file is merged into it instead of standing again.
pub fn select(
    candidates: &[Facts],
    scored: Vec<Scored>,
    limit: usize,
    constants: &Constants,
) -> Vec<Ranked> {
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    let key =
        |at: usize| (candidates[at].file, candidates[at].lines.start, candidates[at].lines.end);
    order.sort_unstable_by(|&a, &b| {
        scored[b].score.total_cmp(&scored[a].score).then_with(|| key(a).cmp(&key(b)))
    });
    let mut hits: Vec<Ranked> = Vec::with_capacity(limit.min(candidates.len()));
    let mut waiting: Vec<(usize, f32)> =
        order.into_iter().map(|at| (at, scored[at].score)).collect();
    while hits.len() < limit && !waiting.is_empty() {
        // Scores only fall, and the list was sorted: the first is the best once its own repeats are counted.
        let (at, mut score) = waiting.remove(0);
        let facts = &candidates[at];
        let mut n_before = 0;
        let mut overlapped = None;
        for (hit_at, hit) in hits.iter().enumerate() {
            let hit_facts = &candidates[hit.candidate];
            if hit_facts.file == facts.file {
                n_before += 1;
                if hit_facts.lines.overlaps(facts.lines) {
                    overlapped = Some(hit_at);
                }
            }
        }
        if let Some(hit_at) = overlapped {
            hits[hit_at].merged.push(at);
            continue;
        }
        let decayed = scored[at].score * constants.repeat_factor.powi(n_before);
        if decayed < score {
            score = decayed;
            let place = waiting.partition_point(|&(other, other_score)| {
                other_score.total_cmp(&score).then_with(|| key(at).cmp(&key(other))).is_ge()
            });
            if place > 0 {
                waiting.insert(place, (at, score));
                continue;
            }
        }
        let mut parts = scored[at].parts.clone();
        if n_before > 0 {
            parts.push(("repeated file", f64::from(constants.repeat_factor.powi(n_before))));
        }
        hits.push(Ranked { candidate: at, merged: Vec::new(), score, parts });
    }
    hits
}
