//! The live files of a snapshot: all of them, or those of an earlier snapshot and what changed since.
//!
//! In: the tables `files` and `changes`. Out: [`FileRow`]s by root and path. A snapshot that knows an earlier one of the
//! same roots reads only the rows that `changes` names, so that a saved file costs a few rows on an index of any size.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row};

use super::error::Result;
use super::segment::{FileMeta, SegmentId};
use super::snapshot::{RootId, Snapshot};
use crate::source::Language;

const COLUMNS: &str = "id, path, size, mtime_ns, content_hash, language, flags, segment, ordinal,
    first_chunk, n_chunks, text_start, root";

/// A live file.
#[derive(Clone, Debug)]
pub struct FileRow {
    /// Row of the `files` table.
    pub id: i64,
    /// Its root.
    pub root: RootId,
    /// The file.
    pub meta: Arc<FileMeta>,
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

impl Snapshot {
    /// Reads the files of all roots.
    pub(super) fn load_files(&mut self, connection: &Connection) -> Result<()> {
        let positions = self.positions();
        let mut languages = Languages::default();
        for (root, _) in self.roots.clone() {
            let files = self.database.run(|| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM files WHERE root = ?1 AND live = 1 ORDER BY path"
                    ))?
                    .query_map([root], |row| read_file(row, &positions, &mut languages))?
                    .collect::<rusqlite::Result<Vec<_>>>()
            })?;
            for file in files {
                let file = self.placed(file)?;
                self.files.push(file);
            }
        }
        Ok(())
    }

    /// Takes the files of `before` over and reads those that changed since. False if that cannot be done: then nothing
    /// was taken over.
    pub(super) fn update_files(&mut self, connection: &Connection, before: &Self) -> Result<bool> {
        let log_start: i64 = self.database.run(|| {
            connection
                .prepare_cached("SELECT value FROM meta WHERE key = 'log_start'")?
                .query_row([], |row| row.get(0))
        })?;
        if before.roots != self.roots || before.generation < log_start {
            return Ok(false);
        }
        let changed: BTreeSet<i64> = self.database.run(|| {
            connection
                .prepare_cached("SELECT file FROM changes WHERE generation > ?1")?
                .query_map([before.generation], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()
        })?;
        let positions = self.positions();
        let Some(mut files) = self.retained(before, &changed, &positions) else {
            return Ok(false);
        };
        let mut languages = Languages::default();
        for id in changed {
            let row = self.database.run(|| {
                connection
                    .prepare_cached(&format!(
                        "SELECT {COLUMNS} FROM files WHERE id = ?1 AND live = 1"
                    ))?
                    .query_row([id], |row| read_file(row, &positions, &mut languages))
                    .optional()
            })?;
            if let Some(row) = row.filter(|row| self.roots.iter().any(|&(id, _)| id == row.root)) {
                files.push(self.placed(row)?);
            }
        }
        let rank: HashMap<RootId, usize> =
            self.roots.iter().enumerate().map(|(at, &(root, _))| (root, at)).collect();
        // Two sorted runs: what stays, and what is new.
        files.sort_by(|a, b| (rank[&a.root], &a.meta.path).cmp(&(rank[&b.root], &b.meta.path)));
        self.files = files;
        Ok(true)
    }

    /// The files of `before` but for those in `changed`, placed in the segments of this snapshot. `None` if one of them
    /// lies in a segment that is gone.
    fn retained(
        &self,
        before: &Self,
        changed: &BTreeSet<i64>,
        positions: &HashMap<SegmentId, u32>,
    ) -> Option<Vec<FileRow>> {
        let moved: Vec<Option<(u32, u32, u32)>> = before
            .segments
            .iter()
            .map(|old| {
                let at = *positions.get(&old.id)?;
                Some((at, old.base, self.segments[at as usize].base))
            })
            .collect();
        let mut files = Vec::with_capacity(before.files.len() + changed.len());
        for file in &before.files {
            if changed.contains(&file.id) {
                continue;
            }
            let (segment, old_base, new_base) = moved[file.segment as usize]?;
            let first_chunk = file.first_chunk - old_base + new_base;
            files.push(FileRow { segment, first_chunk, ..file.clone() });
        }
        Some(files)
    }

    fn positions(&self) -> HashMap<SegmentId, u32> {
        (0..).zip(&self.segments).map(|(at, segment)| (segment.id, at)).collect()
    }

    /// A row as stored, with its first chunk counted over all segments.
    fn placed(&self, mut file: FileRow) -> Result<FileRow> {
        let segment = self
            .segments
            .get(file.segment as usize)
            .ok_or_else(|| self.database.damaged("the segment of a file"))?;
        if file.first_chunk.checked_add(file.n_chunks).is_none_or(|end| end > segment.n_chunks) {
            return Err(self.database.damaged("the chunks of a file"));
        }
        file.first_chunk += segment.base;
        Ok(file)
    }
}

/// Language names as stored, and those that outlive the statement.
#[derive(Default)]
struct Languages(HashMap<String, &'static str>);

impl Languages {
    fn name(&mut self, stored: &str) -> &'static str {
        if let Some(name) = self.0.get(stored) {
            return name;
        }
        let name = Language::from_name(stored).unwrap_or(Language::PLAIN).name();
        self.0.insert(stored.to_owned(), name);
        name
    }
}

fn read_file(
    row: &Row<'_>,
    positions: &HashMap<SegmentId, u32>,
    languages: &mut Languages,
) -> rusqlite::Result<FileRow> {
    let language = languages.name(row.get_ref(5)?.as_str()?);
    let flags: i64 = row.get(6)?;
    let segment: SegmentId = row.get(7)?;
    let hash = row.get_ref(4)?.as_blob()?;
    Ok(FileRow {
        id: row.get(0)?,
        root: row.get(12)?,
        meta: Arc::new(FileMeta {
            path: row.get(1)?,
            size: row.get::<_, i64>(2)? as u64,
            mtime_ns: row.get(3)?,
            content_hash: u128::from_le_bytes(hash.try_into().unwrap_or_default()),
            language,
            is_generated: flags & 1 != 0,
            is_truncated: flags & 2 != 0,
        }),
        segment: positions.get(&segment).copied().unwrap_or(u32::MAX),
        ordinal: row.get(8)?,
        first_chunk: row.get(9)?,
        n_chunks: row.get(10)?,
        text_start: row.get::<_, i64>(11)? as u64,
    })
}
