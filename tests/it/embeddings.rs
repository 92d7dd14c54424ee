//! Vectors are made once a user: what was embedded before, in any workspace, is not embedded again, and nobody can tell.

use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestRunner};
use sextant::engine::{Engine, IndexReport, OpenOptions};

use crate::code::{EXTENSIONS, source};
use crate::support::{Place, State, beside, options, sync};

/// embedded, reused
#[track_caller]
fn check(report: &IndexReport, expected: [u64; 2]) {
    assert_eq!([report.embedded, report.reused], expected);
}

fn tree(n: u64) -> Place {
    let place = Place::new(&[]);
    for at in 0..n {
        let extension = EXTENSIONS[at as usize % EXTENSIONS.len()];
        place.write(&format!("src/part_{at:03}.{extension}"), source(extension, at));
    }
    place
}

/// Of another workspace over `root`, by the same user.
fn elsewhere(place: &Place, root: &Path, name: &str) -> Engine {
    Engine::open(options(&[root.to_path_buf()], &place.top.join(name))).unwrap()
}

#[track_caller]
fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

#[test]
fn branches_work_trees_and_clones_are_embedded_once() {
    let place = tree(20);
    let root = &place.root;
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "."]);
    git(root, &["commit", "-q", "-m", "one"]);
    let engine = place.index();
    git(root, &["switch", "-q", "-c", "other"]);
    for at in 0..5 {
        place.write(&format!("src/part_{:03}.rs", at * 12), source("rs", 100 + at));
    }
    let report = sync(&engine);
    assert!(report.embedded >= 2, "{report:?}");
    git(root, &["add", "."]);
    git(root, &["commit", "-q", "-m", "two"]);

    git(root, &["switch", "-q", "main"]);
    let report = sync(&engine);
    check(&report, [0, report.reused]);
    assert!(report.reused >= 2, "{report:?}");
    git(root, &["switch", "-q", "other"]);
    assert_eq!(sync(&engine).embedded, 0);

    git(root, &["worktree", "add", "-q", "../second", "main"]);
    let report = sync(&elsewhere(&place, &place.top.join("second"), "storage of second"));
    check(&report, [0, 20]);
    git(&place.top, &["clone", "-q", "tree", "third"]);
    let report = sync(&elsewhere(&place, &place.top.join("third"), "storage of third"));
    check(&report, [0, report.files]);
}

/// A name is part of what is embedded.
#[test]
fn a_file_under_another_name_is_embedded_again() {
    let place = tree(3);
    let engine = place.index();
    place.write("src/copy.rs", fs::read(place.root.join("src/part_000.rs")).unwrap());
    check(&sync(&engine), [1, 0]);
}

#[test]
fn without_vectors_nothing_is_kept() {
    let place = tree(3);
    let mut options = place.options();
    options.config.use_vectors = false;
    check(&sync(&Engine::open(options).unwrap()), [0, 0]);
    assert!(!beside(&place.storage).exists());
}

#[test]
fn a_run_with_nothing_to_do_does_not_open_it() {
    let place = tree(3);
    let engine = place.index();
    fs::remove_dir_all(beside(&place.storage)).unwrap();
    sync(&engine);
    assert!(!beside(&place.storage).exists());
}

#[test]
fn a_cache_inside_a_root_is_not_walked() {
    let place = tree(3);
    let mut options = place.options();
    options.cache = Some(place.root.join("kept"));
    options.config.walk.use_default_exclusions = false;
    let engine = Engine::open(options).unwrap();
    check(&sync(&engine), [3, 0]);
    let report = sync(&engine);
    assert_eq!((report.files, report.unchanged), (3, 3));
    assert!(report.skipped.iter().all(|skip| !skip.path.contains(".db")), "{report:?}");
}

