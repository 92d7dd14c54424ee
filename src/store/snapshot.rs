//! Reading one state of the database, from start to end.
//!
//! A [`Snapshot`] is derived from the database and can be dropped at any time. What it reads lazily (columns, postings,
//! text) must come from the same state: the reader holds a read transaction around [`Snapshot::load`] or
//! [`Snapshot::is_current`] and everything that follows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::codec::{ChunkRecord, decode_records, decode_some, unseal};
use super::columns::{Columns, decode_vector_sum};
use super::database::Database;
use super::dictionary::{Directory, find_in_block};
use super::error::{Result, StoreError};
use super::segment::{FileMeta, SegmentId};
use super::text::{BLOCK_BYTES, TextReader, locate};
use crate::embed::DIM;
use crate::source::Language;
use crate::span::ByteRange;

/// Number of a root within its database.
pub type RootId = i64;

/// More chunks than this are no index of ours: it would be a terabyte of text.
const MAX_CHUNKS: u32 = 1 << 30;

/// Postings blocks and, apart from them, rows of text that are kept in memory, in bytes.
const CACHE_BYTES: usize = 12 << 20;

/// A live file.
#[derive(Clone, Debug)]
pub struct FileRow {
    /// Row of the `files` table.
    pub id: i64,
    /// Its root.
    pub root: RootId,
    /// The file.
    pub meta: FileMeta,
    /// Where its chunks are: position in [`Snapshot::segments`].
    pub segment: u32,
    /// Its number in the segment.
    pub ordinal: u32,
    /// First chunk, counted over all segments of the snapshot.
    pub first_chunk: u32,
    /// Number of chunks.
    pub n_chunks: u32,
    /// Where its text begins in the segment's text.
    pub text_start: u64,
}

/// A live segment.
#[derive(Debug)]
pub struct SegmentRow {
    /// Its number.
    pub id: SegmentId,
    /// Its root.
    pub root: RootId,
    /// The number of its first chunk, counted over all segments of the snapshot.
    pub base: u32,
    /// Number of chunks, dead ones included.
    pub n_chunks: u32,
    /// Number of files, dead ones included.
    pub n_files: u32,
    /// Row of its first dictionary block.
    pub first_block: i64,
    /// Whether any of its chunks are dead.
    pub has_dead: bool,
    /// Whether it holds text that must go.
    pub must_rewrite: bool,
    pub(super) vector_sum: Box<[i64; DIM]>,
}

/// A path that the last run left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkipRow {
    /// Its root.
    pub root: RootId,
    /// Relative to the root.
    pub path: String,
    /// For a person.
    pub reason: String,
    /// Size and time of last change of a file that was read in vain.
    pub seen: Option<(u64, i64)>,
}

type Cache<K> = Mutex<(HashMap<K, Arc<[u8]>>, usize)>;

/// One state of the index of some roots.
pub struct Snapshot {
    pub(super) database: Database,
    /// Counts the states of the database.
    pub generation: i64,
    /// The roots that were asked for and are in the database.
    pub roots: Vec<(RootId, String)>,
    /// Roots that were asked for and have no complete index.
    pub incomplete: Vec<String>,
    /// Live files, by root and path.
    pub files: Vec<FileRow>,
    /// Live segments.
    pub segments: Vec<SegmentRow>,
    /// For each chunk of all segments, the position of its file in `files`; [`Snapshot::DEAD`] for dead chunks.
    pub file_of_chunk: Vec<u32>,
    /// For each segment, the same for its files.
    pub file_of_ordinal: Vec<Vec<u32>>,
    pub(super) columns: OnceLock<Vec<Arc<Columns>>>,
    /// Columns of the snapshot before, to be taken over where the segment is the same.
    pub(super) inherited: HashMap<SegmentId, Arc<Columns>>,
    directories: Mutex<HashMap<SegmentId, Arc<Directory>>>,
    blocks: Cache<i64>,
    texts: Cache<(SegmentId, u32)>,
    text_reader: Mutex<TextReader>,
}

impl Snapshot {
    /// The file of a dead chunk.
    pub const DEAD: u32 = u32::MAX;

