//! Exact vector search: the cosine of the query with every chunk, centred on the workspace's mean.
//!
//! Vectors of one workspace share a direction that says nothing about any of them; the mean `m` of all live chunks is
//! taken off both sides. Of a chunk only its product with the query and its centred length are needed:
//! `cos(q - m, d - m) = ((q - m)·d - (q - m)·m) / (|q - m| |d - m|)`. The score mixes the chunk with the mean of its
//! file, which steadies it. All sums over chunks are exact in any order, so the result does not depend on segments.

use rusqlite::Connection;

use crate::embed::DIM;
use crate::embed::model::static_model;
use crate::embed::quantize::PackedQuery;
use crate::query::Query;
use crate::rank::constants::Constants;
use crate::store::{self, Snapshot, mean_vector};

/// What is computed once per snapshot.
pub struct Statistics {
    /// Live chunks.
    pub n_live: u64,
    /// Per chunk, the part of BM25's denominator that is its length's: `k1 * (1 - b + b * length / mean length)`.
    pub length_norms: Vec<f32>,
    mean: [f32; DIM],
    /// Per chunk, 1 over its centred length; 0 without a vector.
    chunk_factors: Vec<f32>,
    /// Per file, 1 over the centred length of its mean; 0 without vectors.
    file_factors: Vec<f32>,
}

impl Statistics {
    /// Reads the columns and computes.
    ///
    /// # Errors
    /// [`store::StoreError`].
    pub fn new(
        snapshot: &Snapshot,
        connection: &Connection,
        constants: &Constants,
    ) -> store::Result<Self> {
        let (sum, n_live) = snapshot.vector_sum(connection)?;
        let mean = mean_vector(&sum, n_live);
        let mean_norm2: f32 = mean.iter().map(|x| x * x).sum();
        let columns = snapshot.columns(connection)?;
        let packed_mean = PackedQuery::new(&mean);
        let mut mean_dots = Vec::with_capacity(snapshot.n_chunks() as usize);
        for columns in columns {
            packed_mean.dots(&columns.vectors, &mut mean_dots);
        }
        let factor = |norm2: f32| if norm2 > 1e-6 { 1.0 / norm2.sqrt() } else { 0.0 };
        let mut file_factors = Vec::with_capacity(snapshot.files.len());
        for file in &snapshot.files {
            let n = file.n_chunks.max(1) as f32;
            let range = file.first_chunk as usize..(file.first_chunk + file.n_chunks) as usize;
            let mean_dot = mean_dots[range].iter().sum::<f32>() / n;
            let is_known = file.vector_norm2 > 0.0;
            let norm2 = file.vector_norm2 / (n * n) - 2.0 * mean_dot + mean_norm2;
            file_factors.push(if is_known { factor(norm2) } else { 0.0 });
        }
        let chunk_factors = columns
            .iter()
            .flat_map(|columns| {
                columns.vectors.as_chunks::<{ crate::embed::quantize::PACKED_BYTES }>().0
            })
            .zip(&mean_dots)
            .map(|(packed, dot)| {
                let has_vector = packed[..4] != [0; 4];
                if has_vector { factor(1.0 - 2.0 * dot + mean_norm2) } else { 0.0 }
            })
            .collect();
        Ok(Self {
            n_live,
            length_norms: length_norms(snapshot, columns, constants, n_live),
            mean,
            chunk_factors,
            file_factors,
        })
    }
}

fn length_norms(
    snapshot: &Snapshot,
    columns: &[std::sync::Arc<store::Columns>],
    constants: &Constants,
    n_live: u64,
) -> Vec<f32> {
    let lengths = || columns.iter().flat_map(|columns| &columns.lengths);
    let total: u64 = lengths()
        .zip(&snapshot.file_of_chunk)
        .filter(|&(_, &file)| file != Snapshot::DEAD)
        .map(|(&length, _)| u64::from(length))
        .sum();
    let mean = (total as f32 / n_live.max(1) as f32).max(1.0);
    let by_length: Vec<f32> = (0..=255u8)
        .map(|length| constants.k1 * (1.0 - constants.b + constants.b * f32::from(length) / mean))
        .collect();
    lengths().map(|&length| by_length[length as usize]).collect()
}

/// A score of -1 to 1 for each chunk of the snapshot; meaningless for dead ones. `None` if the query has no vector.
///
/// # Errors
/// [`store::StoreError`].
pub fn scores(
    snapshot: &Snapshot,
    connection: &Connection,
    statistics: &Statistics,
    query: &Query,
    constants: &Constants,
) -> store::Result<Option<Vec<f32>>> {
    let Some(vector) = static_model().query(&query.text) else { return Ok(None) };
    let mut centred = vector;
    for (value, mean) in centred.iter_mut().zip(&statistics.mean) {
        *value -= mean;
    }
    let length = centred.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
    for value in &mut centred {
        *value /= length;
    }
    let mean_dot: f32 = centred.iter().zip(&statistics.mean).map(|(a, b)| a * b).sum();
    let packed = PackedQuery::new(&centred);
    let mut scores = Vec::with_capacity(snapshot.n_chunks() as usize);
    for columns in snapshot.columns(connection)? {
        packed.dots(&columns.vectors, &mut scores);
    }
    let file_share = constants.file_mean_share;
    for (file, &file_factor) in snapshot.files.iter().zip(&statistics.file_factors) {
        let range = file.first_chunk as usize..(file.first_chunk + file.n_chunks) as usize;
        let scores = &mut scores[range.clone()];
        let mean = scores.iter().sum::<f32>() / file.n_chunks.max(1) as f32;
        let file_cosine = (mean - mean_dot) * file_factor;
        for (score, &factor) in scores.iter_mut().zip(&statistics.chunk_factors[range]) {
            let cosine = (*score - mean_dot) * factor;
            *score = if factor > 0.0 {
                (1.0 - file_share) * cosine + file_share * file_cosine
            } else {
                0.0
            };
        }
    }
    Ok(Some(scores))
}
