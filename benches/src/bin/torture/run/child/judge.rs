//! Whether an answer can be right.

use sextant::engine::Hit;

use crate::run::ledger::Entry;

/// The kind of a mistake, and words.
pub type Verdict = Result<(), (&'static str, String)>;

/// Lines, paths, texts and scores that make sense.
pub fn hits(hits: &[Hit]) -> Result<(), String> {
    for hit in hits {
        let n_lines = hit.text.lines().count() as u64;
        let range = u64::from(hit.end_line) + 1 - u64::from(hit.start_line.min(hit.end_line + 1));
        let is_right = hit.start_line >= 1
            && (1..=range).contains(&n_lines)
            && !hit.path.is_empty()
            && !hit.path.starts_with('/')
            && hit.score.is_finite();
        if !is_right {
            return Err(format!("a hit makes no sense: {hit:?}"));
        }
    }
    if hits.is_sorted_by(|a, b| a.score >= b.score) {
        return Ok(());
    }
    let scores: Vec<(&str, f64)> = hits.iter().map(|hit| (hit.path.as_str(), hit.score)).collect();
    Err(format!("hits are not ordered by score: {scores:?}"))
}

/// What a call that brought the index up to date must show of a sentinel: `before` was recorded before the call began,
/// `after` when it was over.
pub fn fresh(found: &[u64], before: &Entry, after: &Entry) -> Verdict {
    if let Some(&old) = found.iter().min().filter(|&&oldest| oldest < before.written) {
        return Err((
            "stale",
            format!("version {old} was answered, {} was there before the call", before.written),
        ));
    }
    match found.len() {
        1 => Ok(()),
        _ if !is_still(before, after) => Ok(()),
        0 => Err(("missing", format!("version {} was there all the time", before.written))),
        n => Err(("double", format!("it was answered {n} times: {found:?}"))),
    }
}

/// Whether a sentinel lay still: while it is changed or moved, a walk may miss it or meet it twice.
pub fn is_still(before: &Entry, after: &Entry) -> bool {
    before.announced == before.written && after.announced == before.written
}
