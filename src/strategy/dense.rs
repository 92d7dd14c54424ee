//! Vector search with the vectors of a provider: exact, all of them.
//!
//! As with the embedded model, the mean of all live vectors is taken off both sides ([`super::semantic`]): models differ in
//! how much of every vector is the same, and what is the same says nothing. A chunk without a vector scores 0. Sums are
//! exact in any order, so the result does not depend on segments.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::top::Top;
use crate::embed::dense::{DenseQuery, unpack};
use crate::store::{self, Columns, SegmentId, Snapshot, VectorKey, VectorStore};

/// Units of the fixed-point sum of vectors.
const FIXED_POINT: f32 = (1 << 24) as f32;

/// The vectors of one segment.
#[derive(Debug)]
pub struct DenseColumns {
    /// `dimensions` values a vector.
    values: Vec<i8>,
    /// A vector's scale; 0 where there is none.
    scales: Vec<f32>,
    /// Vectors that are still to come.
    n_missing: usize,
    /// The state of the store when they were read.
    read_at: u64,
}

/// The vectors of a snapshot.
#[derive(Debug)]
pub struct DenseIndex {
    dimensions: usize,
    columns: Vec<Arc<DenseColumns>>,
    known: HashMap<SegmentId, Arc<DenseColumns>>,
    mean: Vec<f32>,
    /// For each vector of each segment, 1 over the length of it without the mean.
    factors: Vec<Vec<f32>>,
    /// Texts of live files.
    pub n_texts: usize,
    /// Those that have no vector yet.
    pub n_missing: usize,
}

impl DenseIndex {
    /// Reads the vectors of `snapshot`, whose segments have `keys`; what `before` has read already is not read again.
    ///
    /// # Errors
    /// [`store::StoreError`].
    pub fn load(
        snapshot: &Snapshot,
        static_columns: &[Arc<Columns>],
        store: &VectorStore,
        keys: &[Arc<Vec<VectorKey>>],
        before: Option<&Self>,
    ) -> store::Result<Self> {
        let dimensions = store.dimensions()?.unwrap_or(0);
        let read_at = store.generation()?;
        let refused = store.refused()?;
        let before = before.filter(|before| before.dimensions == dimensions);
        let mut columns = Vec::with_capacity(keys.len());
        let mut known = HashMap::new();
        for (segment, keys) in snapshot.segments.iter().zip(keys) {
            let read = before.and_then(|before| before.known.get(&segment.id)).filter(|columns| {
                columns.scales.len() == keys.len()
                    && (columns.n_missing == 0 || columns.read_at == read_at)
            });
            let read = match read {
                Some(read) => Arc::clone(read),
                None => Arc::new(read_columns(store, keys, dimensions, read_at)?),
            };
            known.insert(segment.id, Arc::clone(&read));
            columns.push(read);
        }
        let mut index = Self {
            dimensions,
            columns,
            known,
            mean: vec![0.0; dimensions],
            factors: Vec::new(),
            n_texts: 0,
            n_missing: 0,
        };
        index.centre(snapshot, static_columns, (keys, &refused));
        Ok(index)
    }

    /// `keys` of each segment; `refused` will never have a vector.
    fn centre(
        &mut self,
        snapshot: &Snapshot,
        static_columns: &[Arc<Columns>],
        (keys, refused): (&[Arc<Vec<VectorKey>>], &HashSet<VectorKey>),
    ) {
        let mut sum = vec![0i64; self.dimensions];
        let mut n = 0usize;
        for_each_vector(snapshot, static_columns, |_, segment, vector| {
            let key = keys[segment][vector];
            if key == 0 || refused.contains(&key) {
                return;
            }
            self.n_texts += 1;
            let Some((scale, values)) = self.columns[segment].vector(vector, self.dimensions)
            else {
                return;
            };
            n += 1;
            for (total, &value) in sum.iter_mut().zip(values) {
                *total += (f32::from(value) * scale * FIXED_POINT) as i64;
            }
        });
        self.n_missing = self.n_texts - n;
        for (mean, total) in self.mean.iter_mut().zip(sum) {
            *mean = (total as f64 / f64::from(FIXED_POINT) / n.max(1) as f64) as f32;
        }
        let norm2: f32 = self.mean.iter().map(|x| x * x).sum();
        let mean = DenseQuery::new(&self.mean);
        let dimensions = self.dimensions;
        self.factors = self
            .columns
            .iter()
            .map(|columns| {
                (0..columns.scales.len())
                    .map(|vector| {
                        let Some(packed) = columns.vector(vector, dimensions) else { return 0.0 };
                        let rest = 1.0 - 2.0 * mean.dot(packed) + norm2;
                        if rest < 1e-6 { 0.0 } else { 1.0 / rest.sqrt() }
                    })
                    .collect()
            })
            .collect();
    }

