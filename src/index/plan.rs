//! What changed? Compares what was walked with what is stored, by stat alone.

use std::collections::HashMap;

use crate::store::{FileRow, SkipRow, StagedRow};
use crate::walk::FileEntry;

/// Stands for the time of last change of a file that changed too short a time ago.
pub const UNTRUSTED_MTIME_NS: i64 = -1;

/// What a run has to do for one root.
#[derive(Default)]
pub struct Plan<'a> {
    /// Files to read: new ones, and changed ones with their row.
    pub read: Vec<(&'a FileEntry, Option<&'a FileRow>)>,
    /// Rows of files that are gone.
    pub removed: Vec<&'a FileRow>,
    /// For each file that an interrupted run has read already, the row that it replaces.
    pub resumed: Vec<Option<&'a FileRow>>,
    /// Staged rows that no longer fit.
    pub stale: Vec<StagedRow>,
    /// Files that were read before, in vain, and have not changed since.
    pub unusable: Vec<&'a SkipRow>,
}

/// Compares. `walked` and `rows` are ordered by path, and of the same part of the root.
pub fn plan<'a>(
    walked: &'a [FileEntry],
    rows: Vec<&'a FileRow>,
    staged: Vec<StagedRow>,
    skipped: &'a [SkipRow],
) -> Plan<'a> {
    let mut plan = Plan::default();
    let unusable: HashMap<&str, &SkipRow> = skipped
        .iter()
        .filter(|row| row.seen.is_some())
        .map(|row| (row.path.as_str(), row))
        .collect();
    let mut staged: HashMap<String, StagedRow> =
        staged.into_iter().map(|row| (row.path.clone(), row)).collect();
    let mut rows = rows.into_iter().peekable();
    for entry in walked {
        while let Some(gone) = rows.next_if(|row| row.meta.path < entry.path) {
            plan.removed.push(gone);
        }
        let row = rows.next_if(|row| row.meta.path == entry.path);
        let stat = (entry.size, entry.mtime_ns);
        // A time that could not be trusted equals no other, not even itself.
        let is_trusted = entry.mtime_ns != UNTRUSTED_MTIME_NS;
        if is_trusted && row.is_some_and(|row| (row.meta.size, row.meta.mtime_ns) == stat) {
            continue;
        }
        if let Some(skip) =
            unusable.get(entry.path.as_str()).filter(|skip| is_trusted && skip.seen == Some(stat))
        {
            plan.unusable.push(skip);
            plan.removed.extend(row);
            continue;
        }
        match staged.remove(&entry.path) {
            Some(done) if is_trusted && (done.size, done.mtime_ns) == stat => {
                plan.resumed.push(row)
            }
            other => {
                plan.stale.extend(other);
                plan.read.push((entry, row));
            }
        }
    }
    plan.removed.extend(rows);
    plan.stale.extend(staged.into_values());
    plan
}
