//! From a query to candidates, on one snapshot.
//!
//! [`lexical`] scores chunks by their terms, [`semantic`] by the vectors of the embedded model, [`dense`] by those of a
//! provider; each gives one number for every chunk of the snapshot, so that a candidate of either list has its exact
//! score in the other. [`retrieve`] takes the best of the lists that count. [`literal`] answers what none understands, [`common_files`] what the whole is about.
//! Nothing here depends on how the chunks lie in segments.

pub mod common_files;
pub mod dense;
pub mod lexical;
pub mod literal;
pub mod semantic;
mod top;

use std::collections::HashSet;

use rusqlite::Connection;

use self::dense::{DenseIndex, DenseScorer};
use self::lexical::LexicalScores;
use self::semantic::SemanticScorer;
use self::top::Top;
use crate::config::ranking::Constants;
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

/// Which vectors count.
#[derive(Clone, Copy)]
pub enum Vectors<'a> {
    /// None.
    None,
    /// Those of the embedded model.
    Embedded,
    /// Those of a provider, compared with this query.
    Provided(&'a DenseIndex, &'a [f32]),
}

/// Where candidates come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lists {
    /// The best by vectors and the best by words.
    Both,
    /// The best by vectors.
    Vectors,
    /// The `n` best by words whose score is at least `least_share` of the best; vectors only rank them again.
    Words {
        /// So many.
        n: usize,
        /// 0 to 1.
        least_share: f32,
    },
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
    /// Positions of the only files that may have hits; `None` for any.
    pub only: Option<&'a HashSet<u32>>,
    /// Where candidates come from.
    pub lists: Lists,
    /// Which vectors count.
    pub vectors: Vectors<'a>,
    /// Hits wanted.
    pub limit: usize,
    /// The constants.
    pub constants: &'a Constants,
}

/// Vectors of either kind.
enum Scorer<'s> {
    Embedded(Box<SemanticScorer<'s>>),
    Provided(DenseScorer<'s>),
}

impl Scorer<'_> {
    fn chunk(&self, chunk: u32) -> f32 {
        match self {
            Self::Embedded(scorer) => scorer.chunk(chunk),
            Self::Provided(scorer) => scorer.chunk(chunk),
        }
    }

    fn best(
        &self,
        n: usize,
        allows_file: impl Fn(u32) -> bool,
        allows_kind: impl Fn(u8) -> bool,
    ) -> Vec<(f32, u32)> {
        match self {
            Self::Embedded(scorer) => scorer.best(n, allows_file, allows_kind),
            Self::Provided(scorer) => scorer.best(n, allows_file, allows_kind),
        }
    }
}

/// Finds the candidates. `None` if `cancel` came first.
///
/// # Errors
/// [`store::StoreError`].
pub fn retrieve(
    cancel: &CancelToken,
    retrieval: &Retrieval<'_>,
) -> store::Result<Option<Candidates>> {
    let &Retrieval { index: (snapshot, connection), statistics, query, filter, .. } = retrieval;
    let constants = retrieval.constants;
    let allowed = allowed_files(snapshot, filter);
    let allows_file = |file: u32| {
        allowed.as_ref().is_none_or(|allowed| allowed[file as usize])
            && retrieval.only.is_none_or(|only| only.contains(&file))
    };
    let allows_kind = |kind: u8| filter.allows_kind(kind);
    let standard = constants.candidates.max(retrieval.limit);
    let (n, least_share) = match retrieval.lists {
        Lists::Words { n, least_share } => (n.max(retrieval.limit), least_share),
        Lists::Both | Lists::Vectors => (standard, 0.0),
    };

    let text = if retrieval.lists != Lists::Vectors && !query.terms.is_empty() {
        Some(lexical::scores(snapshot, connection, statistics, query, constants)?)
    } else {
        None
    };
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let mut best_text = match &text {
        Some(scores) => best_by_text(snapshot, connection, scores, n, allows_file, allows_kind)?,
        None => Vec::new(),
    };
    let least = best_text.first().map_or(0.0, |&(score, _)| score * least_share);
    best_text.retain(|&(score, _)| score >= least);
    let scorer = match retrieval.vectors {
        Vectors::None => None,
        Vectors::Embedded => {
            SemanticScorer::new(snapshot, connection, statistics, query, constants)?
                .map(|scorer| Scorer::Embedded(Box::new(scorer)))
        }
        Vectors::Provided(index, query) => {
            DenseScorer::new(snapshot, snapshot.columns(connection)?, index, query)
                .map(Scorer::Provided)
        }
    };
    if cancel.is_cancelled() {
        return Ok(None);
    }
    let best_vector = match (&scorer, retrieval.lists) {
        (None, _) => Vec::new(),
        (Some(scorer), Lists::Words { .. }) => {
            let scores = best_text.iter().map(|&(_, chunk)| (scorer.chunk(chunk), chunk));
            let best = scores.max_by(|a, b| a.0.total_cmp(&b.0));
            best.filter(|(score, _)| *score > 0.0).into_iter().collect()
        }
        (Some(scorer), _) => scorer.best(n, allows_file, allows_kind),
    };

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
            .map(|file| {
                filter.allows_file(
                    snapshot.root_path(file.root),
                    &file.meta.path,
                    file.meta.language,
                )
            })
            .collect()
    })
}
