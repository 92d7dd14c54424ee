//! The process that holds the engine open all the time and keeps its index up to date.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sextant::engine::{Engine, WatchEvent, WatchOptions};

use super::child::Child;

/// Short, so that a run has many bursts.
const DEBOUNCE: Duration = Duration::from_millis(300);

/// Watches until `stop` is set; what its runs do and refuse counts as that of any sync.
pub fn keep_up_to_date(child: &Arc<Child>, engine: &Arc<Engine>, stop: &AtomicBool) {
    let told = Arc::clone(child);
    let sink = move |event: WatchEvent| match event {
        WatchEvent::Synced(report) => {
            told.answered();
            told.notices(&report.degraded);
        }
        WatchEvent::Failed(failure) => {
            told.notices(std::slice::from_ref(&failure));
        }
        WatchEvent::Progress(_) => {}
    };
    if let Err(error) = engine.watch(WatchOptions { debounce: DEBOUNCE }, Arc::new(sink)) {
        child.refused("watch", &error);
    }
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(DEBOUNCE);
    }
    engine.unwatch();
}
