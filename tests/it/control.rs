//! Pause, resume and clear, here and from elsewhere. A second engine on the same storage stands for another process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use sextant::config::PerformanceMode;
use sextant::engine::{Engine, WatchEvent, WatchOptions};
use sextant::task::{CancelToken, NoProgress, Phase, Progress};

use crate::support::{
    Place, ask, check_equals_fresh, code_of, codes, finds, options, replace_unseen, sync,
    sync_and_search,
};

fn sync_code(engine: &Engine) -> &'static str {
    code_of(engine.sync(&CancelToken::new(), &NoProgress))
}

fn resume(engine: &Engine) {
    engine.resume(&CancelToken::new(), &NoProgress).unwrap();
}

fn tree() -> Place {
    let place = Place::new(&[("marked.rs", "pub fn first_marker() -> u32 {\n    1\n}\n")]);
    for at in 0..40 {
        let text = format!("pub fn first_reading_{at:02}() -> u32 {{\n    {at}\n}}\n");
        place.write(&format!("part_{at:02}.rs"), text);
    }
    place
}

/// Reads one file after the other.
fn slow(place: &Place) -> Engine {
    let mut options = place.options();
    options.config.settings.vector_db.performance_mode = PerformanceMode::Memory;
    Engine::open(options).unwrap()
}

/// Syncs, and lets somebody else pause in the middle. Gives the paths that the checkpoint holds.
fn sync_paused_by(place: &Place, other: &Engine) -> Vec<String> {
    let engine = slow(place);
    let (ask_for_pause, asked) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            asked.recv().unwrap();
            other.pause().unwrap();
        });
        let is_asked = AtomicBool::new(false);
        let progress = |report: Progress| {
            if report.phase == Phase::Index && report.files_done >= 3 {
                if !is_asked.swap(true, Ordering::Relaxed) {
                    ask_for_pause.send(()).unwrap();
                }
                // Until the pause is seen, every file takes its time.
                std::thread::sleep(Duration::from_millis(120));
            } else if report.phase == Phase::Index {
                std::thread::sleep(Duration::from_millis(110));
            }
        };
        assert_eq!(code_of(engine.sync(&CancelToken::new(), &progress)), "INDEX_PAUSED");
    });
    place.staged()
}

#[test]
fn a_pause_keeps_what_is_finished_and_resume_goes_on() {
    let place = tree();
    let other = place.open();
    let kept = sync_paused_by(&place, &other);
    assert!((1..41).contains(&kept.len()), "{kept:?}");
    assert_eq!(other.status().unwrap().state, "paused");
    assert_eq!(sync_code(&other), "INDEX_PAUSED");
    // Read again, they would differ.
    for at in 0..40 {
        replace_unseen(
            &place.root.join(format!("part_{at:02}.rs")),
            "first_reading",
            "other_reading",
        );
    }
    // Changed, added and removed during the pause.
    place.write(&kept[0], "pub fn changed_meanwhile() {}\n");
    place.write("added.rs", "pub fn added_meanwhile() {}\n");
    place.remove(&kept[kept.len() - 1]);
    resume(&other);
    assert_eq!(other.status().unwrap().state, "ready");
    for path in &kept[1..kept.len() - 1] {
        let word = path.replace("part_", "first_reading_").replace(".rs", "");
        assert!(path == "marked.rs" || finds(&other, &word), "{path} was read again");
    }
    assert!(finds(&other, "changed_meanwhile") && finds(&other, "added_meanwhile"));
    assert!(!finds(&other, &kept[kept.len() - 1].replace("part_", "reading_").replace(".rs", "")));
}

