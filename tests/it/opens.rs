//! Which files does a run open? The system is asked: it tells of every file that is opened below the root.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use notify::event::{AccessKind, EventKind};
use notify::{Event, RecursiveMode, Watcher};

use crate::support::{Place, finds, sync};

/// Collects the files that are opened below a root.
struct Opens {
    root: PathBuf,
    events: Receiver<PathBuf>,
    _watcher: notify::RecommendedWatcher,
}

impl Opens {
    fn of(root: &Path) -> Self {
        let (sender, events) = channel();
        let told = move |event: notify::Result<Event>| {
            let event = event.unwrap();
            if matches!(event.kind, EventKind::Access(AccessKind::Open(_))) {
                for path in event.paths {
                    let _ = sender.send(path);
                }
            }
        };
        let mut watcher = notify::recommended_watcher(told).unwrap();
        watcher.watch(root, RecursiveMode::Recursive).unwrap();
        Self { root: root.to_path_buf(), events, _watcher: watcher }
    }

    /// The files opened since the last call. Events come in order, so the last is that of a file opened here.
    fn take(&self) -> BTreeSet<String> {
        let last = self.root.join("node_modules/last");
        fs::read(&last).unwrap();
        let mut opened = BTreeSet::new();
        loop {
            let path = self.events.recv_timeout(Duration::from_secs(60)).unwrap();
            if path == last {
                return opened;
            }
            if path.is_file() {
                opened.insert(path.strip_prefix(&self.root).unwrap().display().to_string());
            }
        }
    }
}

fn names(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}

#[test]
fn only_changed_files_are_opened() {
    let place = Place::new(&[
        ("src/a.rs", "pub fn open_alpha() -> u32 {\n    1\n}\n"),
        ("src/deep/b.py", "def open_beta():\n    return 2\n"),
        ("notes.md", "# Delta\n\nAbout delta.\n"),
        ("empty.txt", ""),
        ("blob.txt", "\0\0\u{1}\u{2}\0\0"),
        // Left out, so only opened here.
        ("node_modules/last", "last\n"),
    ]);
    let opens = Opens::of(&place.root);
    let engine = place.index();
    let all = ["src/a.rs", "src/deep/b.py", "notes.md", "empty.txt", "blob.txt"];
    assert_eq!(opens.take(), names(&all));
    for _ in 0..3 {
        sync(&engine);
        assert_eq!(opens.take(), names(&[]));
    }
    place.write("src/deep/b.py", "def open_zeta():\n    return 2\n");
    sync(&engine);
    // Written here, read by the run.
    assert_eq!(opens.take(), names(&["src/deep/b.py"]));
    assert!(finds(&engine, "open_zeta"));
    // A new process knows as much.
    engine.close();
    sync(&place.open());
    assert_eq!(opens.take(), names(&[]));
}
