//! Runs that do not end: cancelled, killed, or with the root gone.

use std::fs;
use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sextant::config::PerformanceMode;
use sextant::engine::Engine;
use sextant::error::Error;
use sextant::task::{CancelToken, Phase, Progress};

use crate::child;
use crate::code::{Random, source};
use crate::support::{
    Place, ask, check_equals_fresh, code_of, finds, replace_unseen, search, sync, sync_and_search,
};

fn tree(n: u64) -> Place {
    let place = Place::new(&[("marked.rs", "pub fn marker_function() -> u32 {\n    1\n}\n")]);
    for at in 0..n {
        place.write(&format!("src/part_{at:03}.rs"), source("rs", at));
    }
    place
}

fn edit(place: &Place, round: u64) {
    let mut random = Random(round);
    for _ in 0..8 {
        let at = random.below(30);
        place.write(&format!("src/part_{at:03}.rs"), source("rs", random.next()));
    }
    place.write(&format!("src/new_{round}.py"), source("py", round));
    place.write("round.rs", format!("pub fn round_{round}_marker() {{}}\n"));
}

/// Syncs, cancelling at the report with this number; gives how many reports there were.
fn sync_cancelled_at(engine: &Engine, number: usize) -> (Result<(), Error>, usize) {
    let cancel = CancelToken::new();
    let n_reports = AtomicUsize::new(0);
    let progress = |_: Progress| {
        if n_reports.fetch_add(1, Ordering::Relaxed) == number {
            cancel.cancel();
        }
    };
    let result = engine.sync(&cancel, &progress).map(|_| ());
    (result, n_reports.into_inner())
}

#[test]
fn a_cancelled_run_leaves_the_last_index() {
    let place = tree(30);
    let engine = place.index();
    let mut n_cancelled = 0;
    for number in 0.. {
        let round = number as u64 + 1;
        edit(&place, round);
        let before = engine.files().unwrap().len();
        let (result, n_reports) = sync_cancelled_at(&engine, number);
        assert_eq!(engine.status().unwrap().state, "ready");
        assert!(finds(&engine, "marker_function"));
        let code = code_of(result);
        if code == "CANCELLED" {
            n_cancelled += 1;
            assert_eq!(engine.files().unwrap().len(), before, "report {number}");
            assert!(!finds(&engine, &format!("round_{round}_marker")));
            assert!(engine.status().unwrap().last_error.is_none(), "who stopped it knows");
        } else {
            assert_eq!(code, "OK");
        }
        sync(&engine);
        assert!(finds(&engine, &format!("round_{round}_marker")));
        assert!(engine.status().unwrap().last_error.is_none());
        check_equals_fresh(&engine, std::slice::from_ref(&place.root));
        if number >= n_reports {
            break;
        }
    }
    assert!(n_cancelled >= 3, "only {n_cancelled} runs were cancelled");
}

