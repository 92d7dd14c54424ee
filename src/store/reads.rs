//! What a snapshot reads lazily: postings, records of chunks, text, and what was left out.
//!
//! Segments never change and their numbers are never used twice, so what was read of one is kept for the snapshots that
//! come after.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, params};

use super::codec::{ChunkRecord, decode_records, decode_some, unseal};
use super::columns::Columns;
use super::dictionary::{Directory, find_in_block};
use super::error::{Result, StoreError};
use super::files::FileRow;
use super::segment::SegmentId;
use super::snapshot::{SegmentRow, SkipRow, Snapshot};
use super::text::{BLOCK_BYTES, TextReader, locate};
use crate::span::ByteRange;

/// Postings blocks and, apart from them, rows of text that are kept in memory, in bytes.
const CACHE_BYTES: usize = 12 << 20;

type Cache<K> = Mutex<(HashMap<K, Arc<[u8]>>, usize)>;

/// What was read of segments, shared by the snapshots of one connection.
#[derive(Default)]
pub struct Caches {
    pub(super) columns: Mutex<HashMap<SegmentId, Arc<Columns>>>,
    directories: Mutex<HashMap<SegmentId, Arc<Directory>>>,
    blocks: Cache<(SegmentId, i64)>,
    texts: Cache<(SegmentId, u32)>,
    text_reader: Mutex<TextReader>,
}

impl Caches {
    /// Forgets all of segments that are gone but what makes room by itself.
    pub(super) fn retain(&self, segments: &[SegmentRow]) {
        let is_live = |id: &SegmentId| segments.iter().any(|segment| segment.id == *id);
        lock(&self.columns).retain(|id, _| is_live(id));
        lock(&self.directories).retain(|id, _| is_live(id));
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Snapshot {
    /// Hands the postings bytes of `term` in `segment` to `visit`, with the stored document frequency.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn with_postings(
        &self,
        connection: &Connection,
        segment: &SegmentRow,
        term: &[u8],
        visit: &mut dyn FnMut(u32, &[u8]),
    ) -> Result<()> {
        let directory = self.directory(connection, segment)?;
        let Some(position) = directory.block_of(term) else { return Ok(()) };
        let id = segment.first_block + position as i64;
        let read = || {
            self.database.run(|| {
                connection
                    .prepare_cached("SELECT data FROM postings WHERE id = ?1 AND segment = ?2")?
                    .query_row([id, segment.id], |row| row.get::<_, Vec<u8>>(0))
            })
        };
        let block = cached(&self.caches.blocks, (segment.id, id), read, || {
            self.database.damaged("a dictionary block")
        })?;
        match find_in_block(&block, term) {
            Ok(Some(entry)) => visit(entry.document_frequency, entry.postings),
            Ok(None) => {}
            Err(()) => return Err(self.database.damaged("a dictionary block")),
        }
        Ok(())
    }

    fn directory(&self, connection: &Connection, segment: &SegmentRow) -> Result<Arc<Directory>> {
        let mut directories = lock(&self.caches.directories);
        if let Some(directory) = directories.get(&segment.id) {
            return Ok(Arc::clone(directory));
        }
        let blob: Vec<u8> = self.database.run(|| {
            connection
                .prepare_cached("SELECT directory FROM segments WHERE id = ?1")?
                .query_row([segment.id], |row| row.get(0))
        })?;
        let directory = Arc::new(
            unseal(&blob)
                .and_then(Directory::decode)
                .ok_or_else(|| self.database.damaged("a directory"))?,
        );
        directories.insert(segment.id, Arc::clone(&directory));
        Ok(directory)
    }

    /// The chunks of a file.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn records(&self, connection: &Connection, file: &FileRow) -> Result<Vec<ChunkRecord>> {
        let records = self.database.run(|| {
            connection
                .prepare_cached("SELECT data FROM records WHERE file = ?1")?
                .query_row([file.id], |row| {
                    Ok(unseal(row.get_ref(0)?.as_blob()?).and_then(decode_records))
                })
        })?;
        records
            .filter(|records| records.len() == file.n_chunks as usize)
            .ok_or_else(|| self.database.damaged("the chunks of a file"))
    }

