//! One run: walk, plan, read, publish.

use std::path::Path;
use std::time::Duration;

use super::pipeline::{self, Outcome, Source};
use super::plan::{Plan, plan};
use super::progress::Meter;
use super::resources::{Resources, resources};
use super::walked::{Look, WalkedRoot, identity};
use crate::config::Config;
use crate::error::Error;
use crate::store::{Changes, EmbeddingCache, FileRow, RootId, SkipRow, Snapshot, Writer};
use crate::task::{CancelToken, Phase, ProgressSink};
use crate::walk::{Walk, WalkError};

/// How long a run waits for that of another process if there is a complete index to answer from meanwhile.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits if there is none.
const PATIENCE_WITHOUT_INDEX: Duration = Duration::from_secs(120);

/// What runs may use beside the database and the files.
#[derive(Debug)]
pub struct Tools {
    /// Where vectors are looked up before they are made.
    pub cache: Option<EmbeddingCache>,
}

/// What a run did.
#[derive(Default, Debug)]
pub struct SyncReport {
    /// Files that were new.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files whose vectors were made.
    pub embedded: u64,
    /// Files whose vectors were in the cache.
    pub reused: u64,
    /// Whether text of a file was taken out that a rule has hidden.
    pub has_hidden: bool,
    /// What a person should be told once about the database: code and message.
    pub notice: Option<(&'static str, String)>,
}

/// How long to wait for the run of another process.
#[must_use]
pub fn patience(current: &Snapshot) -> Duration {
    if current.incomplete.is_empty() { PATIENCE } else { PATIENCE_WITHOUT_INDEX }
}

/// Whether parts of the roots are not enough to go by: one of them has no complete index, or an interrupted run left
/// something, which is published with the next change, so that all of the root has to be compared.
///
/// # Errors
/// [`Error::Store`].
pub fn needs_whole(writer: &Writer, snapshot: &Snapshot) -> Result<bool, Error> {
    if !snapshot.incomplete.is_empty() {
        return Ok(true);
    }
    for &(root, _) in &snapshot.roots {
        if writer.has_staged(root)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Brings the index up to date with what was `walked`, whole roots if [`needs_whole`] says so. Nothing may have been published since the walk began, but for
/// what it shows: a file that came later would be taken for one that is gone. `snapshot`: the newest state, of the
/// same roots.
///
/// # Errors
/// [`Error::Walk`], [`Error::Store`], [`Error::Cancelled`]. The index is then as it was, and finished files are kept as
/// a checkpoint.
pub fn sync(
    cancel: &CancelToken,
    progress: &dyn ProgressSink,
    writer: &mut Writer,
    snapshot: &Snapshot,
    walked: &[WalkedRoot<'_>],
    config: &Config,
    tools: &Tools,
) -> Result<SyncReport, Error> {
    let cache = tools.cache.as_ref().filter(|_| config.settings.vector_db.cache_enabled);
    let resources = resources(config, cache);
    let mut report = SyncReport::default();
    let mut is_hidden = snapshot.has_hidden;
    for root in walked.iter().filter(|root| root.look != Look::Nothing) {
        let id = match snapshot.roots.iter().find(|(_, path)| *path == root.key) {
            Some(&(id, _)) => id,
            None => writer.root(&root.key)?,
        };
        let at = (snapshot, id, root);
        is_hidden |= sync_root(cancel, progress, writer, at, &resources, &mut report)?;
    }
    report.has_hidden = is_hidden;
    report.notice = writer.take_notice()?.map(|(code, message)| {
        (if code == "INDEX_DAMAGED" { "INDEX_DAMAGED" } else { "INDEX_OUTDATED" }, message)
    });
    writer.collect_garbage()?;
    // A watched workspace merges when nobody waits.
    if is_hidden || walked.iter().any(|root| root.look == Look::Whole) {
        writer.compact(cancel, snapshot)?;
    }
    if is_hidden {
        writer.confirm_hidden()?;
    }
    writer.checkpoint();
    Ok(report)
}

/// The name of a root in the database.
#[must_use]
pub fn root_key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Whether readers already see what was walked; nothing then needs to be locked or written.
#[must_use]
pub fn is_current((snapshot, skipped): (&Snapshot, &[SkipRow]), walked: &[WalkedRoot<'_>]) -> bool {
    let is_done = |root: &WalkedRoot<'_>| {
        if root.look == Look::Nothing {
            return true;
        }
        let found = snapshot.roots.iter().find(|(_, path)| *path == root.key);
        let Some(&(id, _)) = found else { return false };
        let skipped = skipped_within(skipped, id, root);
        let rows = rows_within(&snapshot.files, id, &root.look);
        let plan = plan(&root.walk.files, rows, Vec::new(), &skipped);
        plan.read.is_empty()
            && plan.removed.is_empty()
            && skip_report(id, &root.walk, &plan, &[]) == skipped
    };
    snapshot.incomplete.is_empty() && !snapshot.has_hidden && walked.iter().all(is_done)
}

/// The skips of what was looked at, by path.
fn skipped_within(skipped: &[SkipRow], id: RootId, root: &WalkedRoot<'_>) -> Vec<SkipRow> {
    let is_within = |row: &&SkipRow| row.root == id && root.covers(&row.path);
    skipped.iter().filter(is_within).cloned().collect()
}

/// The rows of what is looked at of one root, by path.
fn rows_within<'a>(files: &'a [FileRow], id: RootId, look: &Look) -> Vec<&'a FileRow> {
    let rows = rows_of(files, id);
    let Look::Within(scope) = look else { return rows.iter().collect() };
    let mut within = Vec::new();
    for path in scope.paths() {
        let below = format!("{path}/");
        let at = rows.partition_point(|row| row.meta.path < path);
        within.extend(rows.get(at).filter(|row| row.meta.path == path));
        let at = rows.partition_point(|row| row.meta.path < below);
        within.extend(rows[at..].iter().take_while(|row| row.meta.path.starts_with(&below)));
    }
    within.sort_by(|a, b| a.meta.path.cmp(&b.meta.path));
    within
}

/// The rows of one root; `files` is ordered by root.
fn rows_of(files: &[FileRow], root: RootId) -> &[FileRow] {
    let start = files.iter().position(|file| file.root == root).unwrap_or(files.len());
    let n = files[start..].iter().take_while(|file| file.root == root).count();
    &files[start..start + n]
}

fn sync_root(
    cancel: &CancelToken,
    progress: &dyn ProgressSink,
    writer: &mut Writer,
    (snapshot, id, root): (&Snapshot, RootId, &WalkedRoot<'_>),
    resources: &Resources<'_>,
    report: &mut SyncReport,
) -> Result<bool, Error> {
    let all_skipped = snapshot.skipped(writer.connection())?;
    let skipped = skipped_within(&all_skipped, id, root);
    let staged = writer.staged(id)?;
    let rows = rows_within(&snapshot.files, id, &root.look);
    let is_first = rows_of(&snapshot.files, id).is_empty();
    let plan = plan(&root.walk.files, rows, staged, &skipped);
    writer.drop_staged(&plan.stale)?;

    let meter = Meter::start(progress, Phase::Index, plan.read.len() as u64);
    let jobs = (&plan.read[..], is_first);
    let outcomes = pipeline::run(cancel, &meter, writer, (id, root.path), jobs, resources)?;
    cancel.check()?;
    // Files that vanished because their root did are not files that were removed.
    if identity(root.path)? != root.identity {
        return Err(WalkError::Missing { path: root.path.to_path_buf() }.into());
    }
    meter.finish();

    let meter = Meter::start(progress, Phase::Commit, 0);
    let mut changes = Changes { removed: plan.removed.clone(), ..Changes::default() };
    report.removed += plan.removed.len() as u64;
    let mut unreadable = Vec::new();
    let mut n_indexed = 0;
    for &row in &plan.resumed {
        count_indexed(row, &mut changes, report);
    }
    for (at, outcome) in outcomes {
        let (entry, row) = plan.read[at];
        match outcome {
            Outcome::Same { id, size, mtime_ns } => {
                changes.touched.push((id, size, mtime_ns));
            }
            Outcome::Indexed(source) => {
                n_indexed += 1;
                report.embedded += u64::from(source == Source::Model);
                report.reused += u64::from(source == Source::Cache);
                count_indexed(row, &mut changes, report);
            }
            Outcome::Skipped { reason, transient } => {
                if let Some(row) = row {
                    changes.removed.push(row);
                    report.removed += 1;
                }
                let seen = (!transient).then_some((entry.size, entry.mtime_ns));
                unreadable.push(SkipRow { root: id, path: entry.path.clone(), reason, seen });
            }
        }
    }
    let skip_report = skip_report(id, &root.walk, &plan, &unreadable);
    if skip_report != skipped {
        let is_outside = |row: &&SkipRow| row.root == id && !root.covers(&row.path);
        let others = all_skipped.iter().filter(is_outside).cloned();
        changes.skipped = Some(sorted(others.chain(skip_report).collect()));
    }
    // A file that is still there was removed by a rule: no trace of its text may stay.
    changes.hidden = plan
        .removed
        .iter()
        .filter(|file| root.path.join(&file.meta.path).symlink_metadata().is_ok())
        .map(|file| snapshot.segments[file.segment as usize].id)
        .collect();
    let is_published = snapshot.incomplete.contains(&root.key)
        || !plan.resumed.is_empty()
        || n_indexed > 0
        || !changes.removed.is_empty()
        || !changes.touched.is_empty()
        || changes.skipped.is_some();
    if is_published {
        writer.publish(id, &changes)?;
    }
    meter.finish();
    Ok(!changes.hidden.is_empty())
}

fn count_indexed<'a>(row: Option<&'a FileRow>, changes: &mut Changes<'a>, report: &mut SyncReport) {
    match row {
        Some(row) => {
            changes.removed.push(row);
            report.changed += 1;
        }
        None => report.added += 1,
    }
}

/// What the walk left out, what is still unusable, and what was found unusable now, by path.
fn skip_report(root: RootId, walk: &Walk, plan: &Plan<'_>, unreadable: &[SkipRow]) -> Vec<SkipRow> {
    let report: Vec<SkipRow> = walk
        .skipped
        .iter()
        .map(|skip| SkipRow {
            root,
            path: skip.path.clone(),
            reason: skip.reason.clone(),
            seen: None,
        })
        .chain(plan.unusable.iter().map(|&row| row.clone()))
        .chain(unreadable.iter().cloned())
        .collect();
    sorted(report)
}

fn sorted(mut report: Vec<SkipRow>) -> Vec<SkipRow> {
    report.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
    report
}
