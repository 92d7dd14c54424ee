//! The ways of searching that need nothing but the index, on one state of it.

use std::collections::HashSet;
use std::time::SystemTime;

use rusqlite::Connection;

use super::question::Question;
use crate::config::Config;
use crate::config::ranking::Weights;
use crate::error::Error;
use crate::notice::Notice;
use crate::rank::decay::decay;
use crate::rank::diversity::diversify;
use crate::rank::spread::at_least;
use crate::rank::weights::resolve_weights;
use crate::rank::{self, Facts, Ranked};
use crate::source::Language;
use crate::store::Snapshot;
use crate::store::codec::ChunkRecord;
use crate::strategy::semantic::Statistics;
use crate::strategy::{self, Candidate, Lists, Retrieval, Vectors};
use crate::task::CancelToken;

/// Hits that decay and diversity choose from, as a multiple of those wanted. Source: the candidates of OpenClaw's options of
/// the same names; unmeasured.
const POOL: usize = 4;
/// Common files that stand in for hits. Source: CodeBuddy names six kinds.
const MOST_COMMON_FILES: usize = 6;

/// A way of searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Vectors and words as one.
    Hybrid,
    /// Vectors.
    Embeddings,
    /// Words; vectors rank what they find.
    Words,
    /// The characters as they stand.
    Text,
    /// README, manifests, entry points.
    CommonFiles,
}

impl Way {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Embeddings => "embeddings",
            Self::Words => "tfidf",
            Self::Text => "text",
            Self::CommonFiles => "common-files",
        }
    }
}

/// One state of the index.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The state.
    pub snapshot: &'a Snapshot,
    /// What reads it.
    pub connection: &'a Connection,
    /// Of the state.
    pub statistics: &'a Statistics,
    /// Settings.
    pub config: &'a Config,
    /// Positions of the only files that may have hits; `None` for any.
    pub only: Option<&'a HashSet<u32>>,
}

/// What a way has found.
#[derive(Default)]
pub struct Found {
    /// What is known of each candidate.
    pub facts: Vec<Facts>,
    /// The same candidates as stored.
    pub records: Vec<ChunkRecord>,
    /// Hits, best first.
    pub ranked: Vec<Ranked>,
    /// Whether vectors took part.
    pub has_vector: bool,
    /// What a person should know of the settings.
    pub notice: Option<Notice>,
}

/// Searches in this way.
///
/// # Errors
/// [`Error::Store`], [`Error::Cancelled`].
pub fn find(
    cancel: &CancelToken,
    place: Place<'_>,
    question: &Question<'_>,
    way: Way,
    vectors: Vectors<'_>,
) -> Result<Found, Error> {
    let Place { snapshot, connection, statistics, config, only } = place;
    let limit = question.limit(config, way == Way::Hybrid);
    let constants = &config.ranking;
    let cascade = &config.settings.cascade;
    let (lists, vectors) = match way {
        Way::Hybrid => (Lists::Both, vectors),
        Way::Embeddings => (Lists::Vectors, vectors),
        Way::Words => {
            let reranked = cascade.tfidf_reranked;
            let n = if reranked == 0 { constants.candidates } else { reranked };
            let lists = Lists::Words { n, least_share: 1.0 - cascade.tfidf_spread };
            (lists, if reranked == 0 { Vectors::None } else { vectors })
        }
        Way::Text => {
            let pool = constants.candidates.max(limit);
            let at = (snapshot, connection);
            let text = &question.query.text;
            let list = strategy::literal::find(cancel, at, text, &question.filter, pool)?
                .ok_or(Error::Cancelled)?;
            let weights = Weights { vector: 0.0, text: 1.0 };
            return ranked(place, question, list, weights, limit);
        }
        Way::CommonFiles => return common_files(place, question, limit),
    };
    let retrieval = Retrieval {
        index: (snapshot, connection),
        statistics,
        query: &question.query,
        filter: &question.filter,
        only,
        lists,
        vectors,
        limit,
        constants,
    };
    let found = strategy::retrieve(cancel, &retrieval)?.ok_or(Error::Cancelled)?;
    let hybrid = &config.settings.hybrid_search;
    let (weights, notice) = match way {
        Way::Embeddings => (Weights { vector: 1.0, text: 0.0 }, None),
        Way::Hybrid | Way::Words if found.has_vector => {
            resolve_weights(hybrid.vector_weight, hybrid.text_weight)
        }
        _ => (Weights { vector: 0.0, text: 1.0 }, None),
    };
    let is_refined = way == Way::Hybrid && (hybrid.mmr_enabled || hybrid.temporal_decay_enabled);
    let wanted = if is_refined { limit.saturating_mul(POOL) } else { limit };
    let mut result = ranked(place, question, found.list, weights, wanted)?;
    result.has_vector = found.has_vector;
    result.notice = notice;
    if is_refined {
        refine(place, &mut result, limit)?;
    }
    if cascade.min_score_share > 0.0 {
        let scores: Vec<f32> = result.ranked.iter().map(|hit| hit.score).collect();
        let kept = at_least(&scores, cascade.min_score_share);
        result.ranked = kept.into_iter().map(|at| result.ranked[at].clone()).collect();
    }
    Ok(result)
}