    /// Some chunks of a file, given by their ascending numbers in it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn records_at(
        &self,
        connection: &Connection,
        file: &FileRow,
        chunks: &[u32],
    ) -> Result<Vec<ChunkRecord>> {
        let records = self.database.run(|| {
            connection.prepare_cached("SELECT data FROM records WHERE file = ?1")?.query_row(
                [file.id],
                |row| {
                    Ok(unseal(row.get_ref(0)?.as_blob()?)
                        .and_then(|blob| decode_some(blob, chunks)))
                },
            )
        })?;
        records.ok_or_else(|| self.database.damaged("the chunks of a file"))
    }

    /// Some bytes of a file's text.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn text(
        &self,
        connection: &Connection,
        file: &FileRow,
        range: ByteRange,
    ) -> Result<String> {
        let segment = self.segments[file.segment as usize].id;
        let mut position = file.text_start.saturating_add(u64::from(range.start));
        let end = file.text_start.saturating_add(u64::from(range.end));
        let mut text = Vec::with_capacity(range.len());
        let mut reader = lock(&self.caches.text_reader);
        while position < end {
            let (row, block, from) =
                locate(position).ok_or_else(|| self.database.damaged("the place of a text"))?;
            let n = ((end - position) as usize).min(BLOCK_BYTES - from);
            let data = self.text_row(connection, segment, row)?;
            let part = reader
                .read(&data, block, from + n)
                .ok_or_else(|| self.database.damaged("a text row"))?;
            text.extend_from_slice(&part[from..]);
            position += n as u64;
        }
        String::from_utf8(text).map_err(|_| self.database.damaged("a text row"))
    }

    fn text_row(&self, connection: &Connection, segment: SegmentId, row: u32) -> Result<Arc<[u8]>> {
        let read = || {
            self.database.run(|| {
                connection
                    .prepare_cached("SELECT data FROM texts WHERE segment = ?1 AND row = ?2")?
                    .query_row(params![segment, row], |row| row.get::<_, Vec<u8>>(0))
            })
        };
        cached(&self.caches.texts, (segment, row), read, || self.database.damaged("a text row"))
    }

    /// What the last run left out, by root and path.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn skipped(&self, connection: &Connection) -> Result<Arc<Vec<SkipRow>>> {
        if let Some(skipped) = self.skipped.get() {
            return Ok(Arc::clone(skipped));
        }
        let mut skipped = Vec::new();
        for &(root, _) in &self.roots {
            skipped.extend(self.database.run(|| {
                connection
                    .prepare_cached(
                        "SELECT path, reason, size, mtime_ns FROM skipped WHERE root = ?1
                         ORDER BY path, reason",
                    )?
                    .query_map([root], |row| {
                        let size: Option<i64> = row.get(2)?;
                        let mtime: Option<i64> = row.get(3)?;
                        Ok(SkipRow {
                            root,
                            path: row.get(0)?,
                            reason: row.get(1)?,
                            seen: size.map(|size| size as u64).zip(mtime),
                        })
                    })?
                    .collect::<rusqlite::Result<Vec<_>>>()
            })?);
        }
        Ok(Arc::clone(self.skipped.get_or_init(|| Arc::new(skipped))))
    }
}

/// Answers from the cache, or reads and keeps; an over-full cache starts anew. What is read is sealed.
fn cached<K: std::hash::Hash + Eq>(
    cache: &Cache<K>,
    key: K,
    read: impl FnOnce() -> Result<Vec<u8>>,
    damaged: impl FnOnce() -> StoreError,
) -> Result<Arc<[u8]>> {
    let mut cache = lock(cache);
    let (entries, n_bytes) = &mut *cache;
    if let Some(value) = entries.get(&key) {
        return Ok(Arc::clone(value));
    }
    let sealed = read()?;
    let value: Arc<[u8]> = unseal(&sealed).ok_or_else(damaged)?.into();
    if *n_bytes + value.len() > CACHE_BYTES {
        entries.clear();
        *n_bytes = 0;
    }
    *n_bytes += value.len();
    entries.insert(key, Arc::clone(&value));
    Ok(value)
}
