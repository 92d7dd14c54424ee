//! Several engines on one storage.

use std::fs::{self, File};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sextant::engine::{Engine, SearchRequest};
use sextant::task::{CancelToken, Phase, Progress};

use crate::support::{
    Place, ask, check_equals_fresh, code_of, codes, finds, search, sync, sync_and_search,
};

fn write_epoch(place: &Place, epoch: usize) {
    for at in 0..24 {
        let text = format!(
            "pub fn epoch_marker_{at}() -> u32 {{\n    let epoch = {epoch};\n    epoch\n}}\n"
        );
        place.write(&format!("src/part_{at}.rs"), text);
    }
}

/// Readers see the state before or the state after, never a mixture, and never an error.
#[test]
fn two_write_and_one_reads() {
    let place = Place::new(&[]);
    write_epoch(&place, 0);
    let writers = [place.index(), place.open()];
    let reader = place.open();
    let request = SearchRequest { limit: Some(100), ..ask("epoch marker") };
    for epoch in 1..=6 {
        write_epoch(&place, epoch);
        let n_running = std::sync::atomic::AtomicUsize::new(2);
        std::thread::scope(|scope| {
            for writer in &writers {
                let n_running = &n_running;
                scope.spawn(move || {
                    sync(writer);
                    n_running.fetch_sub(1, Ordering::SeqCst);
                });
            }
            loop {
                let is_last = n_running.load(Ordering::SeqCst) == 0;
                let response = search(&reader, &request);
                assert_eq!(response.hits.len(), 24);
                let old = format!("let epoch = {};", epoch - 1);
                let new = format!("let epoch = {epoch};");
                let n_old = response.hits.iter().filter(|hit| hit.text.contains(&old)).count();
                let n_new = response.hits.iter().filter(|hit| hit.text.contains(&new)).count();
                assert!((n_old, n_new) == (24, 0) || (n_old, n_new) == (0, 24), "{n_old} {n_new}");
                assert!(!is_last || n_new == 24, "both writers are done");
                assert_eq!(reader.files().unwrap().len(), 24);
                if is_last {
                    break;
                }
            }
        });
        let counts: Vec<u64> = writers.iter().map(|engine| sync(engine).unchanged).collect();
        assert_eq!(counts, [24, 24]);
    }
    check_equals_fresh(&reader, std::slice::from_ref(&place.root));
}

/// One engine, called from many threads at once.
#[test]
fn one_engine_from_many_threads() {
    let place = Place::new(&[]);
    write_epoch(&place, 0);
    let engine = place.open();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    assert!(!sync_and_search(&engine, "epoch marker").unwrap().hits.is_empty());
                    engine.status().unwrap();
                }
            });
        }
    });
    assert_eq!(engine.files().unwrap().len(), 24);
}

/// Many open a storage at once that is new, damaged or of another version: each gets the answer.
#[test]
fn many_open_at_once() {
    type Prepare = fn(&Place);
    let prepare: [(&str, Prepare); 3] = [
        ("new", |_| ()),
        ("damaged", |place| {
            place.index().close();
            fs::write(place.database(), [7u8; 9000]).unwrap();
        }),
        ("older", |place| {
            place.index().close();
            place.connect().pragma_update(None, "user_version", 0).unwrap();
        }),
    ];
    for (name, prepare) in prepare {
        let place = Place::new(&[]);
        write_epoch(&place, 0);
        prepare(&place);
        let n_notices: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..5)
                .map(|_| {
                    scope.spawn(|| {
                        let engine = Engine::open(place.options())
                            .unwrap_or_else(|error| panic!("{name}: open: {error:?}"));
                        let response = sync_and_search(&engine, "epoch_marker_3")
                            .unwrap_or_else(|error| panic!("{name}: sync: {error:?}"));
                        assert_eq!(response.hits[0].path, "src/part_3.rs", "{name}");
                        response.degraded.len()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(n_notices, usize::from(name != "new"), "{name}: notices");
        assert_eq!(place.set_aside().len(), usize::from(name == "damaged"), "{name}");
    }
}

/// A writer that hangs does not keep anybody from the last complete index.
#[test]
fn a_held_lock_gives_the_last_index() {
    let place = Place::new(&[("a.rs", "pub fn old_marker() {}\n")]);
    let engine = place.index();
    let lock = File::options().write(true).open(place.storage.join("write.lock")).unwrap();
    lock.lock().unwrap();
    // Nothing to write: the lock does not matter.
    let started = Instant::now();
    let response = sync_and_search(&engine, "old_marker").unwrap();
    assert!(response.degraded.is_empty() && response.hits.len() == 1);
    assert!(started.elapsed() < Duration::from_secs(3));
    place.write("b.rs", "pub fn new_marker() {}\n");
    let started = Instant::now();
    let response = sync_and_search(&engine, "old_marker").unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(codes(&response.degraded), ["STORAGE_BUSY"]);
    assert_eq!(response.hits[0].path, "a.rs");
    // Waiting for it can be cancelled.
    let cancel = CancelToken::new();
    let progress = |report: Progress| {
        if report.phase == Phase::Walk && report.files_done == report.files_total {
            cancel.cancel();
        }
    };
    assert_eq!(code_of(engine.sync(&cancel, &progress)), "CANCELLED");
    // A new engine opens and answers as well.
    assert!(finds(&place.open(), "old_marker"));
    drop(lock);
    let response = sync_and_search(&engine, "new_marker").unwrap();
    assert!(response.degraded.is_empty());
    assert_eq!(response.hits[0].path, "b.rs");
}

/// A search can be cancelled, and so can a sync that has not begun.
#[test]
fn a_token_that_is_cancelled_already() {
    let place = Place::new(&[]);
    write_epoch(&place, 0);
    let engine = place.index();
    let cancel = CancelToken::new();
    cancel.cancel();
    let is_called = AtomicBool::new(false);
    let progress = |_: Progress| is_called.store(true, Ordering::Relaxed);
    assert_eq!(code_of(engine.sync(&cancel, &progress)), "CANCELLED");
    for query in ["epoch marker", "=>"] {
        assert_eq!(code_of(engine.search(&cancel, &ask(query))), "CANCELLED", "{query}");
    }
    assert_eq!(code_of(engine.sync_and_search(&cancel, &progress, &ask("epoch"))), "CANCELLED");
    assert!(finds(&engine, "epoch_marker_1"));
}

/// Whoever cleans up caches may do so at any time.
#[test]
fn a_storage_folder_that_is_removed_meanwhile() {
    let place = Place::new(&[]);
    write_epoch(&place, 0);
    let engine = place.index();
    fs::remove_dir_all(&place.storage).unwrap();
    assert!(finds(&engine, "epoch_marker_1"), "what is open can be read");
    write_epoch(&place, 1);
    let response = sync_and_search(&engine, "epoch_marker_1").unwrap();
    let is_new = response.hits[0].text.contains("let epoch = 1;");
    assert!(
        is_new || codes(&response.degraded) == ["STORAGE_UNWRITABLE"],
        "{:?}",
        response.degraded
    );
    engine.close();
    let engine = place.index();
    check_equals_fresh(&engine, std::slice::from_ref(&place.root));
}