    /// Dimensions of all vectors; 0 while there are none.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }
}

impl DenseColumns {
    fn vector(&self, vector: usize, dimensions: usize) -> Option<(f32, &[i8])> {
        let scale = self.scales[vector];
        let start = vector * dimensions;
        (scale > 0.0).then(|| (scale, &self.values[start..start + dimensions]))
    }
}

fn read_columns(
    store: &VectorStore,
    keys: &[VectorKey],
    dimensions: usize,
    read_at: u64,
) -> store::Result<DenseColumns> {
    let mut columns = DenseColumns {
        values: vec![0; keys.len() * dimensions],
        scales: vec![0.0; keys.len()],
        n_missing: keys.iter().filter(|key| **key != 0).count(),
        read_at,
    };
    store.for_each(keys, |at, packed| {
        let Some((scale, values)) = unpack(packed, dimensions) else { return };
        columns.n_missing -= 1;
        columns.scales[at] = scale;
        let into = &mut columns.values[at * dimensions..(at + 1) * dimensions];
        for (into, &value) in into.iter_mut().zip(values) {
            *into = value as i8;
        }
    })?;
    Ok(columns)
}

/// Visits the vectors of live files, by root and path: file, segment, vector.
fn for_each_vector(
    snapshot: &Snapshot,
    columns: &[Arc<Columns>],
    mut visit: impl FnMut(u32, usize, usize),
) {
    for (at, file) in (0u32..).zip(&snapshot.files) {
        for vector in snapshot.vectors_of(columns, file) {
            visit(at, file.segment as usize, vector as usize);
        }
    }
}

/// A query, ready to be compared.
pub struct DenseScorer<'s> {
    snapshot: &'s Snapshot,
    static_columns: &'s [Arc<Columns>],
    index: &'s DenseIndex,
    query: DenseQuery,
    /// `(q - m)·m`.
    mean_dot: f32,
}

impl<'s> DenseScorer<'s> {
    /// `None` if the query's vector is not one of the index's model.
    #[must_use]
    pub fn new(
        snapshot: &'s Snapshot,
        static_columns: &'s [Arc<Columns>],
        index: &'s DenseIndex,
        query: &[f32],
    ) -> Option<Self> {
        if query.len() != index.dimensions {
            return None;
        }
        let mut centred: Vec<f32> = query.iter().zip(&index.mean).map(|(q, m)| q - m).collect();
        let length = centred.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        for value in &mut centred {
            *value /= length;
        }
        let mean_dot = centred.iter().zip(&index.mean).map(|(a, b)| a * b).sum();
        Some(Self { snapshot, static_columns, index, query: DenseQuery::new(&centred), mean_dot })
    }

    fn score(&self, segment: usize, vector: u32) -> f32 {
        let columns = &self.index.columns[segment];
        let vector = vector as usize;
        let packed = columns.vector(vector, self.index.dimensions);
        packed.map_or(0.0, |packed| {
            (self.query.dot(packed) - self.mean_dot) * self.index.factors[segment][vector]
        })
    }

    /// The score of a live chunk, -1 to 1.
    #[must_use]
    pub fn chunk(&self, chunk: u32) -> f32 {
        let segment = self.snapshot.segment_of(chunk);
        let local = (chunk - self.snapshot.segments[segment].base) as usize;
        self.score(segment, self.static_columns[segment].vector_of_chunk[local])
    }

    /// The `n` best chunks of the files that pass `allows_file` whose kind passes `allows_kind`, best first.
    pub fn best(
        &self,
        n: usize,
        allows_file: impl Fn(u32) -> bool,
        allows_kind: impl Fn(u8) -> bool,
    ) -> Vec<(f32, u32)> {
        let mut best = Top::new(n, 0.0);
        let mut key = 0;
        for (at, file) in (0u32..).zip(&self.snapshot.files) {
            if file.n_chunks == 0 || !allows_file(at) {
                continue;
            }
            let segment = file.segment as usize;
            let columns = &self.static_columns[segment];
            let first = (file.first_chunk - self.snapshot.segments[segment].base) as usize;
            let mut last = None;
            for local in first..first + file.n_chunks as usize {
                let vector = columns.vector_of_chunk[local];
                let score = match last {
                    Some((known, score)) if known == vector => score,
                    _ => self.score(segment, vector),
                };
                last = Some((vector, score));
                if !best.rejects(score) && allows_kind(columns.kinds[local]) {
                    best.push(score, key, file.first_chunk + (local - first) as u32);
                }
                key += 1;
            }
        }
        best.into_sorted().into_iter().map(|(score, _, chunk)| (score, chunk)).collect()
    }
}
