//! Time that a thread has worked, so that a deadline means the same on a busy machine.

use std::time::{Duration, Instant};

/// A bound on the work of this thread.
pub struct Deadline {
    budget: Duration,
    wall: Instant,
    worked: Duration,
}

impl Deadline {
    /// From now on.
    pub fn new(budget: Duration) -> Self {
        Self { budget, wall: Instant::now() + budget, worked: worked() }
    }

    /// Whether the thread has worked for longer than that. A thread cannot have worked longer than time went by, which
    /// is cheaper to ask for.
    pub fn is_over(&self) -> bool {
        Instant::now() > self.wall && worked() - self.worked > self.budget
    }
}

/// Processor time of this thread.
#[cfg(unix)]
fn worked() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to the place it is given, which outlives it.
    if unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0 {
        return Duration::ZERO;
    }
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Time that has gone by, where the system's answer would need a library more.
#[cfg(not(unix))]
fn worked() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_counts() {
        let deadline = Deadline::new(Duration::from_millis(20));
        let started = Instant::now();
        // Another thread works; this one waits for it.
        std::thread::scope(|scope| {
            scope.spawn(|| while started.elapsed() < Duration::from_millis(60) {});
        });
        assert!(!deadline.is_over() || cfg!(not(unix)));
        while !deadline.is_over() {}
        assert!(started.elapsed() > Duration::from_millis(60));
    }
}
