//! BM25 with fields: symbol names, signature and doc comment, body, and the path of the file.
//!
//! BM25F (Robertson, Zaragoza & Taylor, CIKM 2004) over a chunk's own fields: a term's frequency is their weighted sum,
//! saturated once. The path belongs to the file, not to the chunk: its terms are scored over files, and a chunk gets
//! what its file has. Frequencies, lengths and document frequencies count live chunks and files only, so removed and
//! merged ones leave no trace.

use rusqlite::Connection;

use super::semantic::Statistics;
use crate::config::ranking::Constants;
use crate::query::Query;
use crate::store::codec::Postings;
use crate::store::dictionary::PATH_PREFIX;
use crate::store::{self, Snapshot};

/// The lexical scores of one query.
pub struct LexicalScores {
    /// Per chunk of the snapshot; 0 without a term of the query.
    pub chunks: Vec<f32>,
    /// Per file of the snapshot, for its path.
    pub files: Vec<f32>,
}

impl LexicalScores {
    /// The score of a chunk with that of its file's path.
    #[must_use]
    pub fn total(&self, chunk: u32, file: u32) -> f32 {
        self.chunks[chunk as usize] + self.files[file as usize]
    }
}

/// Scores all live chunks and files.
///
/// # Errors
/// [`store::StoreError`].
pub fn scores(
    snapshot: &Snapshot,
    connection: &Connection,
    statistics: &Statistics,
    query: &Query,
    constants: &Constants,
) -> store::Result<LexicalScores> {
    let mut scores = LexicalScores {
        chunks: vec![0f32; snapshot.n_chunks() as usize],
        files: vec![0f32; snapshot.files.len()],
    };
    for term in &query.terms {
        let weight = term.weight * if term.is_compound { constants.compound_weight } else { 1.0 };
        add_body(
            snapshot,
            connection,
            statistics,
            term.term.as_bytes(),
            weight,
            constants,
            &mut scores,
        )?;
        if constants.path_field > 0.0 {
            let mut path_term = vec![PATH_PREFIX];
            path_term.extend_from_slice(term.term.as_bytes());
            add_path(snapshot, connection, &path_term, weight * constants.path_field, &mut scores)?;
        }
    }
    Ok(scores)
}

fn idf(n: u64, n_documents: u64) -> f32 {
    let (n, n_documents) = (n as f32, n_documents as f32);
    (1.0 + (n - n_documents + 0.5).max(0.0) / (n_documents + 0.5)).ln()
}

fn add_body(
    snapshot: &Snapshot,
    connection: &Connection,
    statistics: &Statistics,
    term: &[u8],
    weight: f32,
    constants: &Constants,
    scores: &mut LexicalScores,
) -> store::Result<()> {
    let mut n_documents = 0u64;
    for segment in &snapshot.segments {
        let owners = &snapshot.file_of_chunk[segment.base as usize..];
        snapshot.with_postings(connection, segment, term, &mut |stored, bytes| {
            n_documents += if segment.has_dead {
                let is_live = |document: u32| {
                    owners.get(document as usize).is_some_and(|&owner| owner != Snapshot::DEAD)
                };
                Postings::new(bytes).filter(|posting| is_live(posting.document)).count() as u64
            } else {
                u64::from(stored)
            };
        })?;
    }
    if n_documents == 0 {
        return Ok(());
    }
    let weight = weight * idf(statistics.n_chunks, n_documents) * (constants.k1 + 1.0);
    let columns = snapshot.columns(connection)?;
    for (segment, columns) in snapshot.segments.iter().zip(columns) {
        let scores = &mut scores.chunks[segment.base as usize..][..segment.n_chunks as usize];
        snapshot.with_postings(connection, segment, term, &mut |_, bytes| {
            for posting in Postings::new(bytes) {
                let at = posting.document as usize;
                let (Some(score), Some(&length)) = (scores.get_mut(at), columns.lengths.get(at))
                else {
                    break;
                };
                let mut frequency = f32::from(posting.frequency);
                if posting.in_symbol {
                    frequency += constants.symbol_field;
                }
                if posting.in_head {
                    frequency += constants.head_field;
                }
                let norm = statistics.length_norms[length as usize];
                *score += weight * frequency / (frequency + norm);
            }
        })?;
    }
    Ok(())
}

fn add_path(
    snapshot: &Snapshot,
    connection: &Connection,
    term: &[u8],
    weight: f32,
    scores: &mut LexicalScores,
) -> store::Result<()> {
    let mut matched: Vec<u32> = Vec::new();
    for (segment, files) in snapshot.segments.iter().zip(&snapshot.file_of_ordinal) {
        snapshot.with_postings(connection, segment, term, &mut |_, bytes| {
            let numbers = Postings::new(bytes).map_while(|p| files.get(p.document as usize));
            matched.extend(numbers.filter(|&&file| file != Snapshot::DEAD));
        })?;
    }
    let weight = weight * idf(snapshot.files.len() as u64, matched.len() as u64);
    for file in matched {
        scores.files[file as usize] += weight;
    }
    Ok(())
}
