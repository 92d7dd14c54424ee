//! Calls that may never return.
//!
//! In: calls. Out: for each, what it returned, or that it did not in time. Each runs on a thread of its own. The caller
//! is held for at most the limit, and for 20 ms after the token was cancelled; a thread that is still busy then is left
//! alone, and its token is cancelled.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::error::RemoteError;
use crate::task::CancelToken;

/// Between two looks at a token.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// A call, which is told by a token when nobody waits for it any more.
pub(super) type Call<T> = Box<dyn FnOnce(&CancelToken) -> Result<T, RemoteError> + Send>;

/// A token that is cancelled with `parent`, or alone.
pub(crate) fn child(parent: &CancelToken) -> CancelToken {
    let parent = parent.clone();
    CancelToken::new().or_when(move || parent.is_cancelled())
}

/// Waits, but not longer than until `cancel`.
pub(super) fn wait(cancel: &CancelToken, duration: Duration) {
    let begun = Instant::now();
    while !cancel.is_cancelled() {
        match duration.saturating_sub(begun.elapsed()) {
            Duration::ZERO => return,
            left => thread::sleep(left.min(TICK)),
        }
    }
}

/// Makes all calls at once. The results are in the order of the calls.
pub(super) fn all<T: Send + 'static>(
    cancel: &CancelToken,
    limit_ms: u64,
    calls: Vec<Call<T>>,
) -> Vec<Result<T, RemoteError>> {
    if cancel.is_cancelled() {
        return calls.into_iter().map(|_| Err(RemoteError::Cancelled)).collect();
    }
    let begun = Instant::now();
    let limit = Duration::from_millis(limit_ms);
    let token = child(cancel);
    let (sender, receiver) = mpsc::channel();
    let mut results: Vec<Option<Result<T, RemoteError>>> = calls.iter().map(|_| None).collect();
    for (at, call) in calls.into_iter().enumerate() {
        let (sender, token) = (sender.clone(), token.clone());
        // The receiver is gone once nobody waits any more.
        let run = move || drop(sender.send((at, call(&token))));
        if let Err(error) = thread::Builder::new().name("sextant-remote".into()).spawn(run) {
            let reason = format!("the system gives no thread for it: {error}");
            results[at] = Some(Err(RemoteError::Unreachable { reason }));
        }
    }
    drop(sender);
    let rest = loop {
        if results.iter().all(Option::is_some) {
            break RemoteError::Cancelled;
        }
        if cancel.is_cancelled() {
            break RemoteError::Cancelled;
        }
        let left = limit.saturating_sub(begun.elapsed());
        match receiver.recv_timeout(left.min(TICK)) {
            Ok((at, result)) => results[at] = Some(result),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                break RemoteError::TimedOut { limit_ms };
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                break RemoteError::BadAnswer { reason: "the adapter ended without one".into() };
            }
        }
    };
    token.cancel();
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(rest.clone()))).collect()
}
