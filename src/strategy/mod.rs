//! From a query to candidates, on one snapshot.
//!
//! [`lexical`] scores chunks by their terms, [`semantic`] by their vectors; both give one number for every chunk of the
//! snapshot, so that a candidate of either list has its exact score in the other. [`retrieve`] takes the best of each.
//! [`literal`] answers what neither understands.
//! Nothing here depends on how the chunks lie in segments.

pub mod lexical;
pub mod literal;
pub mod semantic;
mod top;

use rusqlite::Connection;

use self::lexical::LexicalScores;
use self::semantic::SemanticScorer;
use self::top::Top;
use crate::config::ranking::{Constants, Weights};
use crate::query::Query;
use crate::query::filter::Filter;
use crate::store::{self, Snapshot};
use crate::task::CancelToken;

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
    /// By root, path and line.
    pub list: Vec<Candidate>,
    /// Whether the query had a vector.
    pub has_vector: bool,
}

/// A question, and where to look.
pub struct Retrieval<'a> {
    /// The state of the index, and the connection that reads it.
    pub index: (&'a Snapshot, &'a Connection),
    /// Of the snapshot.
    pub statistics: &'a semantic::Statistics,
    /// What is asked.
    pub query: &'a Query,
    /// Which chunks may be hits.
    pub filter: &'a Filter,
    /// Which lists count.
    pub weights: Weights,
    /// Hits wanted.
    pub limit: usize,
    /// The constants.
    pub constants: &'a Constants,
}

/// Finds the candidates. `None` if `cancel` came first.
///
/// # Errors
/// [`store::StoreError`].
pub fn retrieve(
    cancel: &CancelToken,
    retrieval: &Retrieval<'_>,
) -> store::Result<Option<Candidates>> {
    let &Retrieval { index: (snapshot, connection), statistics, query, filter, weights, .. } =
        retrieval;
    let constants = retrieval.constants;
    let allowed = allowed_files(snapshot, filter);
    let allows_file = |file: u32| allowed.as_ref().is_none_or(|allowed| allowed[file as usize]);
    let allows_kind = |kind: u8| filter.allows_kind(kind);
    let n = constants.candidates.max(retrieval.limit);

    let text = if weights.text > 0.0 && !query.terms.is_empty() {
        Some(lexical::scores(snapshot, connection, statistics, query, constants)?)
    } else {
        None
    };
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let best_text = match &text {
        Some(scores) => best_by_text(snapshot, connection, scores, n, allows_file, allows_kind)?,
        None => Vec::new(),
    };
    let scorer = if weights.vector > 0.0 {
        SemanticScorer::new(snapshot, connection, statistics, query, constants)?
    } else {
        None
    };
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let best_vector =
        scorer.as_ref().map(|s| s.best(n, allows_file, allows_kind)).unwrap_or_default();

    let peak = |list: &[(f32, u32)]| list.first().map_or(0.0, |&(score, _)| score);
    let share = |score: f32, peak: f32| {
        if peak > 0.0 { (score / peak).clamp(0.0, 1.0) } else { 0.0 }
    };
    let (text_peak, vector_peak) = (peak(&best_text), peak(&best_vector));
    let mut chunks: Vec<u32> =
        best_text.iter().chain(&best_vector).map(|&(_, chunk)| chunk).collect();
    chunks.sort_unstable();
    chunks.dedup();
    let mut list: Vec<Candidate> = chunks
        .into_iter()
        .map(|chunk| {
            let file = snapshot.file_of_chunk[chunk as usize];
            let lexical = text.as_ref().map_or(0.0, |scores| scores.total(chunk, file));
            let semantic = scorer.as_ref().map_or(0.0, |scorer| scorer.chunk(chunk));
            Candidate {
                chunk,
                file,
                lexical: share(lexical, text_peak),
                semantic: share(semantic, vector_peak),
            }
        })
        .collect();
    list.sort_unstable_by_key(|candidate| (candidate.file, candidate.chunk));
    Ok(Some(Candidates { list, has_vector: scorer.is_some() }))
}

/// The `n` chunks with the best lexical scores, best first.
fn best_by_text(
    snapshot: &Snapshot,
    connection: &Connection,
    scores: &LexicalScores,
    n: usize,
    allows_file: impl Fn(u32) -> bool,
    allows_kind: impl Fn(u8) -> bool,
) -> store::Result<Vec<(f32, u32)>> {
    let columns = snapshot.columns(connection)?;
    let mut top = Top::new(n, 0.0);
    let mut key = 0;
    for (at, file) in (0u32..).zip(&snapshot.files) {
        if !allows_file(at) {
            continue;
        }
        let range = file.first_chunk as usize..(file.first_chunk + file.n_chunks) as usize;
        let base = snapshot.segments[file.segment as usize].base;
        let kinds = &columns[file.segment as usize].kinds;
        let of_path = scores.files[at as usize];
        for (chunk, &own) in (file.first_chunk..).zip(&scores.chunks[range]) {
            let score = own + of_path;
            if !top.rejects(score) && allows_kind(kinds[(chunk - base) as usize]) {
                top.push(score, key, chunk);
            }
            key += 1;
        }
    }
    Ok(top.into_sorted().into_iter().map(|(score, _, chunk)| (score, chunk)).collect())
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
