//! What every search reads of every chunk: length, kind, vector.
//!
//! The columns of a segment never change, so they are shared between snapshots; what depends on which files are live is
//! computed by those who ask.

use std::sync::Arc;

use rusqlite::Connection;

use super::codec::unseal;
use super::error::Result;
use super::files::FileRow;
use super::reads::lock;
use super::segment::STARTS_VECTOR;
use super::snapshot::{SegmentRow, Snapshot};
use crate::embed::DIM;
use crate::embed::quantize::{PACKED_BYTES, Signs, pack, signs, sum_of_squares, unpack};

/// The columns of one segment.
#[derive(Debug)]
pub struct Columns {
    /// Terms in each chunk, halved, at most 255.
    pub lengths: Vec<u8>,
    /// [`crate::chunk::ChunkKind`] of each chunk as a number.
    pub kinds: Vec<u8>,
    /// The number of each chunk's vector; neighbours may share one.
    pub vector_of_chunk: Vec<u32>,
    /// [`PACKED_BYTES`] a vector.
    pub vectors: Vec<u8>,
    /// The signs of each vector.
    pub signs: Vec<Signs>,
    /// For each file that was live when the columns were read, the mean of its vectors, brought to unit length.
    pub file_means: Vec<[u8; PACKED_BYTES]>,
    /// The lengths that those means had; 0 without vectors.
    pub file_mean_lengths: Vec<f32>,
}

impl Columns {
    /// The packed vector number `vector`.
    #[must_use]
    pub fn vector(&self, vector: u32) -> &[u8; PACKED_BYTES] {
        &self.vectors.as_chunks::<PACKED_BYTES>().0[vector as usize]
    }
}

