//! Which repositories inside the root are walked?
//!
//! In: a folder with a `.git` in it. Out: the folder under the rules of its repository, or a skip. Of the work trees of
//! one repository one is walked: that of the root, else the repository's own, else the first by path. Own work trees are
//! entered when they are met, since no two folders can be one of the same repository; all others wait until everything
//! else was listed. So the answer does not depend on the order in which folders are listed.
//!
//! Where a part of the root is asked for, the answer is the same or that the whole is needed: a work tree that waits is
//! known only if the one that goes before it was met on the way; and a repository that came or went inside the part may
//! decide about others outside of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::git::Repository;
use super::judge::Rules;
use super::lister::{Folder, Lister};
use super::start;

/// What is known of the repositories of a walk.
#[derive(Default)]
pub(super) struct Repositories<'a> {
    /// Work trees that are not their repository's own, kept for the end: by then it is known which were walked.
    waiting: Vec<Folder<'a>>,
    /// The common folder of the repository that the root is a sub-folder of. Its work trees below the root are copies
    /// only if something of the repository itself was found there.
    pub(super) above: Option<PathBuf>,
    /// The common folders of the repositories that were walked.
    walked: BTreeSet<PathBuf>,
    /// All tops of repositories that were met, but for the root.
    pub(super) tops: Vec<Top>,
}

/// A folder with a `.git` in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Top {
    /// Relative to the root.
    pub(super) path: String,
    /// The folder that its work trees share; None: git would not take the folder for a work tree's top.
    pub(super) common_dir: Option<PathBuf>,
    /// Whether it was walked as a repository of its own.
    pub(super) is_walked: bool,
}

impl Repositories<'_> {
    /// `rules`: those of the root. `is_top`: whether the root is the top of its repository.
    pub(super) fn new(rules: &Rules, is_top: bool) -> Self {
        let common_dir = rules.home.as_ref().map(|home| home.repository.common_dir().to_path_buf());
        let mut repositories = Self::default();
        if is_top {
            repositories.walked.extend(common_dir);
        } else {
            repositories.above = common_dir;
        }
        repositories
    }
}

impl<'a> Lister<'a> {
    /// A folder with a `.git` in it: a repository of its own, whose own rules then apply and no others of git's.
    /// None: nothing is to be done with it now.
    pub(super) fn enter_repository(
        &mut self,
        folder: Folder<'a>,
        absolute: &Path,
    ) -> Option<Folder<'a>> {
        let is_part_of_outer = folder.rules.home.as_ref().is_some_and(|home| {
            let path = folder.path.trim_end_matches('/').as_bytes();
            home.repository.tracks_below(&path[home.top_bytes..])
        });
        if is_part_of_outer {
            // git takes such a folder for a plain part of the outer repository.
            return Some(folder);
        }
        let is_new = folder.reach.is_all() && !self.scope.is_whole();
        let Some(repository) = Repository::at(self.environment, absolute) else {
            // It may be about to become one: git makes the folder first.
            self.needs_whole |= is_new;
            self.note_top(&folder, None, false);
            return Some(folder);
        };
        let common_dir = repository.common_dir();
        if self.repositories.walked.contains(common_dir) {
            self.skip_copy(&folder, &repository);
            return None;
        }
        if !repository.is_own_worktree(absolute) {
            self.repositories.waiting.push(folder);
            return None;
        }
        if is_new {
            self.needs_whole = true;
            return None;
        }
        Some(self.with_repository(folder, repository))
    }

    /// Decides about one of the work trees that wait, once nothing else is left to be listed. False: none waits.
    pub(super) fn settle_worktree(&mut self) -> bool {
        if let Some(common_dir) = self.repositories.above.take() {
            if self.scope.is_whole() {
                if !self.found.files.is_empty() {
                    self.repositories.walked.insert(common_dir);
                }
            } else if self.has_file_elsewhere {
                self.repositories.walked.insert(common_dir);
            } else {
                // Whether there is any file may have changed with the part that is asked for.
                self.needs_whole = true;
                return false;
            }
        }
        self.repositories.waiting.sort_by(|left, right| right.path.cmp(&left.path));
        let Some(folder) = self.repositories.waiting.pop() else { return false };
        let Some(repository) = Repository::at(self.environment, &self.absolute(&folder.path))
        else {
            self.skip(&folder.path, "vanished while the folder was listed");
            return true;
        };
        if self.repositories.walked.contains(repository.common_dir()) {
            self.skip_copy(&folder, &repository);
        } else if self.scope.is_whole() {
            let folder = self.with_repository(folder, repository);
            self.pending.push(folder);
        } else {
            self.needs_whole = true;
            return false;
        }
        true
    }

    fn skip_copy(&mut self, folder: &Folder<'a>, repository: &Repository) {
        let common_dir = repository.common_dir();
        let kind = if repository.is_linked_worktree() { "linked" } else { "another" };
        let shown = common_dir.parent().unwrap_or(common_dir).display();
        let reason = format!("{kind} work tree of a repository that is indexed already ({shown})");
        self.skip(&folder.path, reason);
        self.note_top(folder, Some(common_dir), false);
    }

    fn with_repository(&mut self, folder: Folder<'a>, repository: Repository) -> Folder<'a> {
        let common_dir = repository.common_dir().to_path_buf();
        self.note_top(&folder, Some(&common_dir), true);
        self.repositories.walked.insert(common_dir);
        let rules = start::enter(self.config, repository, folder.path.len(), folder.rules.own);
        Folder { rules, is_entered: true, ..folder }
    }

    fn note_top(&mut self, folder: &Folder<'a>, common_dir: Option<&Path>, is_walked: bool) {
        let path = self.relative(&folder.path).to_owned();
        let common_dir = common_dir.map(Path::to_path_buf);
        self.repositories.tops.push(Top { path, common_dir, is_walked });
    }
}
