//! The ways of searching that need nothing but the index, on one state of it.

use std::collections::HashSet;

use rusqlite::Connection;

use super::question::Question;
use crate::config::Config;
use crate::config::ranking::Weights;
use crate::error::Error;
use crate::rank::{self, Facts, Ranked};
use crate::source::Language;
use crate::store::Snapshot;
use crate::store::codec::ChunkRecord;
use crate::strategy::semantic::Statistics;
use crate::strategy::{self, Candidate, Lists, Retrieval, Vectors};
use crate::task::CancelToken;

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
            let limit = constants.candidates.max(limit);
            let at = (snapshot, connection);
            let text = &question.query.text;
            let list = strategy::literal::find(cancel, at, text, &question.filter, limit)?
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
    let weights = match way {
        Way::Embeddings => Weights { vector: 1.0, text: 0.0 },
        Way::Hybrid | Way::Words if found.has_vector => hybrid_weights(config),
        _ => Weights { vector: 0.0, text: 1.0 },
    };
    let mut result = ranked(place, question, found.list, weights, limit)?;
    result.has_vector = found.has_vector;
    Ok(result)
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
    Ok(Found { facts, records, ranked, has_vector: false })
}

/// The weights of the settings, rescaled to sum 1; both 0 are the standard ones.
fn hybrid_weights(config: &Config) -> Weights {
    let hybrid = &config.settings.hybrid_search;
    let sum = hybrid.vector_weight + hybrid.text_weight;
    if sum > 0.0 {
        Weights { vector: hybrid.vector_weight / sum, text: hybrid.text_weight / sum }
    } else {
        let vector = config.ranking.vector_weight;
        Weights { vector, text: 1.0 - vector }
    }
}

/// The beginnings of files that tell what a project is.
fn common_files(place: Place<'_>, question: &Question<'_>, limit: usize) -> Result<Found, Error> {
    let _ = (place, question, limit);
    Ok(Found::default())
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
