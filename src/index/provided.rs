//! Which texts have no vector of a provider yet, and how do they get one?
//!
//! A text is what shares one vector in the index: some neighbouring chunks of a file (`index::embedding`), without its
//! path, so that a file that was renamed, or is in another branch, work tree or clone, costs nothing. Keys of a segment's
//! texts are kept once computed; a text is missing as long as the store of the model has nothing under its key. So a text
//! whose embedding failed is missing, and asked for again by the next run; nothing else remembers it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::Connection;

use super::progress::Meter;
use crate::embed::dense::pack;
use crate::embed::provider::{Embedder, ProviderError, RefusedText, Role};
use crate::error::Error;
use crate::span::ByteRange;
use crate::store::{self, Columns, EmbeddingCache, Snapshot, VectorKey, VectorStore, vector_key};
use crate::task::CancelToken;

/// Texts that are read, looked up and sent at a time: some 7 MB, and enough that eight requests at once of a few dozen
/// texts each are rarely short of work. Unmeasured.
pub const WINDOW: usize = 4096;
/// Vectors are written after so many.
const WRITTEN_AT_ONCE: usize = 256;

/// A text without a vector.
#[derive(Clone, Debug)]
pub struct MissingText {
    /// The key of its vector.
    pub key: VectorKey,
    /// The file that it is of, relative to its root.
    pub path: String,
    /// The text.
    pub text: String,
}

/// What a window of texts came to.
#[derive(Default, Debug)]
pub struct Embedded {
    /// Vectors that the provider made.
    pub made: u64,
    /// Vectors that were in the cache.
    pub reused: u64,
    /// Texts that the provider refuses: file and reason.
    pub refused: Vec<(VectorKey, String, String)>,
    /// What ended the work early.
    pub failure: Option<ProviderError>,
}

/// The keys of the vectors of the segment at position `at`, in order; computed from the text if they are not known.
///
/// # Errors
/// [`store::StoreError`].
pub fn segment_keys(
    snapshot: &Snapshot,
    connection: &Connection,
    columns: &[Arc<Columns>],
    at: usize,
    store: &VectorStore,
) -> store::Result<Vec<VectorKey>> {
    let segment = &snapshot.segments[at];
    let fingerprint = snapshot.fingerprint(segment);
    let n_vectors = columns[at].signs.len();
    if let Some(keys) = store.segment_keys(segment.id, fingerprint)?
        && keys.len() == n_vectors
    {
        return Ok(keys);
    }
    let mut keys = vec![0; n_vectors];
    for &file in snapshot.file_of_ordinal[at].iter().filter(|file| **file != Snapshot::DEAD) {
        for_each_text(snapshot, connection, columns, file, |vector, text| {
            keys[vector as usize] = vector_key(store.model(), text);
        })?;
    }
    store.put_segment_keys(segment.id, fingerprint, &keys)?;
    Ok(keys)
}

/// Visits the texts of a file with the numbers of their vectors.
fn for_each_text(
    snapshot: &Snapshot,
    connection: &Connection,
    columns: &[Arc<Columns>],
    file: u32,
    mut visit: impl FnMut(u32, &str),
) -> store::Result<()> {
    let row = &snapshot.files[file as usize];
    let records = snapshot.records(connection, row)?;
    let end = records.iter().map(|record| record.bytes.end).max().unwrap_or(0);
    let all = snapshot.text(connection, row, ByteRange { start: 0, end })?;
    let base = snapshot.segments[row.segment as usize].base;
    let first = (row.first_chunk - base) as usize;
    let of_chunk =
        &columns[row.segment as usize].vector_of_chunk[first..first + row.n_chunks as usize];
    for vector in snapshot.vectors_of(columns, row) {
        let of_vector = records.iter().zip(of_chunk).filter(|(_, of)| **of == vector);
        let range = of_vector
            .map(|(record, _)| record.bytes)
            .reduce(|a, b| ByteRange { start: a.start.min(b.start), end: a.end.max(b.end) });
        let text = range.and_then(|range| all.get(range.as_range())).unwrap_or_default().trim();
        if !text.is_empty() {
            visit(vector, text);
        }
    }
    Ok(())
}

/// The keys of all texts that have no vector. `keys`: those of each segment. `but`: keys that are not asked for again.
///
/// # Errors
/// [`store::StoreError`].
pub fn missing_keys(
    snapshot: &Snapshot,
    columns: &[Arc<Columns>],
    keys: &[Arc<Vec<VectorKey>>],
    store: &VectorStore,
    but: &HashSet<VectorKey>,
) -> store::Result<HashSet<VectorKey>> {
    let mut wanted: HashSet<VectorKey> = HashSet::new();
    for (segment, keys) in keys.iter().enumerate() {
        let live: Vec<VectorKey> = snapshot.file_of_ordinal[segment]
            .iter()
            .filter(|file| **file != Snapshot::DEAD)
            .flat_map(|&file| snapshot.vectors_of(columns, &snapshot.files[file as usize]))
            .map(|vector| keys[vector as usize])
            .filter(|key| *key != 0 && !but.contains(key))
            .collect();
        wanted.extend(store.missing(&live)?);
    }
    Ok(wanted)
}

