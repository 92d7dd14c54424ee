//! Which repository does a folder belong to?
//!
//! In: a folder. Out: its repository: the folders that hold git's files, the settings, the tracked paths (read when
//! first asked for). A `.git` that git would not take for a repository's is none.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use super::config::{GitEnvironment, Settings};
use super::index::TrackedPaths;
use crate::walk::regular;

/// A repository with a work tree.
#[derive(Debug)]
pub(in crate::walk) struct Repository {
    pub(super) git_dir: PathBuf,
    /// The folder shared by all work trees of the repository; without links in it.
    pub(super) common_dir: PathBuf,
    pub(super) settings: Settings,
    tracked: OnceCell<TrackedPaths>,
}

impl Repository {
    /// The repository whose work tree has its top at `folder`.
    pub(in crate::walk) fn at(environment: &GitEnvironment, folder: &Path) -> Option<Self> {
        let git_dir = resolve_git_dir(&folder.join(".git"))?;
        let common_dir = common_dir_of(&git_dir)?;
        let settings = Settings::of(environment, &git_dir, &common_dir);
        let repository = Self { git_dir, common_dir, settings, tracked: OnceCell::new() };
        // A bare repository has no work tree of its own, only linked ones.
        (repository.is_linked_worktree() || !repository.settings.bare).then_some(repository)
    }

    /// Whether the work tree is one of several, not the repository's first.
    pub(in crate::walk) fn is_linked_worktree(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// Whether `folder`, the top of the work tree and without links, is the one place where the repository's own work
    /// tree can be. Of all folders that lead to one common folder this holds for one at most.
    pub(in crate::walk) fn is_own_worktree(&self, folder: &Path) -> bool {
        if self.is_linked_worktree() {
            return false;
        }
        match &self.settings.worktree {
            Some(path) => {
                fs::canonicalize(self.git_dir.join(path)).is_ok_and(|path| path == folder)
            }
            None => fs::symlink_metadata(folder.join(".git")).is_ok_and(|found| found.is_dir()),
        }
    }

    /// The folder shared by all work trees of the repository, which tells repositories apart.
    pub(in crate::walk) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether names that differ in case only are the same to git.
    pub(in crate::walk) fn ignores_case(&self) -> bool {
        self.settings.ignore_case
    }

    /// The ignore file of the user that applies in this repository.
    pub(in crate::walk) fn excludes_file(&self) -> Option<&Path> {
        self.settings.excludes_file.as_deref()
    }

    /// The ignore file of this repository that is not part of the work tree.
    pub(in crate::walk) fn info_exclude(&self) -> PathBuf {
        self.common_dir.join("info/exclude")
    }

    /// Whether git tracks the path, relative to the top of the work tree.
    pub(in crate::walk) fn tracks(&self, path: &[u8]) -> bool {
        self.tracked().contains(path)
    }

    /// Whether git tracks something below the folder, relative to the top of the work tree.
    pub(in crate::walk) fn tracks_below(&self, folder: &[u8]) -> bool {
        self.tracked().contains_below(folder)
    }

    pub(super) fn tracked(&self) -> &TrackedPaths {
        self.tracked.get_or_init(|| {
            let hash_bytes = if self.settings.sha256 { 32 } else { 20 };
            TrackedPaths::read(&self.git_dir, hash_bytes, self.settings.ignore_case)
        })
    }
}

/// The ignore file of the user that applies outside of repositories, and whether case is ignored there.
pub(in crate::walk) fn outside(environment: &GitEnvironment) -> (Option<PathBuf>, bool) {
    let settings = Settings::outside(environment);
    (settings.excludes_file, settings.ignore_case || cfg!(any(windows, target_os = "macos")))
}

/// Whether the entries of a folder are those of a repository without a work tree.
pub(in crate::walk) fn contains_bare_repository(folder: &Path) -> bool {
    is_git_dir(folder)
}

fn resolve_git_dir(dot_git: &Path) -> Option<PathBuf> {
    let metadata = fs::metadata(dot_git).ok()?;
    let git_dir = if metadata.is_dir() {
        dot_git.to_path_buf()
    } else {
        let content = regular::read_text(dot_git)?;
        let target = content.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
        dot_git.parent()?.join(target)
    };
    is_git_dir(&git_dir).then(|| fs::canonicalize(&git_dir).ok()).flatten()
}

fn common_dir_of(git_dir: &Path) -> Option<PathBuf> {
    match regular::read_text(&git_dir.join("commondir")) {
        Some(content) => {
            fs::canonicalize(git_dir.join(content.trim_end_matches(['\n', '\r']))).ok()
        }
        None => Some(git_dir.to_path_buf()),
    }
}

/// As git tells: a head, objects and references.
fn is_git_dir(folder: &Path) -> bool {
    let common_dir = match regular::read_text(&folder.join("commondir")) {
        Some(content) => folder.join(content.trim_end_matches(['\n', '\r'])),
        None => folder.to_path_buf(),
    };
    has_valid_head(folder)
        && common_dir.join("objects").is_dir()
        && common_dir.join("refs").is_dir()
}

fn has_valid_head(folder: &Path) -> bool {
    let head = folder.join("HEAD");
    if let Ok(target) = fs::read_link(&head) {
        return target.starts_with("refs");
    }
    let Some(content) = regular::read_text(&head) else { return false };
    match content.strip_prefix("ref:") {
        Some(name) => name.trim_start().starts_with("refs/"),
        None => content.len() >= 40 && content.as_bytes()[..40].iter().all(u8::is_ascii_hexdigit),
    }
}
