//! What happens to files, and what does not concern us.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::support::{PATIENCE, World, names};
use crate::watch::Changes;

#[test]
fn a_file_is_made_changed_and_removed() {
    let world = World::new(&["", "a"]);
    world.write("a/new.rs");
    assert!(world.n_wakes() >= 1);
    world.check(&["a/new.rs"]);
    world.check(&[]);
    assert_eq!(world.n_wakes(), 0);
    File::options().append(true).open(world.path("a/new.rs")).unwrap().write_all(b"x").unwrap();
    world.check(&["a/new.rs"]);
    fs::set_permissions(world.path("a/new.rs"), Permissions::from_mode(0o600)).unwrap();
    world.check(&["a/new.rs"]);
    fs::remove_file(world.path("a/new.rs")).unwrap();
    world.write("top.rs");
    world.check(&["a/new.rs", "top.rs"]);
}

#[test]
fn an_atomic_save_is_a_change_of_the_file() {
    let world = World::new(&[""]);
    world.write("file.rs");
    world.check(&["file.rs"]);
    world.write(".file.rs.tmp");
    fs::rename(world.path(".file.rs.tmp"), world.path("file.rs")).unwrap();
    world.check(&[".file.rs.tmp", "file.rs"]);
}

#[test]
fn both_names_of_a_renamed_file_are_changes() {
    let world = World::new(&["", "a", "b"]);
    world.write("a/old.rs");
    world.check(&["a/old.rs"]);
    fs::rename(world.path("a/old.rs"), world.path("b/new.rs")).unwrap();
    world.check(&["a/old.rs", "b/new.rs"]);
    fs::rename(world.path("b/new.rs"), world.top.join("away.rs")).unwrap();
    world.check(&["b/new.rs"]);
}

#[test]
fn reading_wakes_nobody() {
    let world = World::new(&["", "a"]);
    world.write("a/file.rs");
    world.check(&["a/file.rs"]);
    world.n_wakes();
    for _ in 0..100 {
        fs::read(world.path("a/file.rs")).unwrap();
        fs::read_dir(world.path("a")).unwrap().count();
        fs::metadata(world.path("a/file.rs")).unwrap();
    }
    assert_eq!(world.n_wakes(), 0);
    assert_eq!(world.watcher.n_pending(), 0);
}

#[test]
fn folders_that_are_not_covered_wake_nobody() {
    let world = World::new(&["", "a", "node_modules/m"]);
    world.cover(&["", "a"]);
    world.check(&[]);
    world.n_wakes();
    world.write("node_modules/m/i.js");
    fs::create_dir(world.path("node_modules/n")).unwrap();
    world.write("node_modules/n/i.js");
    assert_eq!(world.n_wakes(), 0);
    world.check(&[]);
}

#[test]
fn a_burst_wakes_at_least_once_and_not_for_each_file() {
    let world = World::new(&[""]);
    (0..500).for_each(|i| world.write(&format!("{i}.rs")));
    assert!((1..500).contains(&world.n_wakes()));
    assert_eq!(world.watcher.n_pending(), 500);
    world.take().changes.unwrap();
    world.write("again.rs");
    assert!(world.n_wakes() >= 1);
}

#[test]
fn a_write_just_before_settling_is_never_missed() {
    let world = World::new(&["", "a"]);
    for i in 0..500 {
        let name = format!("a/{}.rs", i % 7);
        world.write(&name);
        world.check(&[&name]);
    }
    assert!(names(&world.storage).is_empty());
}

#[test]
fn settling_from_many_threads_sees_what_each_wrote() {
    let world = World::new(&["", "0", "1", "2", "3"]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for i in 0..50 {
                    world.write(&format!("{thread}/{i}.rs"));
                    world.settle();
                    assert!(world.watcher.n_pending() > i, "{thread} {i}");
                }
            });
        }
    });
    assert_eq!(world.watcher.n_pending(), 200);
}

#[test]
fn what_could_not_be_applied_is_put_back() {
    let world = World::new(&[""]);
    world.write("a.rs");
    let changes = world.take().changes.unwrap();
    world.n_wakes();
    world.watcher.put_back(&world.root, changes);
    assert_eq!((world.n_wakes(), world.watcher.n_pending()), (0, 1));
    world.write("b.rs");
    world.check(&["a.rs", "b.rs"]);
    world.watcher.put_back(&world.root, Changes::Everything);
    world.check_everything();
}

#[test]
fn a_name_that_is_not_text_stands_for_its_folder() {
    let world = World::new(&["", "a"]);
    let name = std::ffi::OsStr::from_bytes(b"a/\xff.rs");
    fs::write(world.root.join(name), "").unwrap();
    world.check(&["a"]);
}

#[test]
fn links_are_not_followed() {
    let world = World::new(&["", "a"]);
    let other = world.top.join("other");
    fs::create_dir(&other).unwrap();
    symlink(&other, world.path("link")).unwrap();
    world.check(&["link"]);
    world.cover(&["", "a", "link"]);
    fs::write(other.join("file.rs"), "").unwrap();
    world.check(&[]);
}

#[test]
fn a_checkout_shows_each_file() {
    let world = World::new(&[""]);
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
        command.args(["-c", "init.defaultBranch=main"]).args(arguments).current_dir(&world.root);
        assert!(command.output().unwrap().status.success(), "{arguments:?}");
    };
    git(&["init"]);
    fs::create_dir(world.path("src")).unwrap();
    let names: Vec<String> = (0..50).map(|i| format!("src/{i:02}.rs")).collect();
    names.iter().for_each(|name| world.write(name));
    git(&["add", "."]);
    git(&["commit", "-m", "one"]);
    git(&["checkout", "-b", "other"]);
    names.iter().for_each(|name| fs::write(world.path(name), "other text").unwrap());
    git(&["commit", "-am", "two"]);
    world.cover_all();
    world.take().changes.unwrap();
    git(&["checkout", "main"]);
    world.check(&names.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn only_markers_count_in_the_storage_folder() {
    let world = World::new(&[""]);
    for name in ["index.db", "index.db-wal", "write.lock", "watch-1-2-3"] {
        fs::write(world.storage.join(name), "").unwrap();
    }
    assert_eq!(world.n_wakes(), 0);
    assert!(!world.take().storage);
    for marker in ["pause-17", "stop-17"] {
        fs::write(world.storage.join(marker), "").unwrap();
        assert!(world.n_wakes() >= 1);
        let taken = world.take();
        assert_eq!((taken.changes, taken.outside, taken.storage), (None, false, true));
        fs::remove_file(world.storage.join(marker)).unwrap();
        assert!(world.take().storage);
        assert!(!world.take().storage);
    }
}

#[test]
fn a_storage_folder_that_is_replaced_is_watched_again() {
    let world = World::new(&[""]);
    fs::remove_dir(&world.storage).unwrap();
    assert!(!world.watcher.settle(PATIENCE));
    fs::create_dir(&world.storage).unwrap();
    world.write("file.rs");
    // The end of the old folder may still be on its way; then this one finds it out.
    while !world.watcher.settle(std::time::Duration::from_millis(100)) {}
    world.check(&["file.rs"]);
}