/// Takes the first texts whose keys are `wanted`, by root and path, at most about [`WINDOW`], from position `next` in the
/// files on; moves `next` and takes their keys out of `wanted`.
///
/// # Errors
/// [`store::StoreError`].
pub fn take_texts(
    (snapshot, connection): (&Snapshot, &Connection),
    columns: &[Arc<Columns>],
    keys: &[Arc<Vec<VectorKey>>],
    wanted: &mut HashSet<VectorKey>,
    next: &mut u32,
) -> store::Result<Vec<MissingText>> {
    let mut texts = Vec::new();
    while texts.len() < WINDOW && !wanted.is_empty() {
        let Some(row) = snapshot.files.get(*next as usize) else { break };
        let at = *next;
        *next += 1;
        let keys = &keys[row.segment as usize];
        let is_wanted =
            snapshot.vectors_of(columns, row).any(|vector| wanted.contains(&keys[vector as usize]));
        if !is_wanted {
            continue;
        }
        for_each_text(snapshot, connection, columns, at, |vector, text| {
            let key = keys[vector as usize];
            if wanted.remove(&key) {
                let path = row.meta.path.clone();
                texts.push(MissingText { key, path, text: text.to_owned() });
            }
        })?;
    }
    Ok(texts)
}

/// Gets vectors for `texts`, from the cache or the provider, and keeps them.
///
/// # Errors
/// [`Error::Store`]. What the provider fails with is part of the result.
pub fn embed(
    cancel: &CancelToken,
    meter: &Meter<'_>,
    texts: &[MissingText],
    embedder: &dyn Embedder,
    store: &VectorStore,
    cache: Option<&EmbeddingCache>,
) -> Result<Embedded, Error> {
    let mut result = Embedded::default();
    let expected = store.dimensions()?;
    let mut kept = Kept { store, dimensions: expected, pending: Vec::new(), error: None };
    let mut unknown: Vec<&MissingText> = Vec::new();
    for text in texts {
        let packed = cache.and_then(|cache| cache.get(text.key));
        let dimensions = packed.as_ref().map(|packed| packed.len().saturating_sub(4));
        match packed {
            Some(packed) if kept.dimensions.is_none() || dimensions == kept.dimensions => {
                kept.put(text.key, packed);
                result.reused += 1;
                meter.file_done(&text.path);
            }
            _ => unknown.push(text),
        }
    }
    let inputs: Vec<&str> = unknown.iter().map(|text| text.text.as_str()).collect();
    let mut given: HashMap<usize, ()> = HashMap::with_capacity(inputs.len());
    let mut wrong = None;
    if !inputs.is_empty() && !cancel.is_cancelled() {
        let parent = cancel.clone();
        let stop = CancelToken::new().or_when(move || parent.is_cancelled());
        let mut deliver = |at: usize, vector: Result<Vec<f32>, RefusedText>| {
            let text = unknown[at];
            if given.insert(at, ()).is_some() || wrong.is_some() {
                return;
            }
            if kept.error.is_some() {
                // What cannot be kept is not to be paid for.
                return stop.cancel();
            }
            // The provider checks the answers of one process; these are those of earlier ones as well.
            if let (Ok(vector), Some(expected)) = (&vector, kept.dimensions)
                && vector.len() != expected
            {
                let model = embedder.model().name.clone();
                let found = vector.len();
                wrong = Some(ProviderError::Dimensions { model, expected, found });
                return stop.cancel();
            }
            meter.file_done(&text.path);
            match vector {
                Ok(vector) => {
                    let packed = pack(&vector);
                    if let Some(cache) = cache {
                        cache.put(text.key, packed.clone());
                    }
                    kept.put(text.key, packed);
                    result.made += 1;
                }
                Err(refused) => {
                    result.refused.push((text.key, text.path.clone(), refused.reason));
                }
            }
        };
        let ask = || embedder.embed(&stop, Role::Document, &inputs, &mut deliver);
        let done = meter.while_waiting(ask);
        result.failure = wrong.or(done.err());
    }
    kept.write();
    if let Some(cache) = cache {
        cache.flush();
    }
    match kept.error {
        Some(error) => Err(error.into()),
        None => Ok(result),
    }
}

/// Vectors on their way into the store.
struct Kept<'a> {
    store: &'a VectorStore,
    dimensions: Option<usize>,
    pending: Vec<(VectorKey, Vec<u8>)>,
    error: Option<store::StoreError>,
}

impl Kept<'_> {
    fn put(&mut self, key: VectorKey, packed: Vec<u8>) {
        let dimensions = packed.len().saturating_sub(4);
        // All of one length: that of the vectors in the store, or of the first.
        self.dimensions.get_or_insert(dimensions);
        self.pending.push((key, packed));
        if self.pending.len() >= WRITTEN_AT_ONCE {
            self.write();
        }
    }

    fn write(&mut self) {
        let Some(dimensions) = self.dimensions.filter(|_| !self.pending.is_empty()) else { return };
        if let Err(error) = self.store.put(&self.pending, dimensions) {
            self.error.get_or_insert(error);
        }
        self.pending.clear();
    }
}