impl Snapshot {
    /// The columns of each segment, read at the first call.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn columns(&self, connection: &Connection) -> Result<&[Arc<Columns>]> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let columns = (0u32..)
            .zip(&self.segments)
            .map(|(at, _)| self.columns_of(connection, at))
            .collect::<Result<Vec<_>>>()?;
        Ok(self.columns.get_or_init(|| columns))
    }

    /// The numbers of a file's vectors in its segment.
    #[must_use]
    pub fn vectors_of(&self, columns: &[Arc<Columns>], file: &FileRow) -> std::ops::Range<u32> {
        if file.n_chunks == 0 {
            return 0..0;
        }
        let of_chunk = &columns[file.segment as usize].vector_of_chunk;
        let first = (file.first_chunk - self.segments[file.segment as usize].base) as usize;
        of_chunk[first]..of_chunk[first + file.n_chunks as usize - 1] + 1
    }

    /// The columns of the segment at position `at`.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub(super) fn columns_of(&self, connection: &Connection, at: u32) -> Result<Arc<Columns>> {
        let segment = &self.segments[at as usize];
        let mut known = lock(&self.caches.columns);
        if let Some(columns) = known.get(&segment.id) {
            return Ok(Arc::clone(columns));
        }
        let columns = Arc::new(self.read_columns(connection, at, segment)?);
        known.insert(segment.id, Arc::clone(&columns));
        Ok(columns)
    }

    fn read_columns(
        &self,
        connection: &Connection,
        at: u32,
        segment: &SegmentRow,
    ) -> Result<Columns> {
        let n = segment.n_chunks as usize;
        let mut columns = Columns {
            lengths: Vec::new(),
            kinds: Vec::new(),
            vector_of_chunk: Vec::new(),
            vectors: Vec::new(),
            signs: Vec::new(),
            file_means: Vec::new(),
            file_mean_lengths: Vec::new(),
        };
        self.database.run(|| {
            let mut statement = connection.prepare_cached(
                "SELECT lengths, kinds, vectors FROM parts WHERE segment = ?1 ORDER BY part",
            )?;
            let mut rows = statement.query([segment.id])?;
            while let Some(row) = rows.next()? {
                // A broken seal leaves the columns short, which is noticed below.
                for (at, column) in [&mut columns.lengths, &mut columns.kinds, &mut columns.vectors]
                    .into_iter()
                    .enumerate()
                {
                    column
                        .extend_from_slice(unseal(row.get_ref(at)?.as_blob()?).unwrap_or_default());
                }
            }
            Ok(())
        })?;
        let mut n_vectors = 0u32;
        for kind in &mut columns.kinds {
            n_vectors += u32::from(*kind & STARTS_VECTOR != 0);
            *kind &= !STARTS_VECTOR;
            columns.vector_of_chunk.push(n_vectors.saturating_sub(1));
        }
        let is_whole = columns.lengths.len() == n
            && columns.kinds.len() == n
            && columns.vectors.len() == n_vectors as usize * PACKED_BYTES
            && (n == 0 || n_vectors > 0);
        if !is_whole {
            return Err(self.database.damaged("the columns of a segment"));
        }
        columns.file_means = vec![[0; PACKED_BYTES]; segment.n_files as usize];
        columns.file_mean_lengths = vec![0.0; segment.n_files as usize];
        columns.signs = columns.vectors.as_chunks::<PACKED_BYTES>().0.iter().map(signs).collect();
        self.file_means(at, segment, &mut columns);
        Ok(columns)
    }

    fn file_means(&self, at: u32, segment: &SegmentRow, columns: &mut Columns) {
        let live = self.file_of_ordinal[at as usize].iter().filter(|&&file| file != Self::DEAD);
        for file in live.map(|&file| &self.files[file as usize]).filter(|file| file.n_chunks > 0) {
            let first = (file.first_chunk - segment.base) as usize;
            let last = first + file.n_chunks as usize - 1;
            let vectors = columns.vector_of_chunk[first]..=columns.vector_of_chunk[last];
            let n = (vectors.end() - vectors.start() + 1) as f32;
            let ordinal = file.ordinal as usize;
            if vectors.start() == vectors.end() {
                columns.file_means[ordinal] = *columns.vector(*vectors.start());
                let has_vector = columns.file_means[ordinal][..4] != [0; 4];
                columns.file_mean_lengths[ordinal] = f32::from(u8::from(has_vector));
                continue;
            }
            let mut mean = [0f32; DIM];
            for vector in vectors {
                for (total, value) in mean.iter_mut().zip(unpack(columns.vector(vector))) {
                    *total += value;
                }
            }
            let mean = mean.map(|total| total / n);
            columns.file_mean_lengths[ordinal] = sum_of_squares(&mean).sqrt();
            pack(&mean, &mut columns.file_means[ordinal]);
        }
    }

    /// Sum over the vectors of all live chunks in units of 2^-24, and their number. Exact in any order.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn vector_sum(&self, connection: &Connection) -> Result<([i64; DIM], u64)> {
        let mut sum = [0i64; DIM];
        let mut n = 0;
        for (segment, columns) in self.segments.iter().zip(self.columns(connection)?) {
            for (total, value) in sum.iter_mut().zip(segment.vector_sum.iter()) {
                *total += value;
            }
            n += columns.signs.len() as u64;
            if !segment.has_dead {
                continue;
            }
            let owners = &self.file_of_chunk[segment.base as usize..];
            let mut previous = None;
            for (&vector, &owner) in columns.vector_of_chunk.iter().zip(owners) {
                if previous != Some(vector) && owner == Self::DEAD {
                    add_fixed_point(columns.vector(vector), &mut sum, -1);
                    n -= 1;
                }
                previous = Some(vector);
            }
        }
        Ok((sum, n))
    }
}

/// Units of the fixed-point vector sums.
const FIXED_POINT: f32 = (1 << 24) as f32;

/// Adds (`sign` 1) or takes away (`sign` -1) a packed vector.
pub(crate) fn add_fixed_point(packed: &[u8; PACKED_BYTES], sum: &mut [i64; DIM], sign: i64) {
    let vector = unpack(packed);
    for (total, value) in sum.iter_mut().zip(vector) {
        *total += sign * (value * FIXED_POINT) as i64;
    }
}

/// The mean of `n` vectors whose fixed-point sum is `sum`.
#[must_use]
pub(crate) fn mean_vector(sum: &[i64; DIM], n: u64) -> [f32; DIM] {
    sum.map(|value| (value as f64 / f64::from(FIXED_POINT) / n.max(1) as f64) as f32)
}

pub(super) fn encode_vector_sum(sum: &[i64; DIM]) -> Vec<u8> {
    sum.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(super) fn decode_vector_sum(blob: &[u8]) -> Option<Box<[i64; DIM]>> {
    let (values, []) = blob.as_chunks::<8>() else { return None };
    let values: Vec<i64> = values.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect();
    values.try_into().ok()
}
