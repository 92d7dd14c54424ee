//! Which files are ours?
//!
//! In: a root folder and [`WalkConfig`]; or with them a [`Scope`], the paths that changed. Out: the regular files below
//! it that belong to the workspace, and every path left out, with a reason a person understands; of a scope, exactly
//! those that it covers, or the answer that the whole is needed.
//!
//! Invariants: the set is git's own (`git ls-files -co --exclude-standard`) less the exclusions of the
//! configuration; the order is that of the relative paths' bytes; no file is opened except ignore files
//! and git's own; links are never followed; one folder is open at a time.
//! A folder that cannot be read is a skip, not an error; the root itself not being a readable folder is one.
//!
//! Where git leaves the answer open:
//! - Outside of any repository, .gitignore files apply from the root down, and so does the user's ignore file.
//! - A repository inside the root, a checked-out submodule too, is walked under its own rules. The outer
//!   repository's rules bear on its folder as a whole.
//! - Of the work trees of one repository only one is walked: the repository's own, or else the first by path.
//!   The others are skips.
//! - A root inside a folder that its repository ignores, and tracks nothing of, is walked as if outside of it.
//! - A .sextantignore file has the last word: it can take back in what git's rules leave out; default exclusions too,
//!   if the last part of the rule names something (`!build/`, not `!*/`), and usual secrets, if that part speaks
//!   of them (`!.env` or `!*.pem`, not `!*.json`). As in git, nothing is taken back in below a folder that is left out.
//! - .git is never entered nor reported.

mod exclusion_tables;
mod exclusions;
mod git;
mod glob;
mod judge;
mod lister;
mod outside;
mod partial;
mod regular;
mod repositories;
mod rules;
mod scope;
mod start;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub use exclusions::SECRETS;
pub use git::GitEnvironment;
use lister::{Folder, Lister};
pub use outside::Outside;
pub use partial::{Partial, walk_within, walk_within_in};
use repositories::Repositories;
pub use scope::Scope;

use crate::config::WalkConfig;
use crate::task::{CancelToken, Cancelled};

/// A regular file that belongs to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Path relative to the root, with `/` between the parts.
    pub path: String,
    /// Bytes, from stat.
    pub size: u64,
    /// Time of last change in nanoseconds since 1970, from stat.
    pub mtime_ns: i64,
}

/// A path that was left out. For a folder, it stands for everything below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Path relative to the root, with `/` between the parts; bytes that are not UTF-8 are shown as U+FFFD.
    pub path: String,
    /// Why, in words for a person, lower case, without a final period.
    pub reason: String,
}

/// The files of one root.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Ordered by path.
    pub files: Vec<FileEntry>,
    /// Ordered by path.
    pub skipped: Vec<Skip>,
    /// Every folder that was listed, relative to the root, which is the empty path; ordered by bytes. Changes in other
    /// folders change no file of ours.
    pub folders: Vec<String>,
    /// What lies outside of these folders and yet decides which files are ours. Empty in a part of a walk.
    pub outside: Outside,
}

/// Why a root could not be walked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WalkError {
    /// There is nothing at the root's path.
    #[error("no folder at {path}; name an existing folder")]
    Missing {
        /// The root.
        path: PathBuf,
    },
    /// The root is a file.
    #[error("{path} is not a folder; name the folder that holds it")]
    NotAFolder {
        /// The root.
        path: PathBuf,
    },
    /// The root cannot be read.
    #[error("cannot read the folder {path}")]
    Unreadable {
        /// The root.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The run was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Lists the files of `root`, with git's settings from the environment of this process.
///
/// # Errors
/// [`WalkError`] if the root is not a readable folder or the token was cancelled.
pub fn walk(cancel: &CancelToken, root: &Path, config: &WalkConfig) -> Result<Walk, WalkError> {
    walk_in(cancel, root, config, &GitEnvironment::from_process())
}

/// As [`walk`], with git's settings from elsewhere.
///
/// # Errors
/// [`WalkError`] if the root is not a readable folder or the token was cancelled.
pub fn walk_in(
    cancel: &CancelToken,
    root: &Path,
    config: &WalkConfig,
    environment: &GitEnvironment,
) -> Result<Walk, WalkError> {
    let whole = Scope::whole();
    let (root, lister) = list(cancel, root, config, environment, &whole)?;
    let mut walk = lister.found;
    let tops = lister.repositories.tops;
    walk.outside = Outside::new(root, environment, tops);
    Ok(walk)
}

/// A walk of the part of `root` that `scope` asks for, and the root without links in it.
fn list<'a>(
    cancel: &CancelToken,
    root: &Path,
    config: &'a WalkConfig,
    environment: &'a GitEnvironment,
    scope: &'a Scope,
) -> Result<(PathBuf, Lister<'a>), WalkError> {
    cancel.check()?;
    let root = open_root(root)?;
    let begin = start::begin(config, environment, &root);
    let is_top = begin.path.is_empty();
    let mut lister = Lister {
        config,
        environment,
        root: root.clone(),
        root_bytes: begin.path.len(),
        scope,
        pending: Vec::new(),
        repositories: Repositories::new(&begin.rules, is_top),
        has_file_elsewhere: false,
        needs_whole: false,
        found: Walk::default(),
    };
    let reach = scope.reach();
    lister.pending.push(Folder { path: begin.path, rules: begin.rules, is_entered: true, reach });
    lister.run(cancel)?;
    let found = &mut lister.found;
    found.files.sort_by(|left, right| left.path.cmp(&right.path));
    found.skipped.sort_by(|left, right| left.path.cmp(&right.path));
    found.folders.sort_unstable();
    Ok((root, lister))
}

/// The root without links in it, once it is known to be a folder that can be read.
fn open_root(root: &Path) -> Result<PathBuf, WalkError> {
    let path = || root.to_path_buf();
    let failed = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => WalkError::Missing { path: path() },
        ErrorKind::NotADirectory => WalkError::NotAFolder { path: path() },
        _ => WalkError::Unreadable { path: path(), source },
    };
    let real = fs::canonicalize(root).map_err(failed)?;
    if !fs::metadata(&real).map_err(failed)?.is_dir() {
        return Err(WalkError::NotAFolder { path: path() });
    }
    fs::read_dir(&real).map_err(failed)?;
    Ok(real)
}
