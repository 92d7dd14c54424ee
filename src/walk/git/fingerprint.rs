//! Which of git's own files matter for a fingerprint of the rules?
//!
//! In: a repository, a hasher. Out: the hasher fed with what bears on ignore rules and nothing else of git's files: not
//! their bytes but what is read from them, so that changes that do not matter do not show.

use std::fs;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::config::{GitEnvironment, Settings};
use super::repository::Repository;
use crate::walk::regular;

/// Feeds bytes so that no two sequences of them look the same.
pub(in crate::walk) fn feed(hasher: &mut Xxh3, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// Feeds what a file holds; an absent file differs from an empty one.
pub(in crate::walk) fn feed_content(hasher: &mut Xxh3, content: Option<Vec<u8>>) {
    hasher.update(&[u8::from(content.is_some())]);
    feed(hasher, &content.unwrap_or_default());
}

/// Feeds what applies outside of repositories.
pub(in crate::walk) fn feed_outside(environment: &GitEnvironment, hasher: &mut Xxh3) {
    feed_settings(&Settings::outside(environment), hasher);
}

/// The user's ignore file outside of repositories.
pub(in crate::walk) fn excludes_file_outside(environment: &GitEnvironment) -> Option<PathBuf> {
    Settings::outside(environment).excludes_file
}

impl Repository {
    /// Feeds where the repository keeps its files.
    pub(in crate::walk) fn feed_place(&self, hasher: &mut Xxh3) {
        feed_path(hasher, Some(&self.git_dir));
        feed_path(hasher, Some(&self.common_dir));
    }

    /// Feeds the head, the settings, the ignore files outside of the work tree and the tracked paths.
    pub(in crate::walk) fn feed_rules(&self, hasher: &mut Xxh3) {
        let head = self.git_dir.join("HEAD");
        match fs::read_link(&head) {
            Ok(target) => feed_path(hasher, Some(&target)),
            Err(_) => feed_content(hasher, regular::read(&head, regular::MAX_SETTINGS_BYTES)),
        }
        feed_settings(&self.settings, hasher);
        let exclude = regular::read(&self.info_exclude(), regular::MAX_IGNORE_FILE_BYTES);
        feed_content(hasher, exclude);
        self.tracked().paths().for_each(|path| feed(hasher, path));
        // No path is empty: the end of the list shows.
        feed(hasher, b"");
    }

    /// The folders that hold what [`Repository::feed_rules`] reads; some may not be there.
    pub(in crate::walk) fn folders(&self) -> Vec<PathBuf> {
        let mut folders =
            vec![self.git_dir.clone(), self.common_dir.clone(), self.common_dir.join("info")];
        folders.extend(self.excludes_file().and_then(Path::parent).map(Path::to_path_buf));
        folders
    }
}

fn feed_settings(settings: &Settings, hasher: &mut Xxh3) {
    let flags = [settings.ignore_case, settings.bare, settings.sha256];
    hasher.update(&flags.map(u8::from));
    feed_path(hasher, settings.worktree.as_deref());
    feed_path(hasher, settings.excludes_file.as_deref());
    let read = |file| regular::read(file, regular::MAX_IGNORE_FILE_BYTES);
    feed_content(hasher, settings.excludes_file.as_deref().and_then(read));
}

fn feed_path(hasher: &mut Xxh3, path: Option<&Path>) {
    feed_content(hasher, path.map(|path| path.as_os_str().as_encoded_bytes().to_vec()));
}
