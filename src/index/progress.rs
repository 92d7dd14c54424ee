//! Reports progress often enough to see, not so often that it costs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::config::settings::ProgressLocation;
use crate::task::{Phase, Progress, ProgressSink};

/// Least time between two reports of one phase.
const INTERVAL: Duration = Duration::from_millis(100);

/// Does something at the end of a block, however it ends.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Counts the files of a phase, from any thread.
pub struct Meter<'a> {
    sink: &'a dyn ProgressSink,
    phase: Phase,
    total: u64,
    started: Instant,
    state: Mutex<(u64, Instant)>,
}

impl<'a> Meter<'a> {
    /// Starts a phase and reports its start.
    pub fn start(sink: &'a dyn ProgressSink, phase: Phase, total: u64) -> Self {
        let now = Instant::now();
        let meter = Self { sink, phase, total, started: now, state: Mutex::new((0, now)) };
        meter.report(0, None);
        meter
    }

    /// One file more is done.
    pub fn file_done(&self, path: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (done, last) = &mut *state;
        *done += 1;
        if last.elapsed() < INTERVAL {
            return;
        }
        *last = Instant::now();
        let done = *done;
        drop(state);
        self.report(done, Some(path));
    }

    /// Says again how far it is, now and then until `done`: who waits for somebody else is seen to wait.
    pub fn while_waiting<T>(&self, work: impl FnOnce() -> T) -> T {
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let beat = || {
                while !is_done.load(Ordering::SeqCst) {
                    std::thread::park_timeout(INTERVAL);
                    let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                    let (done, last) = *state;
                    drop(state);
                    if last.elapsed() >= INTERVAL && !is_done.load(Ordering::SeqCst) {
                        self.report(done, None);
                    }
                }
            };
            // Without a thread it is only seen less often.
            let beating =
                std::thread::Builder::new().name("sextant-beat".into()).spawn_scoped(scope, beat);
            // Also when the work panics: the scope waits for the beat.
            let _end = OnDrop(|| {
                is_done.store(true, Ordering::SeqCst);
                if let Ok(beating) = &beating {
                    beating.thread().unpark();
                }
            });
            work()
        })
    }

    /// The phase is over.
    pub fn finish(&self) {
        let done = self.state.lock().unwrap_or_else(PoisonError::into_inner).0;
        self.report(done, None);
    }

    fn report(&self, done: u64, path: Option<&str>) {
        let elapsed = self.started.elapsed();
        let enough = done > 0 && elapsed > Duration::from_millis(500);
        let remaining_ms = enough.then(|| {
            let left = self.total.saturating_sub(done) as f64;
            (elapsed.as_secs_f64() * 1000.0 * left / done as f64) as u64
        });
        self.sink.report(Progress {
            phase: self.phase,
            files_done: done,
            files_total: self.total,
            current_file: path.map(str::to_owned),
            remaining_ms,
            location: ProgressLocation::Notification,
        });
    }
}