#[test]
fn the_last_index_is_searched_during_a_pause() {
    let place = tree();
    let engine = place.index();
    engine.pause().unwrap();
    place.write("marked.rs", "pub fn second_marker() {}\n");
    let response = sync_and_search(&engine, "first_marker").unwrap();
    assert_eq!(codes(&response.degraded), ["INDEX_PAUSED"]);
    assert!(response.hits[0].text.contains("first_marker"));
    assert!(engine.status().unwrap().last_error.is_none());
    resume(&engine);
    assert!(finds(&engine, "second_marker") && !finds(&engine, "first_marker"));
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

#[test]
fn a_pause_outlives_its_process_and_is_the_workspaces_own() {
    let place = tree();
    let other_root = place.top.join("other");
    place.write_at(&other_root.join("a.rs"), "pub fn of_the_other() {}\n");
    let other = Engine::open(options(std::slice::from_ref(&other_root), &place.storage)).unwrap();
    place.index().pause().unwrap();
    let reopened = place.open();
    assert_eq!(sync_code(&reopened), "INDEX_PAUSED");
    assert_eq!(sync_code(&other), "OK");
    reopened.clear().unwrap();
    assert!(finds(&other, "of_the_other"));
    assert_eq!(other.status().unwrap().state, "ready");
    assert_eq!(reopened.status().unwrap().state, "cleared");
    check_equals_fresh(&other, &[other_root]);
}

#[test]
fn clearing_discards_the_checkpoint_and_stops_until_asked() {
    let place = tree();
    let engine = place.open();
    let kept = sync_paused_by(&place, &engine);
    assert!(!kept.is_empty());
    engine.clear().unwrap();
    let n_rows: i64 =
        place.connect().query_row("SELECT count(*) FROM files", [], |row| row.get(0)).unwrap();
    assert_eq!(n_rows, 0);
    assert_eq!(code_of(sync_and_search(&engine, "first_marker")), "INDEX_CLEARED");
    assert_eq!(code_of(engine.search(&CancelToken::new(), &ask("x"))), "INDEX_NOT_BUILT");
    assert_eq!(code_of(sync_and_search(&place.open(), "first_marker")), "INDEX_CLEARED");
    assert_eq!(engine.status().unwrap().state, "cleared");
    let report = sync(&engine);
    assert_eq!((report.added, report.unchanged), (41, 0));
    assert_eq!(code_of(sync_and_search(&place.open(), "first_marker")), "OK");
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}

/// A watch makes no index that was cleared, follows a pause, and goes on by itself once it is over.
#[test]
fn a_watch_follows() {
    let place = tree();
    let (engine, other) = (Arc::new(place.open()), place.open());
    let (sender, events) = channel();
    let sender = std::sync::Mutex::new(sender);
    let sink = move |event: WatchEvent| {
        let code = match event {
            WatchEvent::Progress(_) => return,
            WatchEvent::Synced(_) => "SYNCED",
            WatchEvent::Failed(failure) => failure.code,
        };
        let _ = sender.lock().unwrap().send(code);
    };
    engine
        .watch(WatchOptions { debounce: Some(Duration::from_millis(20)) }, Arc::new(sink))
        .unwrap();
    let next = || events.recv_timeout(Duration::from_secs(60)).unwrap();
    let until = |wanted: &str| while next() != wanted {};
    until("SYNCED");
    other.pause().unwrap();
    place.write("marked.rs", "pub fn second_marker() {}\n");
    until("INDEX_PAUSED");
    assert!(finds(&engine, "first_marker") && !finds(&engine, "second_marker"));
    resume(&other);
    sync_and_search(&engine, "x").unwrap();
    assert!(finds(&engine, "second_marker"));
    other.clear().unwrap();
    until("INDEX_CLEARED");
    assert_eq!(engine.status().unwrap().state, "cleared");
    place.write("marked.rs", "pub fn third_marker() {}\n");
    until("INDEX_CLEARED");
    assert_eq!(engine.status().unwrap().files, 0);
    sync(&other);
    place.write("marked.rs", "pub fn fourth_marker() {}\n");
    until("SYNCED");
    sync_and_search(&engine, "x").unwrap();
    assert!(finds(&engine, "fourth_marker"));
}
