//! What differs here from a commit?
//!
//! In: a repository, the commit that the server has indexed, and which files are in the local index. Out: the files of the
//! index that are not as in that commit, and the paths that are gone. git says so: staged or not, renamed (both names),
//! and untracked files that are not ignored. A commit that is not here is replaced by the upstream branch, and that is
//! said. Paths that are not UTF-8 are in no index and are left out. Files that git was told to take for unchanged
//! (`assume-unchanged`) count as unchanged.

use std::collections::{BTreeMap, BTreeSet};

use super::git::{Git, GitError};
use super::limits::RemoteLimits;
use super::types::Repository;
use crate::task::CancelToken;

/// The difference between the work tree and a commit. Paths are relative to the folder of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Files of the local index that are not as in the commit, in order.
    pub changed: Vec<String>,
    /// What the commit has and the work tree has not.
    pub gone: BTreeSet<String>,
    /// Whether the commit is not the one that was asked for, so that more may differ than is said.
    pub maybe_outdated: bool,
}

/// Why there is no difference to work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiffError {
    /// The caller does not want it any more.
    #[error("cancelled")]
    Cancelled,
    /// git did not say.
    #[error("{reason}")]
    Unknown {
        /// For a person.
        reason: String,
    },
    /// There are more paths than are looked at.
    #[error("more than {limit} paths differ or are new")]
    TooLarge {
        /// [`RemoteLimits::max_examined_paths`].
        limit: usize,
    },
}

impl From<GitError> for DiffError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::Cancelled => Self::Cancelled,
            error => Self::Unknown { reason: error.to_string() },
        }
    }
}

/// Compares the work tree with `commit`, or with the upstream branch if that is not known or not here.
///
/// # Errors
/// [`DiffError`].
pub fn diff(
    cancel: &CancelToken,
    repository: &Repository,
    commit: Option<&str>,
    limits: &RemoteLimits,
    is_indexed: impl Fn(&str) -> bool,
) -> Result<Diff, DiffError> {
    let git = Git::new(cancel, &repository.top, limits.diff_ms).without_filters()?;
    diff_with(&git, repository, commit, limits.max_examined_paths, is_indexed)
}

pub(super) fn diff_with(
    git: &Git<'_>,
    repository: &Repository,
    commit: Option<&str>,
    max_paths: usize,
    is_indexed: impl Fn(&str) -> bool,
) -> Result<Diff, DiffError> {
    let (base, maybe_outdated) = base(git, commit)?;
    let scope = match repository.prefix.as_str() {
        "" => ":/".to_owned(),
        prefix => format!(":(top,literal){prefix}"),
    };
    let too_large = |error| match error {
        GitError::TooLong { .. } => DiffError::TooLarge { limit: max_paths },
        error => DiffError::from(error),
    };
    let of_commit = git
        .run(
            &[
                "diff",
                "--name-status",
                "-z",
                // Both names of a renamed file.
                "--no-renames",
                "--no-ext-diff",
                "--no-textconv",
                "--no-relative",
                // A submodule is a repository of its own.
                "--ignore-submodules=all",
                "-O/dev/null",
                &base,
                "--",
                &scope,
            ],
            max_paths.saturating_mul(2),
        )
        .map_err(too_large)?;
    let left = max_paths.saturating_sub(of_commit.len() / 2);
    let untracked = git
        .run(
            &["ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", &scope],
            left,
        )
        .map_err(too_large)?;
    // Whether each path is still there. A file that was only taken out of git's index is deleted and untracked.
    let mut paths: BTreeMap<String, bool> = BTreeMap::new();
    let mut note = |path: &[u8], exists: bool| {
        let path = std::str::from_utf8(path).ok().and_then(|path| repository.in_folder(path));
        if let Some(path) = path {
            *paths.entry(path.to_owned()).or_default() |= exists;
        }
    };
    for change in of_commit.chunks_exact(2) {
        note(&change[1], change[0] != b"D");
    }
    for path in &untracked {
        note(path, true);
    }
    let mut diff = Diff { maybe_outdated, ..Diff::default() };
    for (path, exists) in paths {
        if !exists {
            diff.gone.insert(path);
        } else if is_indexed(&path) {
            diff.changed.push(path);
        }
    }
    Ok(diff)
}

/// The commit to compare with, and whether it is not the one that was asked for.
fn base(git: &Git<'_>, commit: Option<&str>) -> Result<(String, bool), DiffError> {
    let resolve = |name: &str| match git.line(&[
        "rev-parse",
        "--verify",
        "--quiet",
        &format!("{name}^{{commit}}"),
    ]) {
        Ok(commit) if is_commit_id(&commit) => Ok(Some(commit)),
        Ok(_) => Ok(None),
        Err(GitError::Failed { status: Some(1 | 128), .. }) => Ok(None),
        Err(error) => Err(DiffError::from(error)),
    };
    // What the server says is no name to look up, and no option.
    if let Some(commit) = commit.filter(|commit| is_commit_id(commit))
        && let Some(commit) = resolve(commit)?
    {
        return Ok((commit, false));
    }
    if let Some(upstream) = resolve("@{upstream}")? {
        return Ok((upstream, true));
    }
    let reason = match commit {
        Some(commit) => {
            let shown: String = commit.chars().filter(|c| !c.is_control()).take(40).collect();
            format!(
                "the indexed commit {shown} is not here, and the branch has no upstream; run git fetch"
            )
        }
        None => "the server names no commit, and the branch has no upstream".to_owned(),
    };
    // A folder that is no repository of its user says so here.
    git.line(&["rev-parse", "--git-dir"])?;
    Err(DiffError::Unknown { reason })
}

/// Whether this is a whole commit id (SHA-1 or SHA-256).
fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
