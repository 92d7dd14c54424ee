//! BM25 with fields: path, symbol names, signature and doc comment, body.
//!
//! BM25F (Robertson, Zaragoza & Taylor, CIKM 2004): a term's frequency is the weighted sum over the fields, saturated
//! once. A document is a chunk; the path of its file is one of its fields. Frequencies, lengths and document
//! frequencies count live chunks only, so removed and merged chunks leave no trace.

use rusqlite::Connection;

use super::semantic::Statistics;
use crate::query::Query;
use crate::rank::constants::Constants;
use crate::store::codec::Postings;
use crate::store::dictionary::PATH_PREFIX;
use crate::store::{self, Snapshot};

/// A score for each chunk of the snapshot; 0 for chunks without a term of the query, and for dead ones.
///
/// # Errors
/// [`store::StoreError`].
pub fn scores(
    snapshot: &Snapshot,
    connection: &Connection,
    statistics: &Statistics,
    query: &Query,
    constants: &Constants,
) -> store::Result<Vec<f32>> {
    let n_chunks = snapshot.n_chunks() as usize;
    let mut scores = vec![0f32; n_chunks];
    let mut frequencies = vec![0f32; n_chunks];
    let mut touched = Vec::new();
    let n_live = statistics.n_live as f32;
    for term in &query.terms {
        collect(snapshot, connection, &term.term, constants, &mut frequencies, &mut touched)?;
        let n_documents = touched.len() as f32;
        let idf = (1.0 + (n_live - n_documents + 0.5) / (n_documents + 0.5)).ln();
        let weight = idf
            * term.weight
            * (constants.k1 + 1.0)
            * if term.is_compound { constants.compound_weight } else { 1.0 };
        for chunk in touched.drain(..) {
            let at = chunk as usize;
            let frequency = std::mem::take(&mut frequencies[at]);
            scores[at] += weight * frequency / (frequency + statistics.length_norms[at]);
        }
    }
    Ok(scores)
}

/// Adds the weighted frequency of `term` in each live chunk to `frequencies`, which is all zero, and lists the chunks.
fn collect(
    snapshot: &Snapshot,
    connection: &Connection,
    term: &str,
    constants: &Constants,
    frequencies: &mut [f32],
    touched: &mut Vec<u32>,
) -> store::Result<()> {
    let mut path_term = vec![PATH_PREFIX];
    path_term.extend_from_slice(term.as_bytes());
    let mut add = |chunk: u32, frequency: f32| {
        let total = &mut frequencies[chunk as usize];
        if *total == 0.0 {
            touched.push(chunk);
        }
        *total += frequency;
    };
    for (at, segment) in snapshot.segments.iter().enumerate() {
        let base = segment.base;
        let owners = &snapshot.file_of_chunk[base as usize..][..segment.n_chunks as usize];
        snapshot.with_postings(connection, segment, term.as_bytes(), &mut |_, bytes| {
            for posting in Postings::new(bytes) {
                let Some(&owner) = owners.get(posting.document as usize) else { break };
                if owner == Snapshot::DEAD {
                    continue;
                }
                let mut frequency = f32::from(posting.frequency);
                if posting.in_symbol {
                    frequency += constants.symbol_field;
                }
                if posting.in_head {
                    frequency += constants.head_field;
                }
                add(base + posting.document, frequency);
            }
        })?;
        if constants.path_field <= 0.0 {
            continue;
        }
        let files = &snapshot.file_of_ordinal[at];
        snapshot.with_postings(connection, segment, &path_term, &mut |_, bytes| {
            for posting in Postings::new(bytes) {
                let Some(&file) = files.get(posting.document as usize) else { break };
                if file == Snapshot::DEAD {
                    continue;
                }
                let file = &snapshot.files[file as usize];
                for chunk in file.first_chunk..file.first_chunk + file.n_chunks {
                    add(chunk, constants.path_field);
                }
            }
        })?;
    }
    Ok(())
}
