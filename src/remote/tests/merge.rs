//! What is believed of a server's hits, and how the two lists become one.

use std::collections::HashSet;
use std::path::Path;

use proptest::prelude::*;

use super::super::local::LocalHit;
use super::super::merge::{Found, MergedHit, PlacedHit, Rejected, merge, place};
use super::super::types::{FileRef, IndexedFiles, MAX_QUERY_BYTES, RemoteHit, RemoteQuery};
use super::repository;
use crate::span::LineRange;

/// An index of `src/*.rs`, ten lines each.
struct Files;

impl IndexedFiles for Files {
    fn count(&self) -> usize {
        10
    }

    fn is_indexed(&self, file: &FileRef) -> bool {
        file.path.starts_with("src/") && file.path.ends_with(".rs")
    }

    fn is_wanted(&self, file: &FileRef) -> bool {
        self.is_indexed(file)
    }

    fn n_lines(&self, file: &FileRef) -> Option<u32> {
        (file.path != "src/unknown.rs").then_some(10)
    }

    fn wanted_in(&self, _folder: usize, _at_most: usize) -> Option<Vec<String>> {
        None
    }
}

fn remote(path: &str, lines: (u32, u32), score: f64) -> RemoteHit {
    RemoteHit {
        repository: "git.example/Acme/app".into(),
        path: path.into(),
        lines: LineRange { start: lines.0, end: lines.1 },
        text: "text".into(),
        score,
    }
}

#[test]
fn only_hits_that_can_be_true_are_kept() {
    let other =
        RemoteHit { repository: "git.example/evil/app".into(), ..remote("src/a.rs", (0, 1), 1.0) };
    let hits = vec![
        remote("src/a.rs", (2, 5), 1.0),
        remote("src/a.rs", (8, 50), 1.0),
        remote("src/unknown.rs", (8, 50), 1.0),
        other,
        remote("/src/a.rs", (0, 1), 1.0),
        remote("../src/a.rs", (0, 1), 1.0),
        remote("src/../../a.rs", (0, 1), 1.0),
        remote("src\\..\\a.rs", (0, 1), 1.0),
        remote("src//a.rs", (0, 1), 1.0),
        remote("C:\\src\\a.rs", (0, 1), 1.0),
        remote("src/a.rs\0", (0, 1), 1.0),
        remote("", (0, 1), 1.0),
        remote("secret.txt", (0, 1), 1.0),
        remote("src/a.rs", (10, 12), 1.0),
        remote("src/a.rs", (5, 5), 1.0),
        remote("src/a.rs", (7, 3), 1.0),
        remote("src/a.rs", (0, 1), f64::NAN),
        remote("src/a.rs", (0, 1), f64::INFINITY),
    ];
    let mut rejected = Rejected::default();
    let ours = repository(Path::new("/work/app"));
    let placed = place(hits, 0, &ours, &Files, &mut rejected);
    let lines: Vec<_> = placed.iter().map(|hit| (hit.lines.start, hit.lines.end)).collect();
    assert_eq!(lines, [(2, 5), (8, 10), (8, 50)]);
    let expected = Rejected { of_another_repository: 1, bad_path: 8, not_wanted: 1, bad_lines: 5 };
    assert_eq!(rejected, expected);
}

fn file(at: usize) -> FileRef {
    FileRef { folder: 0, path: format!("{at}") }
}

fn placed(at: usize, line: u32, score: f64) -> PlacedHit {
    let lines = LineRange { start: line, end: line + 1 };
    PlacedHit { file: file(at), lines, text: String::new(), score }
}

fn local(at: usize, line: u32, score: f64) -> LocalHit<()> {
    let lines = LineRange { start: line, end: line + 1 };
    LocalHit { file: file(at), lines, score, hit: () }
}

/// File and score of each hit; a `!` marks the local ones.
fn show(hits: &[MergedHit<()>]) -> Vec<String> {
    hits.iter()
        .map(|hit| {
            let mark = if matches!(hit.found, Found::Local(())) { "!" } else { "" };
            format!("{mark}{}:{:.2}", hit.file.path, hit.score)
        })
        .collect()
}

