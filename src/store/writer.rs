//! Writing: staged segments in small transactions, then one transaction that makes them current.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::codec::{encode_records, seal};
use super::columns::encode_vector_sum;
use super::database::Database;
use super::error::Result;
use super::lock::WriteLock;
use super::segment::{FileMeta, SegmentId, SegmentSummary, StagedFile};
use super::snapshot::{FileRow, RootId, SkipRow, Snapshot};

/// A staged file of an interrupted run.
#[derive(Clone, Debug)]
pub struct StagedRow {
    id: i64,
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
    _lock: WriteLock,
}

/// What a run changes about one root besides its staged segments.
#[derive(Default)]
pub struct Changes<'a> {
    /// Files that are gone or replaced.
    pub removed: Vec<&'a FileRow>,
    /// Files whose content is as before under a new stat: row and new size and time.
    pub touched: Vec<(i64, u64, i64)>,
    /// The whole skip report, if it differs from the stored one.
    pub skipped: Option<Vec<SkipRow>>,
    /// Segments that hold text of files that a rule now leaves out; the next [`Writer::compact`] rewrites them.
    pub hidden: BTreeSet<SegmentId>,
}

impl Writer {
    /// Opens the database for writing and clears away what a dead writer left half-written.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn open(database: &Database, lock: WriteLock) -> Result<Self> {
        let connection = database.connect()?;
        let mut writer =
            Self { database: database.clone(), connection, in_transaction: false, _lock: lock };
        writer.collect_garbage()?;
        Ok(writer)
    }

    /// Removes rows of segments that were never finished.
    fn collect_garbage(&mut self) -> Result<()> {
        for table in ["texts", "parts", "postings"] {
            let orphan: Option<SegmentId> = self.database.run(|| {
                self.connection
                    .query_row(
                        &format!(
                            "SELECT DISTINCT segment FROM {table}
                             WHERE segment NOT IN (SELECT id FROM segments) LIMIT 1"
                        ),
                        [],
                        |row| row.get(0),
                    )
                    .optional()
            })?;
            if orphan.is_some() {
                self.begin()?;
                self.database.run(|| {
                    self.connection.execute_batch(&format!(
                        "DELETE FROM {table} WHERE segment NOT IN (SELECT id FROM segments)"
                    ))
                })?;
            }
        }
        self.commit()
    }

    pub(super) fn begin(&mut self) -> Result<()> {
        if !self.in_transaction {
            self.database.run(|| self.connection.execute_batch("BEGIN IMMEDIATE"))?;
            self.in_transaction = true;
        }
        Ok(())
    }

    /// Makes everything written so far durable (as staged).
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn commit(&mut self) -> Result<()> {
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
        self.begin()?;
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
        self.begin()?;
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
        self.begin()?;
        self.insert_segment(root, summary, false)?;
        for file in &summary.files {
            self.insert_file(root, summary.id, file)?;
        }
        self.commit()
    }

    pub(super) fn insert_segment(
        &self,
        root: RootId,
        summary: &SegmentSummary,
        live: bool,
    ) -> Result<()> {
        self.database.run(|| {
            self.connection
                .prepare_cached(
                    "UPDATE meta SET value = max(value, ?1) WHERE key = 'last_segment'",
                )?
                .execute([summary.id])?;
            let mut first_block = 0;
            let mut insert = self
                .connection
                .prepare_cached("INSERT INTO postings(segment, data) VALUES(?1, ?2)")?;
            for (at, block) in summary.blocks.iter().enumerate() {
                let id = insert.insert(params![summary.id, seal(block.clone())])?;
                if at == 0 {
                    first_block = id;
                }
            }
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

    /// Forgets staged files that are no longer as they were.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn drop_staged(&mut self, rows: &[StagedRow]) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        self.begin()?;
        let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
        self.remove_files(&ids)?;
        self.commit()
    }

    /// Makes the staged segments of `root` current, together with `changes`, in one transaction.
    ///
    /// # Errors
    /// [`super::StoreError`]; nothing has then changed.
    pub fn publish(&mut self, root: RootId, changes: &Changes<'_>) -> Result<()> {
        self.begin()?;
        let result = self.publish_inside(root, changes);
        if result.is_err() {
            self.in_transaction = false;
            // The first failure is the one to report.
            let _ = self.connection.execute_batch("ROLLBACK");
            return result;
        }
        self.commit()
    }

    fn publish_inside(&mut self, root: RootId, changes: &Changes<'_>) -> Result<()> {
        let removed: Vec<i64> = changes.removed.iter().map(|file| file.id).collect();
        self.remove_files(&removed)?;
        self.database.run(|| {
            let connection = &self.connection;
            connection.execute("UPDATE files SET live = 1 WHERE root = ?1 AND live = 0", [root])?;
            connection
                .execute("UPDATE segments SET live = 1 WHERE root = ?1 AND live = 0", [root])?;
            connection.execute("UPDATE roots SET complete = 1 WHERE id = ?1", [root])?;
            let mut mark =
                connection.prepare_cached("UPDATE segments SET must_rewrite = 1 WHERE id = ?1")?;
            for &segment in &changes.hidden {
                mark.execute([segment])?;
            }
            let mut touch = connection
                .prepare_cached("UPDATE files SET size = ?2, mtime_ns = ?3 WHERE id = ?1")?;
            for &(id, size, mtime_ns) in &changes.touched {
                touch.execute(params![id, size as i64, mtime_ns])?;
            }
            if let Some(skipped) = &changes.skipped {
                connection.execute("DELETE FROM skipped WHERE root = ?1", [root])?;
                let mut insert =
                    connection.prepare_cached("INSERT INTO skipped VALUES(?1,?2,?3,?4,?5)")?;
                for row in skipped {
                    let (size, mtime) = row
                        .seen
                        .map_or((None, None), |(size, mtime)| (Some(size as i64), Some(mtime)));
                    insert.execute(params![root, row.path, row.reason, size, mtime])?;
                }
            }
            bump_generation(connection)
        })
    }

    /// Deletes file rows and drops segments without a file. A chunk without a file is dead.
    fn remove_files(&self, ids: &[i64]) -> Result<()> {
        let mut segments: BTreeSet<SegmentId> = BTreeSet::new();
        self.database.run(|| {
            let mut delete = self
                .connection
                .prepare_cached("DELETE FROM files WHERE id = ?1 RETURNING segment")?;
            let mut forget =
                self.connection.prepare_cached("DELETE FROM records WHERE file = ?1")?;
            for id in ids {
                segments.insert(delete.query_row([id], |row| row.get(0))?);
                forget.execute([id])?;
            }
            for &segment in &segments {
                let is_empty: bool = self
                    .connection
                    .prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM files WHERE segment = ?1)")?
                    .query_row([segment], |row| row.get(0))?;
                if is_empty {
                    drop_segment(&self.connection, segment)?;
                }
            }
            Ok(())
        })
    }

    /// What a person should be told about the database, once: code and message.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn take_notice(&mut self) -> Result<Option<(String, String)>> {
        self.begin()?;
        let notice: Option<String> = self.database.run(|| {
            self.connection
                .query_row("DELETE FROM meta WHERE key = 'notice' RETURNING value", [], |row| {
                    row.get(0)
                })
                .optional()
        })?;
        self.commit()?;
        let split = |text: String| text.split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned()));
        Ok(notice.and_then(split))
    }

    /// Moves the log into the database and empties it. Readers may prevent that; the log then stays until the next time.
    pub fn checkpoint(&self) {
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// Removes everything about the roots at `paths`.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn clear(&mut self, paths: &[String]) -> Result<()> {
        self.begin()?;
        self.database.run(|| {
            for path in paths {
                let connection = &self.connection;
                let id: Option<RootId> = connection
                    .query_row("SELECT id FROM roots WHERE path = ?1", [path], |row| row.get(0))
                    .optional()?;
                let Some(id) = id else { continue };
                for table in ["texts", "parts", "postings"] {
                    connection.execute(
                        &format!("DELETE FROM {table} WHERE segment IN (SELECT id FROM segments WHERE root = ?1)"),
                        [id],
                    )?;
                }
                connection.execute(
                    "DELETE FROM records WHERE file IN (SELECT id FROM files WHERE root = ?1)",
                    [id],
                )?;
                for table in ["segments", "files", "skipped"] {
                    connection.execute(&format!("DELETE FROM {table} WHERE root = ?1"), [id])?;
                }
                connection.execute("DELETE FROM roots WHERE id = ?1", [id])?;
            }
            bump_generation(&self.connection)
        })?;
        self.commit()?;
        // Gives the space back to the system; a failure costs space, not data.
        let _ = self.connection.execute_batch("VACUUM");
        self.checkpoint();
        Ok(())
    }

    /// Reads the state that the next [`Writer::publish`] changes.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn snapshot(&self, roots: &[String]) -> Result<Snapshot> {
        Snapshot::load(&self.database, &self.connection, roots, None)
    }

    /// The skip report as stored, by path.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn skipped(&self, snapshot: &Snapshot) -> Result<Vec<SkipRow>> {
        snapshot.skipped(&self.connection)
    }

    /// Where the database is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }
}

pub(super) fn bump_generation(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'", [])?;
    Ok(())
}

pub(super) fn drop_segment(connection: &Connection, segment: SegmentId) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM texts WHERE segment = ?1",
        "DELETE FROM parts WHERE segment = ?1",
        "DELETE FROM postings WHERE segment = ?1",
        "DELETE FROM segments WHERE id = ?1",
    ] {
        connection.prepare_cached(statement)?.execute([segment])?;
    }
    Ok(())
}