    /// Reads the state of `roots` (paths as stored).
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn load(
        database: &Database,
        connection: &Connection,
        roots: &[String],
        before: Option<&Self>,
    ) -> Result<Self> {
        let mut snapshot = Self {
            database: database.clone(),
            generation: read_generation(database, connection)?,
            roots: Vec::new(),
            incomplete: Vec::new(),
            files: Vec::new(),
            segments: Vec::new(),
            file_of_chunk: Vec::new(),
            file_of_ordinal: Vec::new(),
            columns: OnceLock::new(),
            inherited: before.map(Self::loaded_columns).unwrap_or_default(),
            directories: Mutex::default(),
            blocks: Mutex::default(),
            texts: Mutex::default(),
            text_reader: Mutex::default(),
        };
        for path in roots {
            let row: Option<(RootId, bool)> = database.run(|| {
                connection
                    .prepare_cached("SELECT id, complete FROM roots WHERE path = ?1")?
                    .query_row([path], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()
            })?;
            if !row.is_some_and(|(_, complete)| complete) {
                snapshot.incomplete.push(path.clone());
            }
            if let Some((id, _)) = row {
                snapshot.roots.push((id, path.clone()));
                snapshot.load_segments(connection, id)?;
                snapshot.load_files(connection, id)?;
            }
        }
        snapshot.map_chunks()?;
        Ok(snapshot)
    }

    fn load_segments(&mut self, connection: &Connection, root: RootId) -> Result<()> {
        let database = self.database.clone();
        let rows = database.run(|| {
            connection
                .prepare_cached(
                    "SELECT id, n_chunks, n_files, first_block, vector_sum, must_rewrite
                     FROM segments WHERE root = ?1 AND live = 1 ORDER BY id",
                )?
                .query_map([root], |row| {
                    let sum: Vec<u8> = row.get(4)?;
                    let segment = SegmentRow {
                        id: row.get(0)?,
                        root,
                        base: 0,
                        n_chunks: row.get(1)?,
                        n_files: row.get(2)?,
                        first_block: row.get(3)?,
                        has_dead: false,
                        must_rewrite: row.get(5)?,
                        vector_sum: Box::new([0; DIM]),
                    };
                    Ok((segment, sum))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        for (mut segment, sum) in rows {
            segment.vector_sum =
                decode_vector_sum(&sum).ok_or_else(|| database.damaged("a vector sum"))?;
            segment.base = self.n_chunks();
            let is_plausible =
                segment.base.checked_add(segment.n_chunks).is_some_and(|n| n < MAX_CHUNKS)
                    && segment.n_files < MAX_CHUNKS;
            if !is_plausible {
                return Err(database.damaged("the size of a segment"));
            }
            self.segments.push(segment);
        }
        Ok(())
    }

    fn load_files(&mut self, connection: &Connection, root: RootId) -> Result<()> {
        let database = self.database.clone();
        let positions: HashMap<SegmentId, u32> =
            (0..).zip(&self.segments).map(|(at, segment)| (segment.id, at)).collect();
        let mut languages: HashMap<String, &'static str> = HashMap::new();
        let files = database.run(|| {
            connection
                .prepare_cached(
                    "SELECT id, path, size, mtime_ns, content_hash, language, flags, segment, ordinal,
                            first_chunk, n_chunks, text_start
                     FROM files WHERE root = ?1 AND live = 1 ORDER BY path",
                )?
                .query_map([root], |row| read_file(row, root, &positions, &mut languages))?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        for mut file in files {
            let segment = self
                .segments
                .get(file.segment as usize)
                .ok_or_else(|| database.damaged("the segment of a file"))?;
            if file.first_chunk.checked_add(file.n_chunks).is_none_or(|end| end > segment.n_chunks)
            {
                return Err(database.damaged("the chunks of a file"));
            }
            file.first_chunk += segment.base;
            self.files.push(file);
        }
        Ok(())
    }

    fn map_chunks(&mut self) -> Result<()> {
        self.file_of_chunk = vec![Self::DEAD; self.n_chunks() as usize];
        self.file_of_ordinal =
            self.segments.iter().map(|s| vec![Self::DEAD; s.n_files as usize]).collect();
        let mut n_live = vec![0; self.segments.len()];
        for (at, file) in (0u32..).zip(&self.files) {
            n_live[file.segment as usize] += file.n_chunks;
            *self.file_of_ordinal[file.segment as usize]
                .get_mut(file.ordinal as usize)
                .ok_or_else(|| self.database.damaged("the number of a file"))? = at;
            let range = file.first_chunk as usize..(file.first_chunk + file.n_chunks) as usize;
            for owner in &mut self.file_of_chunk[range] {
                if *owner != Self::DEAD {
                    return Err(self.database.damaged("a chunk of two files"));
                }
                *owner = at;
            }
        }
        for (segment, n_live) in self.segments.iter_mut().zip(n_live) {
            segment.has_dead = n_live < segment.n_chunks;
        }
        Ok(())
    }

    /// Whether the database still is in this state.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn is_current(&self, connection: &Connection) -> Result<bool> {
        Ok(read_generation(&self.database, connection)? == self.generation)
    }

    /// Chunks of all segments, dead ones included.
    #[must_use]
    pub fn n_chunks(&self) -> u32 {
        self.segments.last().map_or(0, |segment| segment.base + segment.n_chunks)
    }

    /// Live chunks.
    #[must_use]
    pub fn n_live_chunks(&self) -> u64 {
        self.files.iter().map(|file| u64::from(file.n_chunks)).sum()
    }

    /// The path of a root.
    #[must_use]
    pub fn root_path(&self, root: RootId) -> &str {
        self.roots.iter().find(|(id, _)| *id == root).map_or("", |(_, path)| path)
    }

    /// The segment that holds chunk number `chunk`.
    #[must_use]
    pub fn segment_of(&self, chunk: u32) -> usize {
        self.segments.partition_point(|segment| segment.base <= chunk) - 1
    }

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
        let block = cached(&self.blocks, id, read, || self.database.damaged("a dictionary block"))?;
        match find_in_block(&block, term) {
            Ok(Some(entry)) => visit(entry.document_frequency, entry.postings),
            Ok(None) => {}
            Err(()) => return Err(self.database.damaged("a dictionary block")),
        }
        Ok(())
    }

    fn directory(&self, connection: &Connection, segment: &SegmentRow) -> Result<Arc<Directory>> {
        let mut directories =
            self.directories.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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
        let mut reader = self.text_reader.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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
        cached(&self.texts, (segment, row), read, || self.database.damaged("a text row"))
    }

    /// What the last run left out, by root and path.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn skipped(&self, connection: &Connection) -> Result<Vec<SkipRow>> {
        let mut skipped = Vec::new();
        for &(root, _) in &self.roots {
            skipped.extend(self.database.run(|| {
                connection
                    .prepare_cached(
                        "SELECT path, reason, size, mtime_ns FROM skipped WHERE root = ?1 ORDER BY path",
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
        Ok(skipped)
    }
}

/// Answers from the cache, or reads and keeps; an over-full cache starts anew. What is read is sealed.
fn cached<K: std::hash::Hash + Eq>(
    cache: &Cache<K>,
    key: K,
    read: impl FnOnce() -> Result<Vec<u8>>,
    damaged: impl FnOnce() -> StoreError,
) -> Result<Arc<[u8]>> {
    let mut cache = cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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

fn read_generation(database: &Database, connection: &Connection) -> Result<i64> {
    database.run(|| {
        connection
            .prepare_cached("SELECT value FROM meta WHERE key = 'generation'")?
            .query_row(params![], |row| row.get(0))
    })
}

fn read_file(
    row: &Row<'_>,
    root: RootId,
    positions: &HashMap<SegmentId, u32>,
    languages: &mut HashMap<String, &'static str>,
) -> rusqlite::Result<FileRow> {
    let language = row.get_ref(5)?.as_str()?;
    let language = match languages.get(language) {
        Some(name) => name,
        None => {
            let name = Language::from_name(language).unwrap_or(Language::PLAIN).name();
            languages.insert(language.to_owned(), name);
            name
        }
    };
    let flags: i64 = row.get(6)?;
    let segment: SegmentId = row.get(7)?;
    let hash = row.get_ref(4)?.as_blob()?;
    Ok(FileRow {
        id: row.get(0)?,
        root,
        meta: FileMeta {
            path: row.get(1)?,
            size: row.get::<_, i64>(2)? as u64,
            mtime_ns: row.get(3)?,
            content_hash: u128::from_le_bytes(hash.try_into().unwrap_or_default()),
            language,
            is_generated: flags & 1 != 0,
            is_truncated: flags & 2 != 0,
        },
        segment: positions.get(&segment).copied().unwrap_or(u32::MAX),
        ordinal: row.get(8)?,
        first_chunk: row.get(9)?,
        n_chunks: row.get(10)?,
        text_start: row.get::<_, i64>(11)? as u64,
    })
}

impl Snapshot {
    /// So that callers can tell an unbuilt index from an empty one.
    ///
    /// # Errors
    /// [`StoreError::NotBuilt`] naming the first root that has no complete index.
    pub fn require_complete(&self) -> Result<()> {
        match self.incomplete.first() {
            None => Ok(()),
            Some(root) => Err(StoreError::NotBuilt { root: root.into() }),
        }
    }
}
