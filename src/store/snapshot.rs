//! Reading one state of the database, from start to end.
//!
//! A [`Snapshot`] is derived from the database and can be dropped at any time. What it reads lazily (columns, postings,
//! text) must come from the same state: the reader holds a read transaction around [`Snapshot::load`] or
//! [`Snapshot::is_current`] and everything that follows.

use std::sync::{Arc, OnceLock};

use rusqlite::{Connection, OptionalExtension, params};
use xxhash_rust::xxh3::xxh3_64;

use super::columns::{Columns, decode_vector_sum};
use super::database::Database;
use super::error::{Result, StoreError};
use super::files::FileRow;
use super::reads::Caches;
use super::segment::SegmentId;
use crate::embed::DIM;

/// Number of a root within its database.
pub type RootId = i64;

/// More chunks than this are no index of ours: it would be a terabyte of text.
const MAX_CHUNKS: u32 = 1 << 30;

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
    pub(super) vector_sum: Arc<[i64; DIM]>,
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

/// One state of the index of some roots.
pub struct Snapshot {
    pub(super) database: Database,
    /// The name of the database; 0 for one that was made without.
    pub identity: u128,
    /// Counts the states of the database.
    pub generation: i64,
    /// The roots that were asked for and are in the database.
    pub roots: Vec<(RootId, String)>,
    /// Roots that were asked for and have no complete index.
    pub incomplete: Vec<String>,
    /// Whether a trace may be left of text that a rule has hidden.
    pub has_hidden: bool,
    /// Live files, by root and path.
    pub files: Vec<FileRow>,
    /// Live segments.
    pub segments: Vec<SegmentRow>,
    /// For each chunk of all segments, the position of its file in `files`; [`Snapshot::DEAD`] for dead chunks.
    pub file_of_chunk: Vec<u32>,
    /// For each segment, the same for its files.
    pub file_of_ordinal: Vec<Vec<u32>>,
    pub(super) columns: OnceLock<Vec<Arc<Columns>>>,
    /// What was left out, by root and path.
    pub(super) skipped: OnceLock<Arc<Vec<SkipRow>>>,
    /// The generation in which what was left out last changed, over all roots.
    skips: i64,
    pub(super) caches: Arc<Caches>,
}

impl Snapshot {
    /// The file of a dead chunk.
    pub const DEAD: u32 = u32::MAX;

    /// Reads the state of `roots` (paths as stored). With `before`, an earlier state of the same database, only what
    /// changed since is read.
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
            identity: read_identity(database, connection)?,
            generation: read_generation(database, connection)?,
            roots: Vec::new(),
            incomplete: Vec::new(),
            has_hidden: database.run(|| {
                connection
                    .prepare_cached("SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'hidden')")?
                    .query_row([], |row| row.get(0))
            })?,
            files: Vec::new(),
            segments: Vec::new(),
            file_of_chunk: Vec::new(),
            file_of_ordinal: Vec::new(),
            columns: OnceLock::new(),
            skipped: OnceLock::new(),
            skips: 0,
            caches: before.map(|before| Arc::clone(&before.caches)).unwrap_or_default(),
        };
        for path in roots {
            let row: Option<(RootId, bool, i64)> = database.run(|| {
                connection
                    .prepare_cached("SELECT id, complete, skips FROM roots WHERE path = ?1")?
                    .query_row([path], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                    .optional()
            })?;
            if !row.is_some_and(|(_, complete, _)| complete) {
                snapshot.incomplete.push(path.clone());
            }
            if let Some((id, _, skips)) = row {
                snapshot.skips = snapshot.skips.max(skips);
                snapshot.roots.push((id, path.clone()));
                snapshot.load_segments(connection, id, before)?;
            }
        }
        let is_updated = match before {
            Some(before) => snapshot.update_files(connection, before)?,
            None => false,
        };
        if !is_updated {
            snapshot.load_files(connection)?;
        }
        if let Some(before) = before
            && before.roots == snapshot.roots
            && before.skips == snapshot.skips
            && let Some(skipped) = before.skipped.get()
        {
            snapshot.skipped = OnceLock::from(Arc::clone(skipped));
        }
        snapshot.map_chunks()?;
        snapshot.caches.retain(&snapshot.segments);
        Ok(snapshot)
    }

    /// The same state with all roots of the database.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn of_all_roots(&self, connection: &Connection) -> Result<Self> {
        let roots: Vec<String> = self.database.run(|| {
            connection
                .prepare_cached("SELECT path FROM roots ORDER BY path")?
                .query_map([], |row| row.get(0))?
                .collect()
        })?;
        Self::load(&self.database, connection, &roots, None)
    }

    fn load_segments(
        &mut self,
        connection: &Connection,
        root: RootId,
        before: Option<&Self>,
    ) -> Result<()> {
        let database = self.database.clone();
        let known = |id: SegmentId| {
            let segment = before?.segments.iter().find(|segment| segment.id == id)?;
            Some(Arc::clone(&segment.vector_sum))
        };
        let rows = database.run(|| {
            connection
                .prepare_cached(
                    "SELECT id, n_chunks, n_files, first_block, must_rewrite, vector_sum
                     FROM segments WHERE root = ?1 AND live = 1 ORDER BY id",
                )?
                .query_map([root], |row| {
                    let id = row.get(0)?;
                    let vector_sum = match known(id) {
                        Some(sum) => Some(sum),
                        None => decode_vector_sum(row.get_ref(5)?.as_blob()?).map(Arc::from),
                    };
                    let (n_chunks, n_files) = (row.get(1)?, row.get(2)?);
                    let (first_block, must_rewrite) = (row.get(3)?, row.get(4)?);
                    Ok(vector_sum.map(|vector_sum| SegmentRow {
                        id,
                        root,
                        base: 0,
                        n_chunks,
                        n_files,
                        first_block,
                        has_dead: false,
                        must_rewrite,
                        vector_sum,
                    }))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()
        })?;
        for segment in rows {
            let mut segment = segment.ok_or_else(|| database.damaged("a vector sum"))?;
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

    /// The number of the state that the database is in.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn current_generation(database: &Database, connection: &Connection) -> Result<i64> {
        read_generation(database, connection)
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

    /// Tells a segment from those of other indexes with the same number.
    #[must_use]
    pub fn fingerprint(&self, segment: &SegmentRow) -> u64 {
        let mut bytes = self.identity.to_le_bytes().to_vec();
        bytes.extend_from_slice(&segment.id.to_le_bytes());
        xxh3_64(&bytes)
    }

    /// The segment that holds chunk number `chunk`.
    #[must_use]
    pub fn segment_of(&self, chunk: u32) -> usize {
        self.segments.partition_point(|segment| segment.base <= chunk) - 1
    }
}

fn read_identity(database: &Database, connection: &Connection) -> Result<u128> {
    let text: Option<String> = database.run(|| {
        connection
            .prepare_cached("SELECT value FROM meta WHERE key = 'uuid'")?
            .query_row(params![], |row| row.get(0))
            .optional()
    })?;
    Ok(text.and_then(|text| u128::from_str_radix(&text, 16).ok()).unwrap_or(0))
}

fn read_generation(database: &Database, connection: &Connection) -> Result<i64> {
    database.run(|| {
        connection
            .prepare_cached("SELECT value FROM meta WHERE key = 'generation'")?
            .query_row(params![], |row| row.get(0))
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
