//! Lines from a child to its parent.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sextant::task::{Phase, Progress};

use crate::random::Random;

/// Watches a sync: how long it stood between the end of the walk and the start of reading.
pub struct SyncWatch {
    pause: Duration,
    walked: Mutex<Option<Instant>>,
    waited_ms: AtomicU64,
}

impl SyncWatch {
    /// Holds the run up for `pause` after its walk, as a system that runs something else would: what others publish
    /// meanwhile must not be lost.
    pub fn new(pause: Duration) -> Self {
        Self { pause, walked: Mutex::default(), waited_ms: AtomicU64::new(0) }
    }

    /// A pause in some cases.
    pub fn any(random: &mut Random) -> Self {
        let pause_ms = if random.percent(15) { random.below(400) } else { 0 };
        Self::new(Duration::from_millis(pause_ms as u64))
    }

    /// Takes a report of the run.
    pub fn see(&self, progress: &Progress) {
        let is_walked = progress.phase == Phase::Walk && progress.files_done > 0;
        if is_walked && progress.files_done == progress.files_total {
            std::thread::sleep(self.pause);
        }
        let mut walked = self.walked.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match progress.phase {
            Phase::Walk => *walked = Some(Instant::now()),
            Phase::Index => {
                if let Some(walked) = walked.take() {
                    self.waited_ms.store(walked.elapsed().as_millis() as u64, Ordering::Relaxed);
                }
            }
            Phase::Commit | Phase::Embed => {}
        }
    }

    /// Reports a wait, if there was one.
    pub fn tell(&self) {
        let waited_ms = self.waited_ms.load(Ordering::Relaxed);
        // Below this nobody else had the lock.
        if waited_ms > 20 {
            say(format_args!("did wait {waited_ms}"));
        }
    }
}

/// Reports a wrong answer to the question that `of` names.
pub fn tell_wrong(
    verdict: std::result::Result<(), (&'static str, String)>,
    of: impl FnOnce() -> String,
) {
    if let Err((kind, words)) = verdict {
        let words = words.replace('\n', "\\n");
        say(format_args!("wrong {} {words}; {}", kind.replace(' ', "-"), of()));
    }
}

/// Calls, and reports how long it took.
pub fn timed<T>(what: &str, call: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = call();
    say(format_args!("did {what} {}", started.elapsed().as_millis()));
    result
}

/// A degradation of `sync_and_search` and an error of a run while another process writes: documented, and transient.
pub const BUSY: &str = "STORAGE_BUSY";

/// Reports an error: counted, and wrong unless it passes by itself.
pub fn note_code(what: &str, code: &str, message: &str) {
    say(format_args!("code {what} {code}"));
    if code != BUSY {
        say(format_args!("wrong error {what} failed: {code} {message}"));
    }
}

/// A line to the parent. If there is no parent any more, there is nobody to tell.
pub fn say(words: std::fmt::Arguments<'_>) {
    let line = format!("{words}\n");
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(line.as_bytes());
    let _ = out.flush();
}
