//! Keeps the index of an open engine up to date with the engine's own watch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sextant::engine::{Engine, WatchEvent, WatchOptions};

use super::child::{Child, note_code, say};

/// Shorter than an editor would choose, so that a run has many bursts.
const DEBOUNCE: Duration = Duration::from_millis(200);

/// Keeps the index of `engine` up to date until `stop` is set.
pub fn keep_up_to_date(child: &Arc<Child>, engine: &Arc<Engine>, stop: &AtomicBool) {
    watch(child, engine);
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
    }
    engine.unwatch();
}

/// Begins to watch. What the runs of the watch do and refuse counts as that of any sync.
pub fn watch(child: &Arc<Child>, engine: &Arc<Engine>) {
    let told = Arc::clone(child);
    let sink = move |event: WatchEvent| match event {
        WatchEvent::Progress(_) => {}
        WatchEvent::Synced(report) => {
            told.answered();
            told.notices(&report.degraded);
            say(format_args!("did watched-sync {}", report.took_ms as u64));
        }
        WatchEvent::Failed(failure) => {
            if !told.may_be_cleared(failure.code) {
                note_code("watch", failure.code, &failure.message);
            }
        }
    };
    if let Err(error) = engine.watch(WatchOptions { debounce: Some(DEBOUNCE) }, Arc::new(sink)) {
        child.refused("watch", &error);
    }
}
