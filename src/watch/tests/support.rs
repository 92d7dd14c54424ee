//! A root, a storage folder and a watcher of both, without any waiting but for events themselves.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tempfile::TempDir;

use crate::watch::native::{self, Native};
use crate::watch::{Changes, Taken, Watcher, mounts};

/// Far longer than any event takes; a test that needs it fails.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct World {
    pub(super) watcher: Watcher,
    pub(super) root: PathBuf,
    pub(super) storage: PathBuf,
    pub(super) top: PathBuf,
    n_wakes: Arc<AtomicUsize>,
    _folder: TempDir,
}

impl World {
    /// A root with these folders, all covered.
    pub(super) fn new(folders: &[&str]) -> Self {
        let world = Self::uncovered(folders, Ok);
        world.cover(folders);
        assert_eq!(world.watcher.n_pending(), 0);
        world
    }

    /// A root with these folders, watched through what `wrap` makes of the system.
    pub(super) fn uncovered(
        folders: &[&str],
        wrap: impl FnOnce(Box<dyn Native>) -> Result<Box<dyn Native>, crate::watch::Blind>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let (root, storage) = (top.join("root"), top.join("storage"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&storage).unwrap();
        folders.iter().for_each(|folder| fs::create_dir_all(root.join(folder)).unwrap());
        let n_wakes = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&n_wakes);
        let watcher = Watcher::start_with(
            &storage,
            Arc::new(move || {
                count.fetch_add(1, Ordering::Relaxed);
            }),
            |intake, storage| wrap(native::open(intake, storage)?),
            mounts::file_system_without_events,
        );
        Self { watcher: watcher.unwrap(), root, storage, top, n_wakes, _folder: folder }
    }

    pub(super) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(super) fn write(&self, relative: &str) {
        fs::write(self.path(relative), "text").unwrap();
    }

    pub(super) fn cover(&self, folders: &[&str]) {
        let folders: Vec<String> = folders.iter().map(|&folder| folder.into()).collect();
        self.watcher.cover(&self.root, &folders, &[]).unwrap();
    }

    /// Covers what a walk of everything lists.
    pub(super) fn cover_all(&self) {
        let mut folders = vec![String::new()];
        let mut idx = 0;
        while let Some(folder) = folders.get(idx).cloned() {
            for entry in fs::read_dir(self.root.join(&folder)).unwrap() {
                let entry = entry.unwrap();
                let is_ours = entry.file_type().unwrap().is_dir() && entry.file_name() != ".git";
                if is_ours {
                    let path = entry.path();
                    let relative = path.strip_prefix(&self.root).unwrap();
                    folders.push(relative.to_str().unwrap().to_owned());
                }
            }
            idx += 1;
        }
        self.watcher.cover(&self.root, &folders, &[]).unwrap();
    }

    /// Covers and takes, as callers do, until nothing is pending. Panics if that does not come to an end.
    pub(super) fn come_to_rest(&self) {
        let is_at_rest = || {
            self.cover_all();
            self.take().changes.is_none()
        };
        assert!((0..5).any(|_| is_at_rest()));
    }

    pub(super) fn settle(&self) {
        assert!(self.watcher.settle(PATIENCE));
    }

    pub(super) fn take(&self) -> Taken {
        self.settle();
        self.watcher.take(&self.root)
    }

    /// What is pending is exactly this.
    #[track_caller]
    pub(super) fn check(&self, paths: &[&str]) {
        let expected = (!paths.is_empty())
            .then(|| Changes::Paths(paths.iter().map(|&path| path.to_owned()).collect()));
        let taken = self.take();
        assert_eq!(taken, Taken { changes: expected, outside: false, storage: false });
    }

    #[track_caller]
    pub(super) fn check_everything(&self) {
        assert_eq!(self.take().changes, Some(Changes::Everything));
    }

    /// How often someone was woken since the last call.
    pub(super) fn n_wakes(&self) -> usize {
        self.settle();
        self.n_wakes.swap(0, Ordering::Relaxed)
    }
}

/// Names of what is in a folder, sorted.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}
