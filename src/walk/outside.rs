//! What lies outside of the walked folders and yet decides which files are ours?
//!
//! In: the repositories that a walk met. Out: the few folders to watch for it, and a fingerprint of what matters, made
//! from disk at each call: the place and head of each repository, its settings and tracked paths, the ignore files that
//! are not in a walked folder.
//!
//! Invariants: a commit on a branch, other branches, lock files and the upkeep of git's store leave the fingerprint as it
//! is. Only regular files within a bound are read. Never fails: what cannot be read is absent.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::git::{self, GitEnvironment, Repository};
use super::regular;
use super::repositories::Top;
use super::scope::Scope;

/// What a full walk depended on beyond the folders that it listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Without links in it; None: of no walk.
    root: Option<PathBuf>,
    environment: GitEnvironment,
    /// Folders with a `.git` in them below the root.
    tops: Vec<Top>,
    folders: Vec<PathBuf>,
}

impl Outside {
    pub(super) fn new(root: PathBuf, environment: &GitEnvironment, tops: Vec<Top>) -> Self {
        let mut outside =
            Self { root: Some(root), environment: environment.clone(), tops, folders: Vec::new() };
        outside.folders = outside.find_folders();
        outside
    }

    /// The folders that hold what [`Outside::fingerprint`] reads: absolute, there at the time of the walk, ordered,
    /// without repeats. To be watched without those below them.
    #[must_use]
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Whether a change of these paths can change what is walked elsewhere: one of them was the work tree that others of
    /// its repository stand back for. The root is then to be walked as a whole.
    #[must_use]
    pub fn needs_whole(&self, scope: &Scope) -> bool {
        let stand_back = |common_dir: &PathBuf| {
            self.tops
                .iter()
                .any(|top| !top.is_walked && top.common_dir.as_ref() == Some(common_dir))
        };
        self.tops.iter().any(|top| {
            top.is_walked
                && scope.covers(&top.path)
                && top.common_dir.as_ref().is_some_and(stand_back)
        })
    }

    /// A hash of all that matters, read from disk now. Two walks of the same folders with the same fingerprint are under
    /// the same rules.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        let mut hasher = Xxh3::new();
        let Some(root) = &self.root else { return hasher.digest128() };
        git::feed_outside(&self.environment, &mut hasher);
        let enclosing = enclosing(&self.environment, root);
        feed_repository(enclosing.as_ref().map(|(_, repository)| repository), true, &mut hasher);
        if let Some((top, _)) = &enclosing {
            git::feed(&mut hasher, top.as_os_str().as_encoded_bytes());
            for folder in above(root, top) {
                for name in [".gitignore", ".sextantignore"] {
                    let limit = regular::MAX_IGNORE_FILE_BYTES;
                    git::feed_content(
                        &mut hasher,
                        regular::read_no_link(&folder.join(name), limit),
                    );
                }
            }
        }
        for top in &self.tops {
            let repository = Repository::at(&self.environment, &root.join(&top.path));
            feed_repository(repository.as_ref(), top.is_walked, &mut hasher);
        }
        hasher.digest128()
    }

    fn find_folders(&self) -> Vec<PathBuf> {
        let Some(root) = &self.root else { return Vec::new() };
        let mut folders: Vec<PathBuf> = Vec::new();
        folders.extend(parent(git::excludes_file_outside(&self.environment).as_deref()));
        let mut add = |repository: &Repository| folders.extend(repository.folders());
        let enclosing = enclosing(&self.environment, root);
        if let Some((_, repository)) = &enclosing {
            add(repository);
        }
        for top in self.tops.iter().filter(|top| top.is_walked) {
            if let Some(repository) = Repository::at(&self.environment, &root.join(&top.path)) {
                add(&repository);
            }
        }
        // What is not a repository yet may become one.
        let unready = self.tops.iter().filter(|top| top.common_dir.is_none());
        folders.extend(unready.map(|top| root.join(&top.path).join(".git")));
        match &enclosing {
            Some((top, _)) if top == root => {}
            Some((top, _)) => {
                folders.push(root.join(".git"));
                folders.extend(above(root, top).map(Path::to_path_buf));
            }
            None => folders.push(root.join(".git")),
        }
        folders.retain(|folder| folder.is_dir());
        folders.sort_unstable();
        folders.dedup();
        folders
    }
}

/// The repository that the root is in, and its top.
fn enclosing(environment: &GitEnvironment, root: &Path) -> Option<(PathBuf, Repository)> {
    root.ancestors()
        .find_map(|folder| Some((folder.to_path_buf(), Repository::at(environment, folder)?)))
}

/// The folders above the root up to `top`.
fn above<'a>(root: &'a Path, top: &'a Path) -> impl Iterator<Item = &'a Path> {
    root.ancestors().skip(1).take_while(move |folder| folder.starts_with(top))
}

fn parent(file: Option<&Path>) -> Option<PathBuf> {
    file?.parent().map(Path::to_path_buf)
}

/// `is_walked`: else only the place matters.
fn feed_repository(repository: Option<&Repository>, is_walked: bool, hasher: &mut Xxh3) {
    match repository {
        None => git::feed_content(hasher, None),
        Some(repository) => {
            repository.feed_place(hasher);
            if is_walked {
                repository.feed_rules(hasher);
            }
        }
    }
}
