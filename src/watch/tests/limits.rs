//! Limits of the system, its lost events, and file systems that have none.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use notify::event::Flag;
use notify::{Error, ErrorKind, Event, EventHandler, EventKind, RecursiveMode};

use super::support::{World, names};
use crate::watch::intake::Intake;
use crate::watch::native::{self, Native};
use crate::watch::pending::MAX_PENDING;
use crate::watch::{Blind, Changes, Watcher};

/// The system with a limit of watches of its own.
struct Limited {
    system: Box<dyn Native>,
    watched: Vec<PathBuf>,
    limit: Arc<AtomicUsize>,
}

impl Native for Limited {
    fn watch(&mut self, folder: &Path, mode: RecursiveMode) -> notify::Result<()> {
        if self.watched.len() >= self.limit.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::MaxFilesWatch).add_path(folder.into()));
        }
        self.system.watch(folder, mode)?;
        self.watched.push(folder.into());
        Ok(())
    }

    fn unwatch(&mut self, folder: &Path) {
        self.watched.retain(|watched| watched != folder);
        self.system.unwatch(folder);
    }
}

/// A root with folders 0 to 9, a second one, and a limit to set.
fn limited(limit: usize) -> (World, PathBuf, Arc<AtomicUsize>) {
    let limit = Arc::new(AtomicUsize::new(limit));
    let given = Arc::clone(&limit);
    let folders = ["", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
    let world = World::uncovered(&folders, |system| {
        Ok(Box::new(Limited { system, watched: Vec::new(), limit: given }))
    });
    let other = world.top.join("other");
    fs::create_dir(&other).unwrap();
    world.watcher.cover(&other, &[String::new()], &[]).unwrap();
    (world, other, limit)
}

#[test]
fn at_the_limit_nothing_of_the_root_is_watched_and_others_go_on() {
    let (world, other, limit) = limited(8);
    let folders: Vec<String> = (0..10).map(|i| i.to_string()).collect();
    let blind = world.watcher.cover(&world.root, &folders, &[]).unwrap_err();
    assert_eq!(blind.code(), "WATCH_LIMIT");
    assert!(matches!(&blind, Blind::Limit { path, .. } if *path == world.path("5")), "{blind}");
    assert!(blind.to_string().contains("fs.inotify.max_user_watches"), "{blind}");
    assert_eq!(world.watcher.blindness(&world.root), Some(blind));
    assert_eq!(world.watcher.blindness(&other), None);

    world.write("0/file.rs");
    assert_eq!((world.n_wakes(), world.watcher.n_pending()), (0, 0));
    world.check_blind();
    fs::write(other.join("file.rs"), "").unwrap();
    assert!(world.n_wakes() >= 1);
    let file = Some(Changes::Paths(vec!["file.rs".into()]));
    assert_eq!(world.watcher.take(&other).changes, file);

    limit.store(100, Ordering::Relaxed);
    world.watcher.cover(&world.root, &folders, &[]).unwrap();
    assert_eq!(world.watcher.blindness(&world.root), None);
    // What happened while it was blind has to be looked for.
    world.check_everything();
    world.write("9/file.rs");
    world.check(&["9/file.rs"]);
}

impl World {
    /// Each taking from a blind root is everything, and uses nothing up.
    #[track_caller]
    fn check_blind(&self) {
        for _ in 0..2 {
            assert_eq!(self.watcher.take(&self.root).changes, Some(Changes::Everything));
        }
    }
}

#[test]
fn a_limit_reached_later_blinds_too() {
    let (world, _, limit) = limited(100);
    world.cover(&["", "0"]);
    limit.store(0, Ordering::Relaxed);
    let folders = [String::new(), "0".into(), "1".into()];
    assert_eq!(world.watcher.cover(&world.root, &folders, &[]).unwrap_err().code(), "WATCH_LIMIT");
    world.write("0/file.rs");
    assert_eq!(world.n_wakes(), 0);
    world.check_blind();
}

#[test]
fn a_file_system_without_events_is_not_watched() {
    let (world, _, _) = limited(100);
    let start =
        |probe| Watcher::start_with(&world.storage, Arc::new(|| {}), native::open, probe).unwrap();
    let watcher = start(|_| Some("9p"));
    let blind = watcher.cover(&world.root, &[String::new()], &[]).unwrap_err();
    assert_eq!(blind.code(), "WATCH_NO_EVENTS");
    assert!(blind.to_string().contains("lies on 9p"), "{blind}");
    world.write("file.rs");
    assert!(watcher.settle(super::support::PATIENCE));
    assert_eq!(watcher.n_pending(), 0);
    assert_eq!(watcher.take(&world.root).changes, Some(Changes::Everything));
}

#[test]
fn too_many_changes_are_everything() {
    let world = World::new(&["", "a"]);
    (0..=MAX_PENDING).for_each(|i| world.write(&format!("a/{i}")));
    world.check_everything();
    world.check(&[]);
}

#[test]
fn lost_events_are_everything_and_watches_are_made_anew() {
    let world = World::new(&["", "a", "b"]);
    let other = world.top.join("other");
    fs::create_dir(&other).unwrap();
    world.watcher.cover(&other, &[String::new()], &[]).unwrap();
    let mut intake = Intake(Arc::clone(&world.watcher.shared));
    let mut lose = || {
        intake.handle_event(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
    };
    lose();
    assert!(world.n_wakes() >= 1);
    world.check_everything();
    world.check(&[]);
    assert_eq!(world.watcher.take(&other).changes, Some(Changes::Everything));
    assert_eq!(world.watcher.take(&other).changes, None);
    for folder in ["a", "b"] {
        world.write(&format!("{folder}/file.rs"));
        world.check(&[&format!("{folder}/file.rs")]);
    }
    world.cover_all();
    world.check(&[]);

    // Of this move no event comes; the folder is watched where its name says all the same.
    for folder in ["", "a"] {
        world.watcher.native().unwatch(&world.path(folder));
    }
    fs::rename(world.path("a"), world.path("c")).unwrap();
    fs::create_dir(world.path("a")).unwrap();
    lose();
    world.check_everything();
    world.cover_all();
    world.check(&["c"]);
    world.write("a/new.rs");
    world.write("c/moved.rs");
    world.check(&["a/new.rs", "c/moved.rs"]);
}

#[test]
fn a_failure_of_the_system_counts_as_lost_events() {
    let world = World::new(&[""]);
    let mut intake = Intake(Arc::clone(&world.watcher.shared));
    intake.handle_event(Err(Error::generic("broken")));
    world.check_everything();
    world.check(&[]);
}

#[test]
fn a_watcher_needs_a_storage_folder_and_cleans_it() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Watcher::start(&folder.path().join("missing"), Arc::new(|| {}));
    assert_eq!(missing.err().map(|blind| blind.code()), Some("WATCH_UNAVAILABLE"));
    fs::write(folder.path().join("watch-1-2-3"), "").unwrap();
    let watcher = Watcher::start(folder.path(), Arc::new(|| {})).unwrap();
    assert!(watcher.settle(super::support::PATIENCE));
    assert!(names(folder.path()).is_empty());
}
