//! Cancelling and watching a long run.
//!
//! Both are passed in, first among the parameters; long loops ask the token per file and per batch.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::config::settings::ProgressLocation;

/// Between two questions to the condition of a token, in milliseconds.
const CONDITION_INTERVAL_MS: u64 = 100;

/// A flag that stops running work. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    flag: Arc<AtomicBool>,
    condition: Option<Arc<Condition>>,
}

/// Something outside the program that stops work as well.
struct Condition {
    holds: Box<dyn Fn() -> bool + Send + Sync>,
    held: AtomicBool,
    since: Instant,
    next_ms: AtomicU64,
}

impl fmt::Debug for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Condition").field("held", &self.held).finish_non_exhaustive()
    }
}

impl Condition {
    /// Asks at most every [`CONDITION_INTERVAL_MS`]; once it held, it holds.
    fn ask(&self) -> bool {
        if self.held.load(Ordering::Relaxed) {
            return true;
        }
        let now = self.since.elapsed().as_millis() as u64;
        if now < self.next_ms.load(Ordering::Relaxed) {
            return false;
        }
        self.next_ms.store(now + CONDITION_INTERVAL_MS, Ordering::Relaxed);
        let holds = (self.holds)();
        self.held.fetch_or(holds, Ordering::Relaxed);
        holds
    }
}

/// The run was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl CancelToken {
    /// A token that nothing has cancelled yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token that is cancelled with this one, and also once `holds` answers true. It is asked now and then, from the
    /// threads that do the work, and must answer quickly.
    #[must_use]
    pub fn or_when(&self, holds: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let before = self.condition.clone();
        let condition = Condition {
            holds: Box::new(move || before.as_ref().is_some_and(|before| before.ask()) || holds()),
            held: AtomicBool::new(false),
            since: Instant::now(),
            next_ms: AtomicU64::new(0),
        };
        Self { flag: Arc::clone(&self.flag), condition: Some(Arc::new(condition)) }
    }

    /// Asks all work that holds this token to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called, or what else stops the work holds.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
            || self.condition.as_ref().is_some_and(|condition| condition.ask())
    }

    /// # Errors
    /// [`Cancelled`] once the token was cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

/// What an index run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Listing the files of the roots.
    Walk,
    /// Reading, chunking and embedding files.
    Index,
    /// Writing the last of it and making it current.
    Commit,
    /// Waiting for vectors of a provider. What is counted is texts, not files.
    Embed,
}

impl Phase {
    /// Stable lower-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Index => "index",
            Self::Commit => "commit",
            Self::Embed => "embed",
        }
    }
}

/// One report of how far a run is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Files done in this phase.
    pub files_done: u64,
    /// Files to do in this phase; 0 while unknown.
    pub files_total: u64,
    /// A file being worked on, relative to its root.
    pub current_file: Option<String>,
    /// Estimated milliseconds left, once there is enough to go by.
    pub remaining_ms: Option<u64>,
    /// Where the owner wants to see it.
    pub location: ProgressLocation,
}

/// Receives progress, from any thread, at most every 100 ms and once at the end of a phase.
pub trait ProgressSink: Sync {
    /// Takes one report. Must return quickly.
    fn report(&self, progress: Progress);
}

/// Ignores all progress.
pub struct NoProgress;

impl ProgressSink for NoProgress {
    fn report(&self, _progress: Progress) {}
}

impl<F: Fn(Progress) + Sync> ProgressSink for F {
    fn report(&self, progress: Progress) {
        self(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_cancelled_by_each_of_its_conditions_and_by_its_flag() {
        let [first, second] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let when = |flag: &Arc<AtomicBool>| {
            let flag = Arc::clone(flag);
            move || flag.load(Ordering::Relaxed)
        };
        let made = || CancelToken::new().or_when(when(&first)).or_when(when(&second));
        assert!(!made().is_cancelled());
        for flag in [&first, &second] {
            flag.store(true, Ordering::Relaxed);
            assert!(made().is_cancelled());
            flag.store(false, Ordering::Relaxed);
        }
        let token = made();
        token.cancel();
        assert!(token.is_cancelled());
    }
}
