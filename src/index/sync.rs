//! One run: walk, plan, read, publish.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::pipeline::{self, Outcome, Resources};
use super::plan::{Plan, UNTRUSTED_MTIME_NS, plan};
use super::progress::Meter;
use crate::config::{Config, PerformanceMode, WalkConfig};
use crate::error::Error;
use crate::store::{Changes, Database, FileRow, RootId, SkipRow, Snapshot, Writer};
use crate::task::{CancelToken, Phase, ProgressSink};
use crate::walk::{self, Walk, WalkError};

/// A file changed this short a time before the walk may change again without its time of change showing it (file
/// systems count in steps of some milliseconds); its time is not trusted, so the next run reads it again.
const RACY_NS: i64 = 20_000_000;

/// How long a run waits for that of another process if there is a complete index to answer from meanwhile.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How long it waits if there is none.
const PATIENCE_WITHOUT_INDEX: Duration = Duration::from_secs(120);

/// Memory for segments in the making, over all workers.
const SEGMENT_BYTES: usize = 160 << 20;

/// What a run did.
#[derive(Default, Debug)]
pub struct SyncReport {
    /// Files that were new.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that were as before.
    pub unchanged: u64,
    /// What a person should be told once about the database: code and message.
    pub notice: Option<(&'static str, String)>,
}

/// A root and its files as walked.
struct WalkedRoot<'a> {
    path: &'a Path,
    key: String,
    identity: Identity,
    walk: Walk,
}

/// Tells a folder from another that took its place.
type Identity = (u64, u64);

fn identity(path: &Path) -> Result<Identity, WalkError> {
    let missing = || WalkError::Missing { path: path.to_path_buf() };
    let metadata = path.metadata().ok().filter(std::fs::Metadata::is_dir).ok_or_else(missing)?;
    #[cfg(unix)]
    let identity = {
        use std::os::unix::fs::MetadataExt;
        (metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let identity = {
        let created = metadata.created().ok();
        let since = created.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        (0, since.map_or(0, |since| since.as_nanos() as u64))
    };
    Ok(identity)
}

/// A root inside another is a root of its own; the outer one leaves it out, so that no file is found twice.
fn without_inner_roots(root: &Path, roots: &[PathBuf], config: &WalkConfig) -> WalkConfig {
    let mut config = config.clone();
    for inner in roots.iter().filter(|inner| *inner != root) {
        if let Ok(relative) = inner.strip_prefix(root) {
            let mut rule = String::from("/");
            for c in relative.to_string_lossy().replace('\\', "/").chars() {
                if matches!(c, '*' | '?' | '[' | ']' | '\\' | '!' | '#' | ' ') {
                    rule.push('\\');
                }
                rule.push(c);
            }
            rule.push('/');
            config.exclude.push(rule);
        }
    }
    config
}

/// Brings the index of `roots` up to date. `current` is the state that readers see now.
///
/// # Errors
/// [`Error::Walk`], [`Error::Store`], [`Error::Cancelled`]. The index is then as it was, and finished files are kept as
/// a checkpoint.
pub fn sync(
    cancel: &CancelToken,
    progress: &dyn ProgressSink,
    database: &Database,
    current: (&Snapshot, &[SkipRow]),
    roots: &[PathBuf],
    config: &Config,
) -> Result<SyncReport, Error> {
    let walked = walk_roots(cancel, progress, roots, config)?;
    if let Some(report) = nothing_to_do(current, &walked) {
        return Ok(report);
    }
    let has_index = current.0.incomplete.is_empty();
    let patience = if has_index { PATIENCE } else { PATIENCE_WITHOUT_INDEX };
    let lock = database.lock(cancel, patience)?.ok_or(Error::Cancelled)?;
    let mut writer = Writer::open(database, lock)?;
    let keys: Vec<String> = walked.iter().map(|root| root.key.clone()).collect();
    let snapshot = writer.snapshot(&keys, Some(current.0))?;
    let mut report = SyncReport::default();
    let mut is_hidden = false;
    for root in &walked {
        is_hidden |=
            sync_root(cancel, progress, &mut writer, &snapshot, root, config, &mut report)?;
    }
    report.notice = writer.take_notice()?.map(|(code, message)| {
        (if code == "INDEX_DAMAGED" { "INDEX_DAMAGED" } else { "INDEX_OUTDATED" }, message)
    });
    writer.collect_garbage()?;
    writer.compact(cancel, &snapshot)?;
    writer.checkpoint(is_hidden);
    Ok(report)
}

/// The name of a root in the database.
#[must_use]
pub fn root_key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn walk_roots<'a>(
    cancel: &CancelToken,
    progress: &dyn ProgressSink,
    roots: &'a [PathBuf],
    config: &Config,
) -> Result<Vec<WalkedRoot<'a>>, Error> {
    let meter = Meter::start(progress, Phase::Walk, roots.len() as u64);
    let racy_since = now_ns().saturating_sub(RACY_NS);
    let mut walked = Vec::with_capacity(roots.len());
    for path in roots {
        let identity = identity(path)?;
        let mut walk = walk::walk(cancel, path, &without_inner_roots(path, roots, &config.walk))?;
        for file in walk.files.iter_mut().filter(|file| file.mtime_ns >= racy_since) {
            file.mtime_ns = UNTRUSTED_MTIME_NS;
        }
        meter.file_done(&path.to_string_lossy());
        walked.push(WalkedRoot { path, key: root_key(path), identity, walk });
    }
    meter.finish();
    Ok(walked)
}

