//! From a query to candidates, on one snapshot.
//!
//! [`lexical`] scores chunks by their terms, [`semantic`] by their vectors; both give one number for every chunk of the
//! snapshot, so that a candidate of either list has its exact score in the other. [`retrieve`] takes the best of each.
//! Nothing here depends on how the chunks lie in segments.

pub mod lexical;
pub mod semantic;
mod top;

use rusqlite::Connection;

use crate::query::Query;
use crate::query::filter::Filter;
use crate::rank::constants::Constants;
use crate::store::{self, Snapshot};
use crate::task::CancelToken;

/// Which lists count, and how much; both weights together are 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Of the semantic list.
    pub vector: f32,
    /// Of the lexical list.
    pub text: f32,
}

/// A chunk that may be a hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Number of the chunk in the snapshot.
    pub chunk: u32,
    /// Position of its file in the snapshot.
    pub file: u32,
    /// Lexical score, 0 to 1: a share of the best one.
    pub lexical: f32,
    /// Semantic score, 0 to 1: a share of the best one.
    pub semantic: f32,
}

/// What the retrieval found.
pub struct Candidates {
    /// In no particular order.
    pub list: Vec<Candidate>,
    /// Whether the query had a vector.
    pub has_vector: bool,
}

/// Finds the candidates. `None` if `cancel` came first.
///
/// # Errors
/// [`store::StoreError`].
pub fn retrieve(
    cancel: &CancelToken,
    (snapshot, connection): (&Snapshot, &Connection),
    statistics: &semantic::Statistics,
    query: &Query,
    filter: &Filter,
    weights: Weights,
    constants: &Constants,
) -> store::Result<Option<Candidates>> {
    let allowed = allowed_files(snapshot, filter);
    let columns = snapshot.columns(connection)?;
    let is_allowed = |chunk: u32| {
        let file = snapshot.file_of_chunk[chunk as usize];
        file != Snapshot::DEAD && allowed.as_ref().is_none_or(|allowed| allowed[file as usize])
    };
    let kind_of = |chunk: u32| {
        let segment = snapshot.segment_of(chunk);
        columns[segment].kinds[(chunk - snapshot.segments[segment].base) as usize]
    };
    let passes =
        |chunk: u32| is_allowed(chunk) && (filter.is_open() || filter.allows_kind(kind_of(chunk)));

    let text_scores = if weights.text > 0.0 && !query.terms.is_empty() {
        lexical::scores(snapshot, connection, statistics, query, constants)?
    } else {
        Vec::new()
    };
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let vector_scores = if weights.vector > 0.0 {
        semantic::scores(snapshot, connection, statistics, query, constants)?
    } else {
        None
    };
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let has_vector = vector_scores.is_some();
    let vector_scores = vector_scores.unwrap_or_default();

    let n = constants.candidates;
    let best_text = top::best(&text_scores, n, passes);
    let best_vector = top::best(&vector_scores, n, passes);
    let peak = |list: &[(u32, f32)]| list.first().map_or(0.0, |&(_, score)| score);
    let (text_peak, vector_peak) = (peak(&best_text), peak(&best_vector));
    let share = |scores: &[f32], chunk: u32, peak: f32| {
        let score = scores.get(chunk as usize).copied().unwrap_or(0.0);
        if peak > 0.0 { (score / peak).clamp(0.0, 1.0) } else { 0.0 }
    };
    let mut chunks: Vec<u32> =
        best_text.iter().chain(&best_vector).map(|&(chunk, _)| chunk).collect();
    chunks.sort_unstable();
    chunks.dedup();
    let list = chunks
        .into_iter()
        .map(|chunk| Candidate {
            chunk,
            file: snapshot.file_of_chunk[chunk as usize],
            lexical: share(&text_scores, chunk, text_peak),
            semantic: share(&vector_scores, chunk, vector_peak),
        })
        .collect();
    Ok(Some(Candidates { list, has_vector }))
}

/// For each file whether its chunks may be hits; `None` if all may.
fn allowed_files(snapshot: &Snapshot, filter: &Filter) -> Option<Vec<bool>> {
    (!filter.is_open()).then(|| {
        snapshot
            .files
            .iter()
            .map(|file| filter.allows_file(&file.meta.path, file.meta.language))
            .collect()
    })
}
