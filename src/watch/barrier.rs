//! Knowing that all earlier events have been taken in: a file is made and its own event awaited.

use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How names of barrier files begin, in the storage folder.
const PREFIX: &str = "watch-";

/// Numbers barrier files and remembers how far their events have come.
pub(super) struct Barrier {
    /// What the names of this barrier begin with. The rest after the process id is random, since two copies of this
    /// library can live in one process and share a folder.
    prefix: String,
    counts: Mutex<Counts>,
    came: Condvar,
}

#[derive(Default)]
struct Counts {
    made: u64,
    seen: u64,
}

impl Barrier {
    pub(super) fn new() -> Self {
        let random = RandomState::new().build_hasher().finish();
        let prefix = format!("{PREFIX}{}-{random}-", std::process::id());
        Self { prefix, counts: Mutex::default(), came: Condvar::new() }
    }

    /// Whether a name in the storage folder is one of a barrier file, of any process.
    pub(super) fn is_name(name: &str) -> bool {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        name.strip_prefix(PREFIX).is_some_and(|rest| rest.split('-').all(is_number))
    }

    /// An event of a barrier file came.
    pub(super) fn note(&self, name: &str) {
        let Some(number) = name.strip_prefix(&self.prefix).and_then(|n| n.parse().ok()) else {
            return;
        };
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.seen = counts.seen.max(number);
        self.came.notify_all();
    }

    /// Lets all that wait go on: events were lost, and everything counts as changed.
    pub(super) fn open(&self) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.seen = counts.made;
        self.came.notify_all();
    }

    /// Makes a file in `folder` and waits for its event. False if that cannot be done or takes longer than `patience`.
    pub(super) fn wait(&self, folder: &Path, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let number = {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.made += 1;
            counts.made
        };
        let file = Scratch(folder.join(format!("{}{number}", self.prefix)));
        if OpenOptions::new().write(true).create_new(true).open(&file.0).is_err() {
            return false;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        // A later number will do too: its file was made after this call began.
        while counts.seen < number {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            (counts, _) =
                self.came.wait_timeout(counts, left).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

/// A file that is removed in the end, whatever comes.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may be gone already, or never have been there.
        let _ = fs::remove_file(&self.0);
    }
}

/// Removes barrier files of processes that died. One of a living process may go too: its event is on the way already.
pub(super) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(Barrier::is_name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_make_a_barrier_file() {
        for name in ["watch-1-2", "watch-17-18446744073709551615-3"] {
            assert!(Barrier::is_name(name), "{name}");
        }
        for name in ["watch-", "watch-a-1", "watch-1-", "write.lock", "pause-1", "xwatch-1-1"] {
            assert!(!Barrier::is_name(name), "{name}");
        }
    }

    #[test]
    fn a_barrier_without_events_is_given_up_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!Barrier::new().wait(folder.path(), Duration::ZERO));
        assert!(!Barrier::new().wait(&folder.path().join("missing"), Duration::from_secs(60)));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_event_of_another_barrier_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (Barrier::new(), Barrier::new());
        two.note(&format!("{}1", one.prefix));
        assert!(!two.wait(folder.path(), Duration::ZERO));
        two.note(&format!("{}2", two.prefix));
        assert!(two.wait(folder.path(), Duration::ZERO));
    }

    #[test]
    fn leftovers_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["watch-1-2-3", "index.db", "pause-7"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_leftovers(folder.path());
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["index.db", "pause-7"]);
    }
}
