//! Vector search: the cosine of the query with every vector, centred on the workspace's mean.
//!
//! Vectors of one workspace share a direction that says nothing about any of them; the mean `m` of all live vectors is
//! taken off both sides: `cos(q - m, d - m) = ((q - m)·d - (q - m)·m) / (|q - m| |d - m|)`. A chunk's score mixes its
//! vector's with that of the mean of its file, which steadies it. The sums over vectors are exact in any order, so the
//! result does not depend on segments.
//!
//! All vectors are scored exactly up to 6,000 of them. Above, the angle is first estimated from the signs alone (the
//! share of equal signs grows with the cosine: Charikar, STOC 2002), and the most promising are scored exactly.

use rusqlite::Connection;

use super::top::Top;
use crate::config::ranking::Constants;
use crate::embed::DIM;
use crate::embed::model::static_model;
use crate::embed::quantize::{PACKED_BYTES, PackedQuery, Signs, differences, signs_of};
use crate::query::Query;
use crate::store::{self, Columns, FileRow, Snapshot, mean_vector};

/// Up to so many vectors, each is scored exactly: some 25 ns a vector.
const EXACT_VECTORS: usize = 6_000;
/// Above, so many of the most promising are, or this share if it is more.
const LEAST_RESCORED: usize = 2048;
const RESCORED_SHARE: usize = 64;

/// What is computed once per snapshot.
pub struct Statistics {
    /// Live chunks.
    pub n_chunks: u64,
    n_vectors: u64,
    /// For each stored length, the part of BM25's denominator that is the length's:
    /// `k1 * (1 - b + b * length / mean length)`.
    pub length_norms: [f32; 256],
    mean: [f32; DIM],
    mean_norm2: f32,
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
        let (sum, n_vectors) = snapshot.vector_sum(connection)?;
        let mean = mean_vector(&sum, n_vectors);
        let n_chunks = snapshot.n_live_chunks();
        let lengths = snapshot.columns(connection)?.iter().flat_map(|columns| &columns.lengths);
        let total: u64 = lengths
            .zip(&snapshot.file_of_chunk)
            .filter(|&(_, &file)| file != Snapshot::DEAD)
            .map(|(&length, _)| u64::from(length))
            .sum();
        let mean_length = (total as f32 / n_chunks.max(1) as f32).max(1.0);
        let norm = |length: usize| {
            constants.k1 * (1.0 - constants.b + constants.b * length as f32 / mean_length)
        };
        let mean_norm2 = mean.iter().map(|x| x * x).sum();
        let packed_mean = PackedQuery::new(&mean);
        let columns = snapshot.columns(connection)?;
        let file_factors = snapshot
            .files
            .iter()
            .map(|file| {
                let (packed, length) = file_mean(columns, file);
                factor(packed, length, &packed_mean, mean_norm2)
            })
            .collect();
        Ok(Self {
            n_chunks,
            n_vectors,
            length_norms: std::array::from_fn(norm),
            mean_norm2,
            mean,
            file_factors,
        })
    }
}

/// The mean of a file's vectors: a packed unit vector and its length.
fn file_mean<'c>(
    columns: &'c [std::sync::Arc<Columns>],
    file: &FileRow,
) -> (&'c [u8; PACKED_BYTES], f32) {
    let columns = &columns[file.segment as usize];
    let ordinal = file.ordinal as usize;
    (&columns.file_means[ordinal], columns.file_mean_lengths[ordinal])
}

/// 1 over the centred length of a vector that is `length` times a packed unit vector; 0 for the zero vector.
#[inline]
fn factor(packed: &[u8; PACKED_BYTES], length: f32, mean: &PackedQuery, mean_norm2: f32) -> f32 {
    let norm2 = length * length - 2.0 * length * mean.dot(packed) + mean_norm2;
    let is_zero = packed[..4] == [0; 4] || norm2 < 1e-6;
    if is_zero { 0.0 } else { 1.0 / norm2.sqrt() }
}

/// A query's vector, centred, and the scores of all files.
pub struct SemanticScorer<'s> {
    snapshot: &'s Snapshot,
    columns: &'s [std::sync::Arc<Columns>],
    query: PackedQuery,
    query_signs: Signs,
    mean: PackedQuery,
    mean_norm2: f32,
    /// `(q - m)·m`.
    mean_dot: f32,
    file_share: f32,
    n_vectors: usize,
    /// Centred cosine of each file's mean.
    files: Vec<f32>,
}

impl<'s> SemanticScorer<'s> {
    /// Embeds the query and scores the files. `None` if the model knows no word of the query.
    ///
    /// # Errors
    /// [`store::StoreError`].
    pub fn new(
        snapshot: &'s Snapshot,
        connection: &Connection,
        statistics: &Statistics,
        query: &Query,
        constants: &Constants,
    ) -> store::Result<Option<Self>> {
        let Some(mut centred) = static_model().query(&query.text) else { return Ok(None) };
        for (value, mean) in centred.iter_mut().zip(&statistics.mean) {
            *value -= mean;
        }
        let length = centred.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        for value in &mut centred {
            *value /= length;
        }
        let mut scorer = Self {
            snapshot,
            columns: snapshot.columns(connection)?,
            query: PackedQuery::new(&centred),
            query_signs: signs_of(&centred),
            mean: PackedQuery::new(&statistics.mean),
            mean_norm2: statistics.mean_norm2,
            mean_dot: centred.iter().zip(&statistics.mean).map(|(a, b)| a * b).sum(),
            file_share: constants.file_mean_share,
            n_vectors: statistics.n_vectors as usize,
            files: Vec::new(),
        };
        let dots: Vec<Vec<f32>> = scorer
            .columns
            .iter()
            .map(|columns| {
                let mut dots = Vec::with_capacity(columns.file_means.len());
                scorer.query.dots(&columns.file_means, &mut dots);
                dots
            })
            .collect();
        let file_cosine = |(file, &factor): (&FileRow, &f32)| {
            let (segment, ordinal) = (file.segment as usize, file.ordinal as usize);
            let length = scorer.columns[segment].file_mean_lengths[ordinal];
            (length * dots[segment][ordinal] - scorer.mean_dot) * factor
        };
        scorer.files =
            snapshot.files.iter().zip(&statistics.file_factors).map(file_cosine).collect();
        Ok(Some(scorer))
    }

