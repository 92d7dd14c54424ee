//! Looking at the roots: all of a root, what may have changed of it, or nothing.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::plan::UNTRUSTED_MTIME_NS;
use super::progress::Meter;
use super::sync::root_key;
use crate::config::{Config, WalkConfig};
use crate::error::Error;
use crate::task::{CancelToken, Phase, ProgressSink};
use crate::walk::{self, Partial, Scope, Walk, WalkError};

/// A file changed this short a time before the walk may change again without its time of change showing it (file
/// systems count in steps of some milliseconds); its time is not trusted, so the next run reads it again.
const RACY_NS: i64 = 20_000_000;

/// What a run is to look at of a root.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// Everything.
    Whole,
    /// What may have changed.
    Within(Scope),
    /// It is known that nothing has changed.
    Nothing,
}

/// A root and its files as walked.
pub struct WalkedRoot<'a> {
    /// The root's real path.
    pub path: &'a Path,
    /// Its name in the database.
    pub key: String,
    /// What was looked at.
    pub look: Look,
    /// What was found there.
    pub walk: Walk,
    pub(super) identity: Identity,
}

impl WalkedRoot<'_> {
    /// Whether `path` was looked at.
    pub(super) fn covers(&self, path: &str) -> bool {
        match &self.look {
            Look::Whole => true,
            Look::Within(scope) => scope.covers(path),
            Look::Nothing => false,
        }
    }
}

/// Tells a folder from another that took its place.
pub(super) type Identity = (u64, u64);

pub(super) fn identity(path: &Path) -> Result<Identity, WalkError> {
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

/// Looks at the roots; `looks` says at what of each. Where a part cannot be known alone, the whole root is walked.
///
/// # Errors
/// [`Error::Walk`], [`Error::Cancelled`].
pub fn walk<'a>(
    cancel: &CancelToken,
    progress: &dyn ProgressSink,
    roots: &'a [PathBuf],
    looks: &[Look],
    config: &Config,
) -> Result<Vec<WalkedRoot<'a>>, Error> {
    let meter = Meter::start(progress, Phase::Walk, roots.len() as u64);
    let racy_since = now_ns().saturating_sub(RACY_NS);
    let mut walked = Vec::with_capacity(roots.len());
    for (path, look) in roots.iter().zip(looks) {
        let identity = identity(path)?;
        let (look, mut walk) = match look {
            Look::Nothing => (Look::Nothing, Walk::default()),
            Look::Whole => (Look::Whole, walk_root(cancel, path, roots, &config.walk)?),
            Look::Within(scope) => {
                let config = without_inner_roots(path, roots, &config.walk);
                match walk::walk_within(cancel, path, &config, scope)? {
                    Partial::Walked(walk) => (Look::Within(scope.clone()), walk),
                    Partial::NeedsWhole => (Look::Whole, walk::walk(cancel, path, &config)?),
                }
            }
        };
        for file in walk.files.iter_mut().filter(|file| file.mtime_ns >= racy_since) {
            file.mtime_ns = UNTRUSTED_MTIME_NS;
        }
        meter.file_done(&path.to_string_lossy());
        walked.push(WalkedRoot { path, key: root_key(path), look, walk, identity });
    }
    meter.finish();
    Ok(walked)
}

/// Walks one whole root of the workspace `roots`.
///
/// # Errors
/// [`WalkError`].
pub fn walk_root(
    cancel: &CancelToken,
    root: &Path,
    roots: &[PathBuf],
    config: &WalkConfig,
) -> Result<Walk, WalkError> {
    walk::walk(cancel, root, &without_inner_roots(root, roots, config))
}

/// A root inside another is a root of its own; the outer one leaves it out, so that no file is found twice.
fn without_inner_roots(root: &Path, roots: &[PathBuf], config: &WalkConfig) -> WalkConfig {
    let mut config = config.clone();
    for inner in roots.iter().filter(|inner| *inner != root) {
        if let Ok(relative) = inner.strip_prefix(root) {
            config.never_enter.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    config
}

fn now_ns() -> i64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos() as i64)
}