fn now_ns() -> i64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as i64)
}

/// A report if readers already see what was walked; nothing is then locked or written.
fn nothing_to_do(
    (snapshot, skipped): (&Snapshot, &[SkipRow]),
    walked: &[WalkedRoot<'_>],
) -> Option<SyncReport> {
    if !snapshot.incomplete.is_empty() {
        return None;
    }
    let mut report = SyncReport::default();
    for root in walked {
        let (id, _) = snapshot.roots.iter().find(|(_, path)| *path == root.key)?;
        let rows = rows_of(&snapshot.files, *id);
        let skipped: Vec<SkipRow> = skipped.iter().filter(|row| row.root == *id).cloned().collect();
        let plan = plan(&root.walk.files, rows, Vec::new(), &skipped);
        let is_done = plan.read.is_empty()
            && plan.removed.is_empty()
            && skip_report(*id, &root.walk, &plan, &[]) == skipped;
        if !is_done {
            return None;
        }
        report.unchanged += plan.unchanged;
    }
    Some(report)
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
    snapshot: &Snapshot,
    root: &WalkedRoot<'_>,
    config: &Config,
    report: &mut SyncReport,
) -> Result<bool, Error> {
    let id = writer.root(&root.key)?;
    let skipped: Vec<SkipRow> = snapshot
        .skipped(writer.connection())?
        .iter()
        .filter(|row| row.root == id)
        .cloned()
        .collect();
    let staged = writer.staged(id)?;
    let plan = plan(&root.walk.files, rows_of(&snapshot.files, id), staged, &skipped);
    writer.drop_staged(&plan.stale)?;

    let meter = Meter::start(progress, Phase::Index, plan.read.len() as u64);
    let outcomes =
        pipeline::run(cancel, &meter, writer, (id, root.path), &plan.read, &resources(config))?;
    cancel.check()?;
    // Files that vanished because their root did are not files that were removed.
    if identity(root.path)? != root.identity {
        return Err(WalkError::Missing { path: root.path.to_path_buf() }.into());
    }
    meter.finish();

    let meter = Meter::start(progress, Phase::Commit, 0);
    let mut changes = Changes { removed: plan.removed.clone(), ..Changes::default() };
    report.unchanged += plan.unchanged;
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
                report.unchanged += 1;
            }
            Outcome::Indexed => {
                n_indexed += 1;
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
    changes.skipped = (skip_report != skipped).then_some(skip_report);
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
    let mut report: Vec<SkipRow> = walk
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
    report.sort_by(|a, b| (&a.path, &a.reason).cmp(&(&b.path, &b.reason)));
    report
}

fn resources(config: &Config) -> Resources {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let n_workers = match config.performance_mode {
        PerformanceMode::Balanced => cores.div_ceil(2),
        PerformanceMode::Performance => cores,
        PerformanceMode::Memory => 1,
    };
    let total = match config.performance_mode {
        PerformanceMode::Memory => SEGMENT_BYTES / 4,
        PerformanceMode::Balanced | PerformanceMode::Performance => SEGMENT_BYTES,
    };
    Resources {
        n_workers,
        segment_bytes: total / n_workers,
        use_syntax: config.use_syntax,
        use_vectors: config.use_vectors,
    }
}
