//! The process that holds the engine open all the time and keeps its index up to date.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sextant::engine::Engine;

use super::child::Child;

/// Between two syncs.
const INTERVAL: Duration = Duration::from_millis(300);

/// Keeps the index of `engine` up to date until `stop` is set. The engine has no watcher yet, so this syncs again and
/// again; once it has one, this starts it, waits for `stop` and ends it.
pub fn keep_up_to_date(child: &Child, engine: &Engine, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        child.sync(engine);
        std::thread::sleep(INTERVAL);
    }
}
