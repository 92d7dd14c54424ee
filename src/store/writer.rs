//! Writing staged segments, in many small transactions. [`super::publish`] makes them current.

use std::path::Path;

use rusqlite::{Connection, params};

use super::codec::{encode_records, seal};
use super::columns::encode_vector_sum;
use super::database::Database;
use super::error::Result;
use super::lock::WriteLock;
use super::segment::{FileMeta, SegmentId, SegmentSummary, StagedFile};
use super::snapshot::{RootId, Snapshot};

/// A transaction is committed after about this many bytes, so that the log stays small.
const COMMIT_BYTES: usize = 16 << 20;

/// A staged file of an interrupted run.
#[derive(Clone, Debug)]
pub struct StagedRow {
    pub(super) id: i64,
    /// Relative to its root.
    pub path: String,
    /// From stat.
    pub size: u64,
    /// From stat.
    pub mtime_ns: i64,
}

/// The one who may write. Holds the lock.
pub struct Writer {
    pub(super) database: Database,
    pub(super) connection: Connection,
    in_transaction: bool,
    uncommitted_bytes: usize,
    pub(super) lock: WriteLock,
}

impl Writer {
    /// Opens the database for writing and clears away what a dead writer left half-written.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn open(database: &Database, lock: WriteLock) -> Result<Self> {
        let connection = database.connect()?;
        let mut writer = Self {
            database: database.clone(),
            connection,
            in_transaction: false,
            uncommitted_bytes: 0,
            lock,
        };
        writer.collect_garbage()?;
        Ok(writer)
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        if !self.in_transaction {
            self.database.run(|| self.connection.execute_batch("BEGIN IMMEDIATE"))?;
            self.in_transaction = true;
        }
        Ok(())
    }

    /// Begins a transaction for `n_bytes` more, after committing one that is long enough.
    fn written(&mut self, n_bytes: usize) -> Result<()> {
        if self.uncommitted_bytes > COMMIT_BYTES {
            self.commit()?;
        }
        self.uncommitted_bytes += n_bytes;
        self.begin()
    }

    /// Makes everything written so far durable (as staged).
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn commit(&mut self) -> Result<()> {
        self.uncommitted_bytes = 0;
        if self.in_transaction {
            self.in_transaction = false;
            self.database.run(|| self.connection.execute_batch("COMMIT"))?;
        }
        Ok(())
    }

    /// The number that the next new segment may have.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn next_segment(&self) -> Result<SegmentId> {
        self.database.run(|| {
            self.connection.query_row(
                "SELECT value + 1 FROM meta WHERE key = 'last_segment'",
                [],
                |row| row.get(0),
            )
        })
    }

    /// The number of the root at `path`, new or known.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn root(&mut self, path: &str) -> Result<RootId> {
        self.begin()?;
        let id = self.database.run(|| {
            self.connection
                .execute("INSERT INTO roots(path) VALUES(?1) ON CONFLICT DO NOTHING", [path])?;
            self.connection.query_row("SELECT id FROM roots WHERE path = ?1", [path], |r| r.get(0))
        })?;
        self.commit()?;
        Ok(id)
    }

    /// Writes one row of a segment's text.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn add_text(&mut self, segment: SegmentId, row: u32, data: Vec<u8>) -> Result<()> {
        self.written(data.len())?;
        self.database.run(|| {
            self.connection
                .prepare_cached("INSERT INTO texts VALUES(?1, ?2, ?3)")?
                .execute(params![segment, row, seal(data)])
        })?;
        Ok(())
    }

    /// Writes the columns of some whole files' chunks.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn add_part(
        &mut self,
        segment: SegmentId,
        part: u32,
        lengths: Vec<u8>,
        kinds: Vec<u8>,
        vectors: Vec<u8>,
    ) -> Result<()> {
        self.written(vectors.len())?;
        self.database.run(|| {
            self.connection
                .prepare_cached("INSERT INTO parts VALUES(?1, ?2, ?3, ?4, ?5)")?
                .execute(params![segment, part, seal(lengths), seal(kinds), seal(vectors)])
        })?;
        Ok(())
    }

    /// Writes the rest of a segment and its files, and commits: the segment is now a checkpoint.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn add_segment(&mut self, root: RootId, summary: &SegmentSummary) -> Result<()> {
        let mut first_block = None;
        for block in &summary.blocks {
            let id = self.add_block(summary.id, block.clone())?;
            first_block.get_or_insert(id);
        }
        self.begin()?;
        self.insert_segment(root, summary, first_block.unwrap_or_default(), false)?;
        for file in &summary.files {
            self.insert_file(root, summary.id, file)?;
        }
        self.commit()
    }

    /// Writes the next dictionary block of a segment; gives its row. Rows of one segment are consecutive, because one
    /// segment's blocks are written after another's.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub(super) fn add_block(&mut self, segment: SegmentId, block: Vec<u8>) -> Result<i64> {
        self.written(block.len())?;
        self.database.run(|| {
            self.connection
                .prepare_cached("INSERT INTO postings(segment, data) VALUES(?1, ?2)")?
                .insert(params![segment, seal(block)])
        })
    }

    pub(super) fn insert_segment(
        &self,
        root: RootId,
        summary: &SegmentSummary,
        first_block: i64,
        live: bool,
    ) -> Result<()> {
        self.database.run(|| {
            self.connection
                .prepare_cached(
                    "UPDATE meta SET value = max(value, ?1) WHERE key = 'last_segment'",
                )?
                .execute([summary.id])?;
            self.connection
                .prepare_cached("INSERT INTO segments VALUES(?1,?2,?3,?4,?5,?6,?7,?8,0)")?
                .execute(params![
                    summary.id,
                    root,
                    live,
                    summary.n_chunks,
                    summary.files.len() as i64,
                    first_block,
                    seal(summary.directory.clone()),
                    encode_vector_sum(&summary.vector_sum),
                ])
        })?;
        Ok(())
    }

    fn insert_file(&self, root: RootId, segment: SegmentId, file: &StagedFile) -> Result<()> {
        let FileMeta { path, size, mtime_ns, content_hash, language, .. } = &file.meta;
        let flags = i64::from(file.meta.is_generated) | i64::from(file.meta.is_truncated) << 1;
        self.database.run(|| {
            let id = self
                .connection
                .prepare_cached(
                    "INSERT INTO files(root, path, live, size, mtime_ns, content_hash, language,
                        flags, segment, ordinal, first_chunk, n_chunks, text_start)
                     VALUES(?1,?2,0,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)",
                )?
                .insert(params![
                    root,
                    path,
                    *size as i64,
                    mtime_ns,
                    content_hash.to_le_bytes(),
                    language,
                    flags,
                    segment,
                    file.ordinal,
                    file.first_chunk,
                    file.records.len() as i64,
                    file.text_start as i64,
                ])?;
            self.connection
                .prepare_cached("INSERT INTO records VALUES(?1, ?2)")?
                .execute(params![id, seal(encode_records(&file.records))])
        })?;
        Ok(())
    }

    /// Whether an interrupted run left staged files of `root`.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn has_staged(&self, root: RootId) -> Result<bool> {
        self.database.run(|| {
            self.connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM files WHERE root = ?1 AND live = 0)")?
                .query_row([root], |row| row.get(0))
        })
    }

    /// The staged files of `root`, by path.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn staged(&self, root: RootId) -> Result<Vec<StagedRow>> {
        self.database.run(|| {
            self.connection
                .prepare_cached(
                    "SELECT id, path, size, mtime_ns FROM files WHERE root = ?1 AND live = 0 ORDER BY path",
                )?
                .query_map([root], |row| {
                    Ok(StagedRow {
                        id: row.get(0)?,
                        path: row.get(1)?,
                        size: row.get::<_, i64>(2)? as u64,
                        mtime_ns: row.get(3)?,
                    })
                })?
                .collect()
        })
    }

    /// Gives up what was not committed.
    pub(super) fn roll_back(&mut self) {
        self.uncommitted_bytes = 0;
        if std::mem::take(&mut self.in_transaction) {
            // Whoever asks has an error to report already.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Reads the state that the next [`Writer::publish`] changes; with `before`, an earlier state of the same roots, only
    /// what changed since.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn snapshot(&self, roots: &[String], before: Option<&Snapshot>) -> Result<Snapshot> {
        Snapshot::load(&self.database, &self.connection, roots, before)
    }

    /// The connection that writes.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Where the database is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }
}