/// Lets scores decay with the age of their files, and prefers hits that differ, as the settings say; the best `limit` stay.
fn refine(place: Place<'_>, found: &mut Found, limit: usize) -> Result<(), Error> {
    let hybrid = &place.config.settings.hybrid_search;
    let file_of = |found: &Found, hit: &Ranked| {
        &place.snapshot.files[found.facts[hit.candidate].file as usize]
    };
    if hybrid.temporal_decay_enabled {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now_ns = i64::try_from(now.as_nanos()).unwrap_or(i64::MAX);
        let hits: Vec<(f32, i64)> =
            found.ranked.iter().map(|hit| (hit.score, file_of(found, hit).meta.mtime_ns)).collect();
        let decayed = decay(&hits, now_ns, f64::from(hybrid.half_life_days));
        for (hit, score) in found.ranked.iter_mut().zip(decayed) {
            if hit.score > 0.0 {
                hit.parts.push(("age", f64::from(score / hit.score)));
            }
            hit.score = score;
        }
        // Stable: what is equally good stays in its order.
        found.ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    }
    if hybrid.mmr_enabled {
        let texts = found
            .ranked
            .iter()
            .map(|hit| {
                let bytes = found.records[hit.candidate].bytes;
                place.snapshot.text(place.connection, file_of(found, hit), bytes)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let hits: Vec<(f32, &str)> =
            found.ranked.iter().zip(&texts).map(|(hit, text)| (hit.score, text.as_str())).collect();
        let taken = diversify(&hits, hybrid.mmr_lambda, limit);
        found.ranked = taken
            .into_iter()
            .map(|taken| {
                let mut hit = found.ranked[taken.at].clone();
                hit.parts.push(("likeness", taken.likeness));
                hit
            })
            .collect();
    }
    found.ranked.truncate(limit);
    Ok(())
}

fn ranked(
    place: Place<'_>,
    question: &Question<'_>,
    list: Vec<Candidate>,
    weights: Weights,
    limit: usize,
) -> Result<Found, Error> {
    let (facts, records) = facts(place.snapshot, place.connection, &list)?;
    let ranked = rank::rank(&question.query, &facts, weights, limit, &place.config.ranking);
    Ok(Found { facts, records, ranked, ..Found::default() })
}

/// The beginnings of files that tell what a project is.
fn common_files(place: Place<'_>, question: &Question<'_>, limit: usize) -> Result<Found, Error> {
    let snapshot = place.snapshot;
    let with_text: Vec<u32> = (0u32..)
        .zip(&snapshot.files)
        .filter(|(_, file)| file.n_chunks > 0)
        .filter(|(_, file)| {
            question.filter.allows_file(
                snapshot.root_path(file.root),
                &file.meta.path,
                file.meta.language,
            )
        })
        .map(|(at, _)| at)
        .collect();
    let paths: Vec<&str> =
        with_text.iter().map(|&at| snapshot.files[at as usize].meta.path.as_str()).collect();
    let best = strategy::common_files::common_files(&paths, limit.min(MOST_COMMON_FILES));
    let mut list: Vec<Candidate> = best
        .iter()
        .map(|&at| {
            let file = with_text[at];
            let chunk = snapshot.files[file as usize].first_chunk;
            Candidate { chunk, file, lexical: 1.0, semantic: 0.0 }
        })
        .collect();
    let order: Vec<u32> = list.iter().map(|candidate| candidate.chunk).collect();
    list.sort_unstable_by_key(|candidate| (candidate.file, candidate.chunk));
    let (facts, records) = facts(snapshot, place.connection, &list)?;
    let ranked = order
        .iter()
        .enumerate()
        .filter_map(|(place, chunk)| {
            let candidate = list.iter().position(|candidate| candidate.chunk == *chunk)?;
            let score = 1.0 / (place + 1) as f32;
            Some(Ranked { candidate, merged: Vec::new(), score, parts: Vec::new() })
        })
        .collect();
    Ok(Found { facts, records, ranked, ..Found::default() })
}

/// What the rules need to know of each candidate, and its record. Candidates are ordered by chunk.
fn facts(
    snapshot: &Snapshot,
    connection: &Connection,
    candidates: &[Candidate],
) -> Result<(Vec<Facts>, Vec<ChunkRecord>), Error> {
    let mut facts = Vec::with_capacity(candidates.len());
    let mut records = Vec::with_capacity(candidates.len());
    let mut numbers = Vec::new();
    for of_file in candidates.chunk_by(|a, b| a.file == b.file) {
        let file = &snapshot.files[of_file[0].file as usize];
        let language = Language::from_name(file.meta.language).unwrap_or(Language::PLAIN);
        numbers.clear();
        numbers.extend(of_file.iter().map(|candidate| candidate.chunk - file.first_chunk));
        let of_file_records = snapshot.records_at(connection, file, &numbers)?;
        for (candidate, record) in of_file.iter().zip(of_file_records) {
            facts.push(Facts {
                file: candidate.file,
                path: file.meta.path.clone(),
                language,
                is_generated: file.meta.is_generated,
                kind: record.kind,
                symbols: record.symbols.clone(),
                bytes: record.bytes,
                lines: record.lines,
                lexical: candidate.lexical,
                semantic: candidate.semantic,
            });
            records.push(record);
        }
    }
    Ok((facts, records))
}
