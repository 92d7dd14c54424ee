//! What did not change costs nothing, and what changed costs only itself.

use std::fs;
use std::time::{Duration, SystemTime};

use sextant::engine::{Engine, IndexReport};

use crate::support::{Place, check_equals_fresh, finds, replace_unseen, set_modified, sync};

const FILES: &[(&str, &str)] = &[
    ("src/a.rs", "/// Opens.\npub fn open_alpha() -> u32 {\n    1\n}\n"),
    ("src/b.py", "def open_beta():\n    return 2\n"),
    ("src/c.ts", "export function openGamma() {\n  return 3;\n}\n"),
    ("notes.md", "# Delta\n\nAbout delta.\n"),
    ("empty.txt", ""),
    ("blob.txt", "\0\0\u{1}\u{2}\0\0"),
];

/// added, changed, removed, unchanged
#[track_caller]
fn check(report: &IndexReport, expected: [u64; 4]) {
    assert_eq!([report.added, report.changed, report.removed, report.unchanged], expected);
}

fn bytes(place: &Place) -> Vec<(String, Vec<u8>)> {
    let names = place.stored_names();
    let is_state = |name: &String| !name.ends_with("-shm");
    names
        .into_iter()
        .filter(is_state)
        .map(|name| (name.clone(), fs::read(place.storage.join(&name)).unwrap()))
        .collect()
}

/// Indexed and synced once more; gives the state of the storage as well.
fn settled() -> (Place, Engine, Vec<(String, Vec<u8>)>) {
    let place = Place::new(FILES);
    let engine = place.open();
    let report = sync(&engine);
    check(&report, [5, 0, 0, 0]);
    let before = bytes(&place);
    (place, engine, before)
}

#[test]
fn a_second_sync_writes_nothing() {
    let (place, engine, before) = settled();
    for _ in 0..3 {
        let report = sync(&engine);
        check(&report, [0, 0, 0, 5]);
        assert_eq!(report.files, 5);
        assert!(report.degraded.is_empty());
    }
    assert_eq!(bytes(&place), before);
    // The last connection moves the log into the database.
    engine.close();
    let closed = bytes(&place);
    let reopened = place.open();
    check(&sync(&reopened), [0, 0, 0, 5]);
    reopened.close();
    assert!(bytes(&place) == closed, "reopening wrote to the database");
}

#[test]
fn an_unchanged_file_is_not_read() {
    let (place, engine, before) = settled();
    replace_unseen(&place.root.join("src/a.rs"), "open_alpha", "open_omega");
    check(&sync(&engine), [0, 0, 0, 5]);
    assert!(finds(&engine, "open_alpha") && !finds(&engine, "open_omega"));
    assert_eq!(bytes(&place), before);
}

/// A file that was found unusable is tried again only when it changes.
#[test]
fn an_unchanged_unusable_file_is_not_read() {
    let (place, engine, before) = settled();
    let path = place.root.join("blob.txt");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let n_bytes = fs::metadata(&path).unwrap().len() as usize;
    fs::write(&path, "x".repeat(n_bytes)).unwrap();
    set_modified(&path, modified);
    check(&sync(&engine), [0, 0, 0, 5]);
    assert_eq!(bytes(&place), before);
    place.touch(&path);
    check(&sync(&engine), [1, 0, 0, 5]);
}

#[test]
fn one_changed_file_costs_that_file() {
    let (place, engine, _) = settled();
    // Were they read, they would differ.
    replace_unseen(&place.root.join("src/b.py"), "open_beta", "open_zeta");
    place.write("src/a.rs", "pub fn open_omega() -> u32 {\n    1\n}\n");
    check(&sync(&engine), [0, 1, 0, 4]);
    assert!(finds(&engine, "open_omega") && !finds(&engine, "open_alpha"));
    assert!(finds(&engine, "open_beta") && !finds(&engine, "open_zeta"));
}

#[test]
fn a_removed_file_is_no_hit() {
    let (place, engine, _) = settled();
    place.remove("src/c.ts");
    check(&sync(&engine), [0, 0, 1, 4]);
    assert!(!finds(&engine, "openGamma"));
    assert!(engine.files().unwrap().iter().all(|file| file.path != "src/c.ts"));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

#[test]
fn a_touched_file_is_unchanged() {
    let (place, engine, _) = settled();
    place.touch(&place.root.join("src/a.rs"));
    check(&sync(&engine), [0, 0, 0, 5]);
    // Its new time was kept: it is not read a second time.
    replace_unseen(&place.root.join("src/a.rs"), "open_alpha", "open_omega");
    check(&sync(&engine), [0, 0, 0, 5]);
    assert!(finds(&engine, "open_alpha"));
}

#[test]
fn a_file_that_becomes_unusable_and_usable_again_follows() {
    let (place, engine, _) = settled();
    place.write("src/a.rs", [0u8; 64]);
    check(&sync(&engine), [0, 0, 1, 4]);
    assert!(engine.skipped().unwrap().iter().any(|skip| skip.path == "src/a.rs"));
    assert!(!finds(&engine, "open_alpha"));
    place.write("src/a.rs", FILES[0].1);
    check(&sync(&engine), [1, 0, 0, 4]);
    assert!(finds(&engine, "open_alpha"));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

/// A time of change in the last moments or in the future says nothing, so such a file is read each time.
#[test]
fn a_file_from_the_future_is_read_again() {
    let place = Place::new(&[("a.rs", "fn first_name() {}\n")]);
    let path = place.root.join("a.rs");
    let future = SystemTime::now() + Duration::from_secs(7200);
    set_modified(&path, future);
    let engine = place.index();
    fs::write(&path, "fn other_name() {}\n").unwrap();
    set_modified(&path, future + Duration::from_secs(60));
    check(&sync(&engine), [0, 1, 0, 0]);
    assert!(finds(&engine, "other_name") && !finds(&engine, "first_name"));
}

/// As an editor saves: again and again, as many bytes, faster than a file system's clock.
#[test]
fn a_file_saved_again_at_once_is_read_again() {
    let place = Place::new(&[]);
    let path = place.root.join("a.rs");
    fs::write(&path, "fn name_00() {}\n").unwrap();
    let engine = place.index();
    for at in 1..30 {
        let name = format!("name_{at:02}");
        fs::write(&path, format!("fn {name}() {{}}\n")).unwrap();
        sync(&engine);
        assert!(finds(&engine, &name), "round {at}");
    }
}