fn set(files: &[usize]) -> HashSet<FileRef> {
    files.iter().map(|&at| file(at)).collect()
}

#[test]
fn the_lists_are_interleaved_by_their_share_of_the_best() {
    let from_server = vec![placed(0, 0, 0.8), placed(1, 0, 0.4), placed(2, 0, 0.2)];
    let here = vec![local(7, 0, 30.0), local(8, 0, 12.0), local(9, 0, 12.0)];
    let merged = merge(from_server, Some(here), &set(&[7, 8]), &set(&[]), 10);
    assert_eq!(show(&merged), ["0:1.00", "!7:1.00", "1:0.50", "!8:0.40", "2:0.25"]);
}

#[test]
fn without_local_hits_only_gone_files_are_dropped() {
    let from_server = || vec![placed(0, 0, 3.0), placed(1, 0, 2.0), placed(2, 0, 1.0)];
    let merged = merge::<()>(from_server(), None, &set(&[0]), &set(&[1]), 10);
    assert_eq!(show(&merged), ["0:1.00", "2:0.33"]);
    let merged = merge::<()>(from_server(), Some(Vec::new()), &set(&[0]), &set(&[1]), 10);
    assert_eq!(show(&merged), ["2:1.00"]);
}

#[test]
fn scores_below_zero_keep_their_order() {
    let from_server = vec![placed(0, 0, -2.0), placed(1, 0, -1.0), placed(2, 0, -3.0)];
    let merged = merge::<()>(from_server, None, &set(&[]), &set(&[]), 2);
    assert_eq!(show(&merged), ["1:1.00", "0:0.50"]);
}

#[test]
fn long_questions_are_cut_between_characters() {
    let query = RemoteQuery::new(&"ü".repeat(5_000), 1);
    assert_eq!(query.text().len(), MAX_QUERY_BYTES);
    let query = RemoteQuery::new(&format!("x{}", "ü".repeat(5_000)), 1);
    assert_eq!(query.text().len(), MAX_QUERY_BYTES - 1);
    assert_eq!(RemoteQuery::new("short", 1).text(), "short");
}

proptest! {
    #[test]
    fn a_changed_file_is_never_answered_by_the_server(
        from_server in prop::collection::vec((0..8usize, 0..4u32, -5.0..5.0f64), 0..40),
        here in prop::collection::vec((0..8usize, 0..4u32, -5.0..500.0f64), 0..40),
        changed in prop::collection::hash_set(0..8usize, 0..8),
        gone in prop::collection::hash_set(0..8usize, 0..4),
        has_local in any::<bool>(),
        limit in 0..30usize,
    ) {
        let remote = from_server.iter().map(|&(at, line, score)| placed(at, line, score)).collect();
        let here = here.iter().map(|&(at, line, score)| local(at, line, score)).collect();
        let changed: HashSet<FileRef> = changed.into_iter().map(file).collect();
        let gone: HashSet<FileRef> = gone.into_iter().map(file).collect();
        let merged = merge(remote, has_local.then_some(here), &changed, &gone, limit);
        prop_assert!(merged.len() <= limit);
        let mut seen = HashSet::new();
        for hit in &merged {
            prop_assert!(seen.insert((hit.file.clone(), hit.lines)), "twice: {hit:?}");
            prop_assert!((0.0..=1.0).contains(&hit.score));
            match hit.found {
                Found::Remote { .. } => {
                    prop_assert!(!gone.contains(&hit.file));
                    prop_assert!(!has_local || !changed.contains(&hit.file));
                }
                Found::Local(()) => prop_assert!(changed.contains(&hit.file)),
            }
        }
        prop_assert!(merged.windows(2).all(|pair| pair[0].score >= pair[1].score));
        if limit > 0 {
            prop_assert!(merged.first().is_none_or(|hit| hit.score == 1.0));
        }
    }
}
