//! Folders that come, go and move; covering and uncovering; folders outside.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use super::support::World;
use crate::watch::{Changes, Taken};

#[test]
fn files_written_at_once_into_new_folders_are_not_lost() {
    let world = World::new(&["", "old"]);
    fs::create_dir_all(world.path("a/b/c")).unwrap();
    world.write("a/b/c/file.rs");
    world.check(&["a"]);
    // This one comes after a walk of `a` and before the folders of that walk are watched.
    world.write("a/b/late.rs");
    world.check(&[]);
    world.cover_all();
    world.check(&["a"]);
    world.cover_all();
    world.check(&[]);
    world.write("a/b/c/file.rs");
    world.write("a/b/late.rs");
    world.check(&["a/b/c/file.rs", "a/b/late.rs"]);
}

#[test]
fn a_moved_folder_reports_nothing_under_its_old_name() {
    let world = World::new(&["", "a", "a/b", "c"]);
    fs::rename(world.path("a"), world.path("c/d")).unwrap();
    world.check(&["a", "c/d"]);
    world.write("c/d/b/file.rs");
    world.check(&[]);
    world.cover_all();
    world.check(&["c/d"]);
    world.write("c/d/b/file.rs");
    world.check(&["c/d/b/file.rs"]);
}

#[test]
fn a_folder_that_takes_the_place_of_a_moved_one_is_watched() {
    let world = World::new(&["", "a", "a/b"]);
    fs::rename(world.path("a"), world.top.join("away")).unwrap();
    fs::create_dir_all(world.path("a/b")).unwrap();
    // The folders are covered again whether or not the events are in.
    world.cover_all();
    world.check(&["a"]);
    world.come_to_rest();
    fs::write(world.top.join("away/b/not-ours.rs"), "").unwrap();
    world.check(&[]);
    world.write("a/b/ours.rs");
    world.check(&["a/b/ours.rs"]);
}

#[test]
fn two_folders_change_places() {
    let world = World::new(&["", "a", "b"]);
    world.write("a/one.rs");
    world.write("b/two.rs");
    world.take().changes.unwrap();
    fs::rename(world.path("a"), world.path("t")).unwrap();
    fs::rename(world.path("b"), world.path("a")).unwrap();
    fs::rename(world.path("t"), world.path("b")).unwrap();
    world.check(&["a", "b", "t"]);
    world.cover_all();
    world.check(&["a", "b"]);
    world.write("a/two.rs");
    world.check(&["a/two.rs"]);
    world.write("b/one.rs");
    world.check(&["b/one.rs"]);
}

#[test]
fn a_folder_that_is_removed_and_made_again_is_watched() {
    let world = World::new(&["", "a"]);
    for _ in 0..20 {
        fs::remove_dir_all(world.path("a")).unwrap();
        fs::create_dir(world.path("a")).unwrap();
        world.check(&["a"]);
        world.cover_all();
        world.check(&["a"]);
        world.write("a/file.rs");
        world.check(&["a/file.rs"]);
    }
}

#[test]
fn covering_again_makes_nothing_pending_and_less_drops() {
    let world = World::new(&["", "a", "b"]);
    world.cover(&["b", "", "a"]);
    world.check(&[]);
    world.cover(&["", "a"]);
    world.write("b/file.rs");
    world.check(&[]);
    world.cover(&["", "a", "b"]);
    world.check(&["b"]);
    world.cover(&["", "a", "b", "missing"]);
    world.check(&[]);
}

#[test]
fn the_root_is_watched_even_if_nobody_lists_it() {
    let world = World::new(&[]);
    world.write("file.rs");
    world.check(&["file.rs"]);
}

#[test]
fn permissions_of_a_folder_bear_on_all_below() {
    let world = World::new(&["", "a", "a/b"]);
    fs::set_permissions(world.path("a"), Permissions::from_mode(0o700)).unwrap();
    world.write("a/b/file.rs");
    world.check(&["a"]);
    fs::set_permissions(&world.root, Permissions::from_mode(0o700)).unwrap();
    world.check_everything();
}

#[test]
fn without_its_root_everything_changed() {
    let world = World::new(&["", "a"]);
    let away = world.top.join("away");
    fs::rename(&world.root, &away).unwrap();
    world.check_everything();
    let folders = [String::new(), "a".to_owned()];
    let blind = world.watcher.cover(&world.root, &folders, &[]).unwrap_err();
    assert_eq!(blind.code(), "WATCH_UNAVAILABLE");
    assert_eq!(world.watcher.blindness(&world.root), Some(blind));
    fs::create_dir_all(world.path("a")).unwrap();
    world.cover_all();
    assert_eq!(world.watcher.blindness(&world.root), None);
    world.check_everything();
    fs::write(away.join("a/not-ours.rs"), "").unwrap();
    world.check(&[]);
    world.write("a/ours.rs");
    world.check(&["a/ours.rs"]);
    fs::remove_dir_all(&world.root).unwrap();
    world.check_everything();
}

#[test]
fn an_uncovered_root_is_unknown_and_the_other_goes_on() {
    let world = World::new(&["", "a"]);
    let other = world.path("a");
    world.watcher.cover(&other, &[String::new()], &[]).unwrap();
    world.write("a/file.rs");
    world.check(&["a/file.rs"]);
    let file = Some(Changes::Paths(vec!["file.rs".into()]));
    assert_eq!(world.watcher.take(&other).changes, file);
    world.watcher.uncover(&world.root);
    let unknown = Taken { changes: Some(Changes::Everything), outside: true, storage: false };
    assert_eq!(world.watcher.take(&world.root), unknown);
    world.write("top.rs");
    world.write("a/file.rs");
    assert!(world.watcher.settle(super::support::PATIENCE));
    assert_eq!(world.watcher.take(&other).changes, file);
    assert_eq!(world.watcher.n_pending(), 0);
    world.cover(&["", "a"]);
    world.check(&[]);
}

#[test]
fn folders_outside_are_watched_without_those_in_them() {
    let world = World::uncovered(&["", "a"], Ok);
    let (info, missing) = (world.top.join("info"), world.top.join("missing"));
    fs::create_dir_all(info.join("below")).unwrap();
    let cover = || {
        let outside = [info.clone(), missing.clone()];
        world.watcher.cover(&world.root, &[String::new()], &outside).unwrap();
    };
    cover();
    assert!(!world.take().outside);
    fs::write(info.join("below/file"), "").unwrap();
    assert!(!world.take().outside);
    fs::write(info.join("exclude"), "").unwrap();
    assert_eq!(world.take(), Taken { changes: None, outside: true, storage: false });
    assert!(!world.take().outside);
    fs::remove_dir_all(&info).unwrap();
    fs::create_dir(&info).unwrap();
    assert!(world.take().outside);
    cover();
    assert!(world.take().outside);
    cover();
    assert!(!world.take().outside);
    fs::write(info.join("exclude"), "").unwrap();
    assert!(world.take().outside);
    world.cover(&[""]);
    fs::write(info.join("exclude"), "").unwrap();
    assert!(!world.take().outside);
}
