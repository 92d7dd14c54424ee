//! One run at a time in this process; the lock of the store sees to other processes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::task::CancelToken;

/// How often one who waits asks whether it was cancelled.
const INTERVAL: Duration = Duration::from_millis(20);

/// Who may run.
#[derive(Default)]
pub struct Turns {
    is_taken: Mutex<bool>,
    given_back: Condvar,
    n_waiting: AtomicUsize,
}

/// The right to run; given back when dropped.
pub struct Turn<'t>(&'t Turns);

impl Turns {
    /// Waits for the turn. `None` if `cancel` came first.
    pub fn wait(&self, cancel: &CancelToken) -> Option<Turn<'_>> {
        let mut is_taken = self.lock();
        if *is_taken {
            self.n_waiting.fetch_add(1, Ordering::Relaxed);
            while *is_taken && !cancel.is_cancelled() {
                is_taken = self
                    .given_back
                    .wait_timeout(is_taken, INTERVAL)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
            self.n_waiting.fetch_sub(1, Ordering::Relaxed);
            if *is_taken {
                return None;
            }
        }
        *is_taken = true;
        Some(Turn(self))
    }

    /// Whether somebody waits for the turn.
    pub fn is_wanted(&self) -> bool {
        self.n_waiting.load(Ordering::Relaxed) > 0
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.lock() = false;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let turns = Turns::default();
        let n_inside = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _turn = turns.wait(&CancelToken::new()).unwrap();
                        assert_eq!(n_inside.fetch_add(1, Ordering::SeqCst), 0);
                        n_inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(!*turns.lock());
    }

    #[test]
    fn who_waits_can_be_cancelled() {
        let turns = Turns::default();
        let turn = turns.wait(&CancelToken::new());
        let cancel = CancelToken::new();
        cancel.cancel();
        assert!(turns.wait(&cancel).is_none());
        drop(turn);
        assert!(turns.wait(&cancel).is_some());
    }
}