#[test]
fn a_first_run_that_is_cancelled_leaves_no_index() {
    let place = tree(5);
    for number in 0..3 {
        let engine = place.open();
        assert_eq!(code_of(sync_cancelled_at(&engine, number).0), "CANCELLED", "report {number}");
        let result = engine.search(&CancelToken::new(), &ask("marker_function"));
        assert_eq!(code_of(result), "INDEX_NOT_BUILT");
        assert_eq!(engine.status().unwrap().state, "empty");
        engine.close();
    }
    let engine = place.index();
    assert!(finds(&engine, "marker_function"));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

/// What a cancelled run had read is not read again.
#[test]
fn a_cancelled_run_is_resumed() {
    let place = Place::new(&[]);
    for at in 0..20 {
        let text = format!("pub fn first_reading_{at:02}() -> u32 {{\n    {at}\n}}\n");
        place.write(&format!("part_{at:02}.rs"), text);
    }
    let mut options = place.options();
    options.config.settings.vector_db.performance_mode = PerformanceMode::Memory;
    let engine = Engine::open(options).unwrap();
    let cancel = CancelToken::new();
    let progress = |report: Progress| {
        if report.phase == Phase::Index {
            if report.files_done >= 3 {
                cancel.cancel();
            }
            // Lets the least time between two reports pass, so that the next file is reported.
            std::thread::sleep(Duration::from_millis(110));
        }
    };
    assert_eq!(code_of(engine.sync(&cancel, &progress)), "CANCELLED");
    let staged = place.staged();
    assert!((1..20).contains(&staged.len()), "{staged:?}");
    for at in 0..20 {
        replace_unseen(
            &place.root.join(format!("part_{at:02}.rs")),
            "first_reading",
            "other_reading",
        );
    }
    // A staged file that changed meanwhile is read again.
    let touched = &staged[0];
    place.touch(&place.root.join(touched));
    let report = sync(&engine);
    assert_eq!((report.added, report.changed), (20, 0));
    for at in 0..20 {
        let path = format!("part_{at:02}.rs");
        let is_resumed = staged.contains(&path) && path != *touched;
        let expected = if is_resumed { "first_reading" } else { "other_reading" };
        let word = format!("{expected}_{at:02}");
        assert!(finds(&engine, &word), "{path} should hold {word}");
    }
}

/// Moves the root away at a report, and back after the run.
#[track_caller]
fn check_vanishing(phase: Phase, with_another_in_its_place: bool) {
    let place = tree(10);
    let engine = place.index();
    edit(&place, 1);
    let away = place.top.join("away");
    let is_moved = AtomicBool::new(false);
    let progress = |report: Progress| {
        if report.phase == phase && !is_moved.swap(true, Ordering::Relaxed) {
            fs::rename(&place.root, &away).unwrap();
            if with_another_in_its_place {
                fs::create_dir(&place.root).unwrap();
                fs::write(place.root.join("stranger.rs"), "fn stranger() {}\n").unwrap();
            }
        }
    };
    let code = code_of(engine.sync(&CancelToken::new(), &progress));
    if phase == Phase::Index || !with_another_in_its_place {
        assert_eq!(code, "ROOT_NOT_FOUND", "{phase:?}");
        assert!(finds(&engine, "marker_function"), "{phase:?}: the old index answers");
        assert_eq!(search(&engine, &ask("part_001")).degraded, []);
    }
    if with_another_in_its_place {
        fs::remove_dir_all(&place.root).unwrap();
    }
    fs::rename(&away, &place.root).unwrap();
    sync(&engine);
    assert!(finds(&engine, "marker_function") && finds(&engine, "round_1_marker"));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

#[test]
fn a_root_that_vanishes_during_the_run() {
    for phase in [Phase::Walk, Phase::Index] {
        check_vanishing(phase, false);
        check_vanishing(phase, true);
    }
}

#[test]
fn a_root_that_is_gone_before_the_run() {
    let place = tree(3);
    let engine = place.index();
    let away = place.top.join("away");
    fs::rename(&place.root, &away).unwrap();
    assert_eq!(code_of(sync_and_search(&engine, "marker_function")), "ROOT_NOT_FOUND");
    assert!(finds(&engine, "marker_function"), "without a sync, the last index answers");
    fs::write(&place.root, "a file now").unwrap();
    assert_ne!(code_of(sync_and_search(&engine, "marker_function")), "OK");
    fs::remove_file(&place.root).unwrap();
    fs::rename(&away, &place.root).unwrap();
    assert_eq!(sync(&engine).unchanged, 4);
}

/// Kills a syncing child soon after it reports a phase.
fn kill_during(place: &Place, phase: &str, delay: Duration) {
    let mut child = child::command("sync", &place.root, &place.storage).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    for line in out.lines() {
        let line = line.unwrap();
        let Some(words) = child::words(&line) else { continue };
        assert!(["walk", "index", "commit", "done"].contains(&words), "{words}");
        if words == phase || words == "done" {
            break;
        }
    }
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_leaves_the_old_or_the_new_index() {
    let place = tree(30);
    let mut random = Random(11);
    let mut is_built = false;
    for round in 1..=10u64 {
        edit(&place, round);
        let phase = *random.pick(&["index", "index", "commit"]);
        let delay = Duration::from_micros(random.next() % 60_000);
        kill_during(&place, phase, delay);
        let engine = place.open();
        assert!(place.set_aside().is_empty(), "{:?}", place.stored_names());
        let result = engine.search(&CancelToken::new(), &ask(&format!("round_{round}_marker")));
        match code_of(result) {
            "INDEX_NOT_BUILT" => assert!(!is_built, "round {round}: the old index is gone"),
            code => {
                assert_eq!(code, "OK");
                is_built = true;
                let markers: Vec<u64> =
                    (0..=round).filter(|&n| finds(&engine, &format!("round_{n}_marker"))).collect();
                assert!(markers.len() <= 1, "round {round}: states are mixed: {markers:?}");
                assert!(finds(&engine, "marker_function"));
            }
        }
        if round % 3 == 0 {
            sync(&engine);
            is_built = true;
            assert!(finds(&engine, &format!("round_{round}_marker")));
        }
        engine.close();
    }
    let engine = place.index();
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
    let verdict: String =
        place.connect().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let n_orphans: i64 = place
        .connect()
        .query_row(
            "SELECT count(*) FROM texts WHERE segment NOT IN (SELECT id FROM segments)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(n_orphans, 0);
}

/// A child with the rights of nobody, where the test runs as root; this process otherwise.
#[cfg(unix)]
fn ask_without_rights(place: &Place, root: &std::path::Path) -> Option<String> {
    use std::os::unix::process::CommandExt;
    let mut command = child::command("ask", root, &place.storage);
    if is_root() {
        command.uid(65_534).gid(65_534);
    }
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().rev().find_map(child::words).map(str::to_owned)
}

#[cfg(unix)]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().metadata().unwrap().uid() == 0
}

#[cfg(unix)]
#[test]
fn without_permission() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &std::path::Path, mode| {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    };
    let place = tree(3);
    mode(&place.top, 0o755);
    fs::create_dir(&place.storage).unwrap();
    mode(&place.storage, 0o777);
    let Some(words) = ask_without_rights(&place, &place.root) else {
        // Whoever runs this as root keeps the binary where nobody else may start it.
        return;
    };
    assert_eq!(words, "OK 1", "with all that it needs");
    // One file and one folder that cannot be read are left out and reported.
    mode(&place.root.join("src/part_000.rs"), 0);
    place.write("closed/a.rs", "fn marker_function() {}\n");
    mode(&place.root.join("closed"), 0);
    assert_eq!(ask_without_rights(&place, &place.root).unwrap(), "OK 1");
    mode(&place.root.join("closed"), 0o755);
    // A root that cannot be read: the last index answers and says so; where there is none, there is an error.
    mode(&place.root, 0);
    assert_eq!(ask_without_rights(&place, &place.root).unwrap(), "ROOT_UNREADABLE 1");
    assert_eq!(ask_without_rights(&place, &place.root.join("src")).unwrap(), "ROOT_UNREADABLE");
    mode(&place.root, 0o755);
    // A storage folder that cannot be written answers as it is, and says so.
    place.write("marked.rs", "pub fn marker_function() -> u32 {\n    2\n}\n");
    for file in fs::read_dir(&place.storage).unwrap() {
        mode(&file.unwrap().path(), 0o444);
    }
    mode(&place.storage, 0o555);
    let words = ask_without_rights(&place, &place.root).unwrap();
    assert!(words.starts_with("STORAGE_UNWRITABLE"), "{words}");
    mode(&place.storage, 0o777);
}
