//! Cancelling and watching a long run.
//!
//! Both are passed in, first among the parameters; long loops ask the token per file and per batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that stops running work. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

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

    /// Asks all work that holds this token to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
}

impl Phase {
    /// Stable lower-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Index => "index",
            Self::Commit => "commit",
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
