//! Making staged segments current, and clearing away what is no longer needed.
//!
//! One transaction publishes everything about a root. What it makes superfluous, rows of segments that are gone, is
//! deleted afterwards in small transactions, so that the log stays small; a process that dies in between leaves rows
//! without a segment, which the next writer deletes.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::error::{Result, StoreError};
use super::files::FileRow;
use super::segment::SegmentId;
use super::snapshot::{RootId, SkipRow};
use super::writer::{StagedRow, Writer};

/// A change of more files than this is not listed; readers then read all rows, which costs less than looking up each.
/// Unmeasured.
const MAX_LOGGED: usize = 8192;
/// Generations whose changes are listed.
const LOGGED_GENERATIONS: i64 = 256;

/// Tables with the rows of segments, and how many of their rows make some megabytes.
const SEGMENT_TABLES: [(&str, i64); 3] = [("texts", 64), ("parts", 16), ("postings", 256)];

/// Unused pages are given back to the system once they are this share of the database, and that many.
const MAX_FREE_SHARE: f64 = 0.25;
const MIN_FREE_PAGES: i64 = 1024;
/// Pages given back in one transaction.
const VACUUM_PAGES: i64 = 1024;

/// The log is emptied at the end of a run if it is longer than this.
const LOG_BYTES: u64 = 4 << 20;

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
    /// Makes the staged segments of `root` current, together with `changes`, in one transaction.
    ///
    /// # Errors
    /// [`super::StoreError`]; nothing has then changed.
    pub fn publish(&mut self, root: RootId, changes: &Changes<'_>) -> Result<()> {
        self.begin()?;
        let published = self.publish_inside(root, changes);
        if published.is_err() {
            self.roll_back();
            return published;
        }
        self.commit()
    }

    fn publish_inside(&mut self, root: RootId, changes: &Changes<'_>) -> Result<()> {
        let mut changed: Vec<i64> = self.database.run(|| {
            self.connection
                .prepare_cached("SELECT id FROM files WHERE root = ?1 AND live = 0")?
                .query_map([root], |row| row.get(0))?
                .collect()
        })?;
        let removed: Vec<i64> = changes.removed.iter().map(|file| file.id).collect();
        self.remove_files(&removed)?;
        changed.extend(&removed);
        changed.extend(changes.touched.iter().map(|&(id, ..)| id));
        self.database.run(|| {
            let connection = &self.connection;
            let generation = next_generation(connection)?;
            log_changes(connection, generation, &changed)?;
            connection.execute("UPDATE files SET live = 1 WHERE root = ?1 AND live = 0", [root])?;
            connection
                .execute("UPDATE segments SET live = 1 WHERE root = ?1 AND live = 0", [root])?;
            connection.execute("UPDATE roots SET complete = 1 WHERE id = ?1", [root])?;
            let mut mark =
                connection.prepare_cached("UPDATE segments SET must_rewrite = 1 WHERE id = ?1")?;
            for &segment in &changes.hidden {
                mark.execute([segment])?;
            }
            if !changes.hidden.is_empty() {
                connection.execute("INSERT OR REPLACE INTO meta VALUES('hidden', 1)", [])?;
            }
            let mut touch = connection
                .prepare_cached("UPDATE files SET size = ?2, mtime_ns = ?3 WHERE id = ?1")?;
            for &(id, size, mtime_ns) in &changes.touched {
                touch.execute(params![id, size as i64, mtime_ns])?;
            }
            if let Some(skipped) = &changes.skipped {
                connection
                    .execute("UPDATE roots SET skips = ?2 WHERE id = ?1", [root, generation])?;
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
            Ok(())
        })
    }

    /// Deletes file rows and segments without a file. A chunk without a file is dead.
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
            let mut drop_empty = self.connection.prepare_cached(
                "DELETE FROM segments WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM files WHERE segment = ?1)",
            )?;
            for segment in segments {
                drop_empty.execute([segment])?;
            }
            Ok(())
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

    /// Deletes the rows of segments that are gone or were never finished.
    ///
    /// # Errors
    /// [`super::StoreError`]. What is left costs space alone.
    pub fn collect_garbage(&mut self) -> Result<()> {
        for (table, n_rows) in SEGMENT_TABLES {
            for segment in self.orphans(table)? {
                loop {
                    self.begin()?;
                    let n_deleted = self.database.run(|| {
                        self.connection
                            .prepare_cached(&format!(
                                "DELETE FROM {table} WHERE rowid IN
                                 (SELECT rowid FROM {table} WHERE segment = ?1 LIMIT ?2)"
                            ))?
                            .execute([segment, n_rows])
                    })?;
                    self.commit()?;
                    if (n_deleted as i64) < n_rows {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The segments that have rows in `table` and do not exist.
    fn orphans(&self, table: &str) -> Result<Vec<SegmentId>> {
        self.database.run(|| {
            let mut next = self.connection.prepare_cached(&format!(
                "SELECT min(segment), min(segment) IN (SELECT id FROM segments)
                 FROM {table} WHERE segment > ?1"
            ))?;
            let mut orphans = Vec::new();
            let mut last = i64::MIN;
            // A step per segment: the table has an index that begins with it.
            loop {
                let (segment, exists): (Option<SegmentId>, Option<bool>) =
                    next.query_row([last], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let Some(segment) = segment else { return Ok(orphans) };
                if exists == Some(false) {
                    orphans.push(segment);
                }
                last = segment;
            }
        })
    }

    /// What a person should be told about the database, once: code and message.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn take_notice(&mut self) -> Result<Option<(String, String)>> {
        let has_notice: bool = self.database.run(|| {
            self.connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'notice')",
                [],
                |row| row.get(0),
            )
        })?;
        if !has_notice {
            return Ok(None);
        }
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

    /// Moves the log into the database and empties it, if it is long. Readers may prevent that; the log then stays until
    /// the next time.
    pub fn checkpoint(&self) {
        if self.database.log_bytes() > LOG_BYTES {
            self.empty_log();
        }
    }

    /// Whether the log is empty now.
    fn empty_log(&self) -> bool {
        let is_busy: rusqlite::Result<bool> =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        matches!(is_busy, Ok(false))
    }

    /// Once no trace is left of what a rule has hidden, not in the log either, forgets that there was any. Until then every
    /// run comes back to it, whatever ended the one before.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn confirm_hidden(&mut self) -> Result<()> {
        let is_left: bool = self.database.run(|| {
            self.connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM segments WHERE must_rewrite = 1)",
                [],
                |row| row.get(0),
            )
        })?;
        if !is_left && self.empty_log() {
            self.begin()?;
            self.database
                .run(|| self.connection.execute("DELETE FROM meta WHERE key = 'hidden'", []))?;
            self.commit()?;
        }
        Ok(())
    }

    /// Gives pages back to the system if many are unused.
    ///
    /// # Errors
    /// [`super::StoreError`]. What is left costs space alone.
    pub fn give_space_back(&self) -> Result<()> {
        let count = |what: &str| -> Result<i64> {
            self.database
                .run(|| self.connection.query_row(&format!("PRAGMA {what}"), [], |row| row.get(0)))
        };
        let n_pages = count("page_count")?;
        let mut n_free = count("freelist_count")?;
        if n_free < MIN_FREE_PAGES || (n_free as f64) < MAX_FREE_SHARE * n_pages as f64 {
            return Ok(());
        }
        while n_free > 0 {
            self.database.run(|| {
                self.connection.execute_batch(&format!("PRAGMA incremental_vacuum({VACUUM_PAGES})"))
            })?;
            let left = count("freelist_count")?;
            if left >= n_free {
                break;
            }
            n_free = left;
        }
        Ok(())
    }

    /// Removes everything about the roots at `paths`. On a full disk, where even that cannot be written, an empty database
    /// takes the place of one that holds no other roots.
    ///
    /// # Errors
    /// [`super::StoreError`].
    pub fn clear(mut self, paths: &[String]) -> Result<()> {
        let cleared = self.clear_rows(paths);
        let Err(StoreError::DiskFull { .. }) = cleared else { return cleared };
        self.roll_back();
        let others: Vec<String> = self.database.run(|| {
            self.connection
                .prepare("SELECT path FROM roots")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()
        })?;
        if !others.iter().all(|path| paths.contains(path)) {
            return cleared;
        }
        let Self { database, connection, lock, .. } = self;
        drop(connection);
        let replaced = database.recreate();
        drop(lock);
        replaced
    }

    fn clear_rows(&mut self, paths: &[String]) -> Result<()> {
        self.begin()?;
        self.database.run(|| {
            let connection = &self.connection;
            let generation = next_generation(connection)?;
            log_everything(connection, generation)?;
            for path in paths {
                let id: Option<RootId> = connection
                    .query_row("SELECT id FROM roots WHERE path = ?1", [path], |row| row.get(0))
                    .optional()?;
                let Some(id) = id else { continue };
                connection.execute(
                    "DELETE FROM records WHERE file IN (SELECT id FROM files WHERE root = ?1)",
                    [id],
                )?;
                for table in ["segments", "files", "skipped"] {
                    connection.execute(&format!("DELETE FROM {table} WHERE root = ?1"), [id])?;
                }
                connection.execute("DELETE FROM roots WHERE id = ?1", [id])?;
            }
            Ok(())
        })?;
        self.commit()?;
        self.collect_garbage()?;
        self.give_space_back()?;
        self.empty_log();
        Ok(())
    }
}

/// Counts the states of the database up.
pub(super) fn next_generation(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached(
            "UPDATE meta SET value = value + 1 WHERE key = 'generation' RETURNING value",
        )?
        .query_row([], |row| row.get(0))
}

/// Lists the rows of `files` that `generation` changes.
pub(super) fn log_changes(
    connection: &Connection,
    generation: i64,
    files: &[i64],
) -> rusqlite::Result<()> {
    if files.len() > MAX_LOGGED {
        return log_everything(connection, generation);
    }
    let mut insert = connection.prepare_cached("INSERT OR IGNORE INTO changes VALUES(?1, ?2)")?;
    for file in files {
        insert.execute([generation, *file])?;
    }
    let start = generation - LOGGED_GENERATIONS;
    connection.prepare_cached("DELETE FROM changes WHERE generation <= ?1")?.execute([start])?;
    connection
        .prepare_cached("UPDATE meta SET value = max(value, ?1) WHERE key = 'log_start'")?
        .execute([start])?;
    Ok(())
}

/// Says that `generation` changes more than is worth listing.
fn log_everything(connection: &Connection, generation: i64) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM changes", [])?;
    connection.execute("UPDATE meta SET value = ?1 WHERE key = 'log_start'", [generation])?;
    Ok(())
}
