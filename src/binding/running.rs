//! The calls of one workspace that are still running, so that `close` and the end of a worker can stop them.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::task::CancelToken;

/// Tokens of the running calls.
#[derive(Default)]
pub struct Running {
    calls: Mutex<Calls>,
    ended: Condvar,
}

#[derive(Default)]
struct Calls {
    next_id: u64,
    tokens: HashMap<u64, CancelToken>,
}

/// One running call; leaves the list when dropped.
pub struct RunningCall {
    running: Arc<Running>,
    id: u64,
}

impl Running {
    /// Lists a call.
    pub fn enter(self: &Arc<Self>, cancel: &CancelToken) -> RunningCall {
        let mut calls = self.lock();
        let id = calls.next_id;
        calls.next_id += 1;
        calls.tokens.insert(id, cancel.clone());
        RunningCall { running: Arc::clone(self), id }
    }

    /// Asks every listed call to stop.
    pub fn cancel_all(&self) {
        for token in self.lock().tokens.values() {
            token.cancel();
        }
    }

    /// Waits until no call is listed.
    pub fn wait_until_idle(&self) {
        let mut calls = self.lock();
        while !calls.tokens.is_empty() {
            calls = self.ended.wait(calls).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.running.lock().tokens.remove(&self.id);
        self.running.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_once_every_call_has_left() {
        let running = Arc::new(Running::default());
        let (first, second) = (CancelToken::new(), CancelToken::new());
        let (a, b) = (running.enter(&first), running.enter(&second));
        running.cancel_all();
        assert!(first.is_cancelled() && second.is_cancelled());
        let ending = std::thread::spawn(move || drop((a, b)));
        running.wait_until_idle();
        ending.join().unwrap();
        assert!(running.lock().tokens.is_empty());
    }
}