    /// Centred cosine of a packed unit vector; 0 for the zero vector.
    #[inline]
    fn cosine(&self, packed: &[u8; PACKED_BYTES]) -> f32 {
        (self.query.dot(packed) - self.mean_dot) * factor(packed, 1.0, &self.mean, self.mean_norm2)
    }

    /// The score of a live chunk, -1 to 1.
    #[must_use]
    pub fn chunk(&self, chunk: u32) -> f32 {
        let segment = self.snapshot.segment_of(chunk);
        let columns = &self.columns[segment];
        let local = (chunk - self.snapshot.segments[segment].base) as usize;
        let file = self.snapshot.file_of_chunk[chunk as usize];
        self.vector(columns, columns.vector_of_chunk[local], file)
    }

    #[inline]
    fn vector(&self, columns: &Columns, vector: u32, file: u32) -> f32 {
        let own = self.cosine(columns.vector(vector));
        (1.0 - self.file_share) * own + self.file_share * self.files[file as usize]
    }

    /// The `n` best chunks of the files that pass `allows_file` whose kind passes `allows_kind`, best first.
    pub fn best(
        &self,
        n: usize,
        allows_file: impl Fn(u32) -> bool,
        allows_kind: impl Fn(u8) -> bool,
    ) -> Vec<(f32, u32)> {
        let n_vectors = self.n_vectors;
        let mut best = Top::new(n, 0.0);
        let mut key = 0;
        let mut add = |file: u32, vector: u32, columns: &Columns| {
            let row = &self.snapshot.files[file as usize];
            let base = self.snapshot.segments[row.segment as usize].base;
            let score = self.vector(columns, vector, file);
            let first = (row.first_chunk - base) as usize;
            let chunks = &columns.vector_of_chunk[first..first + row.n_chunks as usize];
            let start = chunks.partition_point(|&v| v < vector);
            for (at, _) in chunks.iter().enumerate().skip(start).take_while(|&(_, &v)| v == vector)
            {
                if allows_kind(columns.kinds[first + at]) {
                    best.push(score, key, row.first_chunk + at as u32);
                }
                key += 1;
            }
        };
        if n_vectors <= EXACT_VECTORS {
            self.for_each_file(allows_file, |file, vectors, columns| {
                for vector in vectors {
                    add(file, vector, columns);
                }
            });
        } else {
            let rescored = LEAST_RESCORED.max(n_vectors / RESCORED_SHARE);
            for (file, vector) in self.promising(rescored, allows_file) {
                let segment = self.snapshot.files[file as usize].segment as usize;
                add(file, vector, &self.columns[segment]);
            }
        }
        best.into_sorted().into_iter().map(|(score, _, chunk)| (score, chunk)).collect()
    }

    /// The vectors with the best estimates, in the order of files and lines.
    fn promising(&self, n: usize, allows_file: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        let cosines: [f32; DIM + 1] = std::array::from_fn(|n_different| {
            (std::f32::consts::PI * n_different as f32 / DIM as f32).cos()
        });
        let mut top = Top::new(n, -1.0);
        let mut key = 0;
        let mut n_different = Vec::new();
        self.for_each_file(allows_file, |file, vectors, columns| {
            n_different.clear();
            let signs = &columns.signs[vectors.start as usize..vectors.end as usize];
            differences(&self.query_signs, signs, &mut n_different);
            let of_file = self.file_share * self.files[file as usize];
            for (vector, &n) in vectors.zip(&n_different) {
                let estimate = (1.0 - self.file_share) * cosines[n as usize] + of_file;
                if !top.rejects(estimate) {
                    top.push(estimate, key, (file, vector));
                }
                key += 1;
            }
        });
        let mut chosen = top.into_sorted();
        chosen.sort_unstable_by_key(|&(_, key, _)| key);
        chosen.into_iter().map(|(_, _, vector)| vector).collect()
    }

    /// Visits the vectors of each live file, by root and path.
    fn for_each_file(
        &self,
        allows_file: impl Fn(u32) -> bool,
        mut visit: impl FnMut(u32, std::ops::Range<u32>, &Columns),
    ) {
        for (at, file) in (0u32..).zip(&self.snapshot.files) {
            if file.n_chunks == 0 || !allows_file(at) {
                continue;
            }
            let segment = &self.snapshot.segments[file.segment as usize];
            let columns = &self.columns[file.segment as usize];
            let first = (file.first_chunk - segment.base) as usize;
            let last = first + file.n_chunks as usize - 1;
            let vectors = columns.vector_of_chunk[first]..columns.vector_of_chunk[last] + 1;
            visit(at, vectors, columns);
        }
    }
}
