//! The changed files, searched here.
//!
//! In: files. Out: hits of the caller's kind, or why there are none. Many files are searched by words only. Few are
//! searched by their vectors; if that takes long, or fails, the search by words joins it, and the first that *succeeds*
//! counts (described: the first that ends, even by failing). The other one is told to stop.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::call::{TICK, child};
use super::limits::RemoteLimits;
use super::types::FileRef;
use crate::span::LineRange;
use crate::task::{CancelToken, Cancelled};

/// A hit in a changed file.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalHit<H> {
    /// Where.
    pub file: FileRef,
    /// 0-based, half-open.
    pub lines: LineRange,
    /// Higher is better; comparable within one answer.
    pub score: f64,
    /// What the caller knows it by.
    pub hit: H,
}

/// Why a local search has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalError {
    /// It was told to stop.
    #[error("cancelled")]
    Cancelled,
    /// It failed.
    #[error("{reason}")]
    Failed {
        /// For a person.
        reason: String,
    },
}

impl From<Cancelled> for LocalError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// Searches some files of the local index. A search must end within 100 ms of its token being cancelled: it works on
/// what the caller has borrowed, so the caller cannot return before.
pub trait LocalSearch<H>: Sync {
    /// By meaning, and by whatever else the caller sees fit.
    ///
    /// # Errors
    /// [`LocalError`]. No hits are no error.
    fn by_vectors(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        limit: usize,
    ) -> Result<Vec<LocalHit<H>>, LocalError>;

    /// By words alone.
    ///
    /// # Errors
    /// As [`LocalSearch::by_vectors`].
    fn by_words(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        limit: usize,
    ) -> Result<Vec<LocalHit<H>>, LocalError>;
}

/// How the changed files were searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocalPart {
    /// There are none.
    Skipped,
    /// By vectors.
    Vectors,
    /// By words.
    Words,
    /// Not in time.
    TimedOut,
    /// In vain.
    Failed {
        /// For a person.
        reason: String,
    },
}

impl LocalPart {
    /// Stable name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Vectors => "vectors",
            Self::Words => "words",
            Self::TimedOut => "timed-out",
            Self::Failed { .. } => "failed",
        }
    }
}

/// Hits, and how they were found.
pub(super) type LocalAnswer<H> = Result<(LocalPart, Vec<LocalHit<H>>), LocalPart>;

/// Searches `files` and hands the answer to `answer`, once, as soon as there is one.
pub(super) fn search<H: Send>(
    cancel: &CancelToken,
    files: &[FileRef],
    limit: usize,
    limits: &RemoteLimits,
    local: &dyn LocalSearch<H>,
    answer: impl FnOnce(LocalAnswer<H>),
) {
    if files.is_empty() {
        return answer(Ok((LocalPart::Skipped, Vec::new())));
    }
    let begun = Instant::now();
    let token = child(cancel);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let start = |part: LocalPart| {
            let (sender, token) = (sender.clone(), &token);
            let run = move || {
                let result = match part {
                    LocalPart::Vectors => local.by_vectors(token, files, limit),
                    _ => local.by_words(token, files, limit),
                };
                // The receiver is gone once nobody waits any more.
                drop(sender.send((part, result)));
            };
            thread::Builder::new().name("sextant-remote-local".into()).spawn_scoped(scope, run)
        };
        let by_vectors = files.len() <= limits.max_embedded_changes;
        let mut failures: Vec<String> = Vec::new();
        let mut has_words = !by_vectors;
        let mut n_running = 0;
        let started = |result: std::io::Result<_>, failures: &mut Vec<String>| match result {
            Ok(_) => 1,
            Err(error) => {
                failures.push(format!("the system gives no thread: {error}"));
                0
            }
        };
        let first = if by_vectors { LocalPart::Vectors } else { LocalPart::Words };
        n_running += started(start(first), &mut failures);
        let found = loop {
            let elapsed = begun.elapsed();
            let vectors_are_late = elapsed >= Duration::from_millis(limits.local_embeddings_ms);
            if !has_words && (vectors_are_late || n_running == 0) {
                has_words = true;
                n_running += started(start(LocalPart::Words), &mut failures);
            }
            let left = Duration::from_millis(limits.local_ms).saturating_sub(elapsed);
            if n_running == 0 {
                break Err(LocalPart::Failed { reason: failures.join("; ") });
            }
            if left.is_zero() || cancel.is_cancelled() {
                break Err(LocalPart::TimedOut);
            }
            match receiver.recv_timeout(left.min(TICK)) {
                Ok((part, Ok(hits))) => break Ok((part, hits)),
                Ok((part, Err(error))) => {
                    n_running -= 1;
                    failures.push(format!("{}: {error}", part.name()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => n_running = 0,
            }
        };
        token.cancel();
        answer(found);
    });
}