#[test]
fn damaged_it_is_made_anew() {
    let place = tree(10);
    place.index();
    let file = beside(&place.storage).join("embeddings.db");
    let length = fs::metadata(&file).unwrap().len() as usize;
    for (name, bytes) in [("noise", vec![0xa5; length]), ("empty", Vec::new())] {
        fs::write(&file, bytes).unwrap();
        check(&sync(&elsewhere(&place, &place.root, name)), [10, 0]);
        check(&sync(&elsewhere(&place, &place.root, &format!("{name}, again"))), [0, 10]);
    }
    // Noise in the middle of it: some entries or all are lost, none is wrong.
    let mut bytes = fs::read(&file).unwrap();
    for at in (4096..bytes.len()).step_by(97) {
        bytes[at] ^= 0x40;
    }
    fs::write(&file, bytes).unwrap();
    let damaged = elsewhere(&place, &place.root, "damaged");
    let report = sync(&damaged);
    assert_eq!(report.embedded + report.reused, 10);
    assert_eq!(State::of(&damaged).difference(&State::of(&place.open())), None);
    assert_eq!(sync(&elsewhere(&place, &place.root, "mended")).embedded, 0);
}

/// An index does not fail because of its cache.
#[test]
fn a_cache_that_cannot_be_used_never_hits() {
    let place = tree(3);
    place.write_at(&place.top.join("a file"), "");
    let mut unusable = vec![place.top.join("a file/below")];
    if cfg!(target_os = "linux") {
        // Nobody may write here.
        unusable.push("/proc".into());
    }
    for (at, folder) in unusable.into_iter().enumerate() {
        let engine = |name: &str| {
            let storage = place.top.join(format!("{name} {at}"));
            let options = options(std::slice::from_ref(&place.root), &storage);
            Engine::open(OpenOptions { cache: Some(folder.clone()), ..options }).unwrap()
        };
        check(&sync(&engine("first")), [3, 0]);
        check(&sync(&engine("second")), [3, 0]);
    }
}

/// The sums of the vectors of all segments, as stored.
fn vector_sums(storage: &Path) -> Vec<i64> {
    let connection = rusqlite::Connection::open(storage.join("index.db")).unwrap();
    let mut statement = connection.prepare("SELECT vector_sum FROM segments").unwrap();
    let sums = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let mut total = vec![0; 256];
    for sum in sums {
        for (total, bytes) in total.iter_mut().zip(sum.unwrap().as_chunks::<8>().0) {
            *total += i64::from_le_bytes(*bytes);
        }
    }
    total
}

fn check_cold_warm_and_none(files: &[(usize, u64)]) -> Result<(), TestCaseError> {
    let place = Place::new(&[]);
    for (at, &(extension, seed)) in files.iter().enumerate() {
        let extension = EXTENSIONS[extension % EXTENSIONS.len()];
        place.write(&format!("src/part_{at}.{extension}"), source(extension, seed));
    }
    place.write("empty.rs", "");
    place.write("no_word.txt", "=> ;;\n");
    place.write_at(&place.top.join("a file"), "");
    let mut states = Vec::new();
    for (name, cache) in [("none", "a file/below"), ("cold", "shared"), ("warm", "shared")] {
        let storage = place.top.join(name);
        let options = options(std::slice::from_ref(&place.root), &storage);
        let cache = Some(place.top.join(cache));
        let engine = Engine::open(OpenOptions { cache, ..options }).unwrap();
        let report = sync(&engine);
        prop_assert_eq!(report.embedded + report.reused, report.files - 1, "but the empty one");
        prop_assert_eq!(report.reused > 0, name == "warm");
        // A file more: with some vectors from the cache, others have to be made.
        place.write("src/late.rs", source("rs", 7 + name.len() as u64));
        sync(&engine);
        fs::remove_file(place.root.join("src/late.rs")).unwrap();
        sync(&engine);
        states.push((State::of(&engine), vector_sums(&storage)));
    }
    for (state, sums) in &states[1..] {
        prop_assert_eq!(state.difference(&states[0].0), None);
        prop_assert!(*sums == states[0].1, "the sums of the vectors differ");
    }
    Ok(())
}

#[test]
fn cold_warm_and_without_cache_the_index_is_the_same() {
    let config = ProptestConfig {
        cases: 4,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    };
    let files = proptest::collection::vec((0usize..100, any::<u64>()), 1..90);
    TestRunner::new(config).run(&files, |files| check_cold_warm_and_none(&files)).unwrap();
}
