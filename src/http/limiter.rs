//! When may the next request leave?
//!
//! In: the time, and what became of earlier requests. Out: leave now, or how long to wait before asking again. Pure: it
//! never sleeps and reads no clock.
//!
//! Three things hold requests back: how many are in flight, how many may leave a second, and what the server said. A
//! server that limits stops the whole queue, so that nothing is sent only to be refused, and halves both limits; they
//! rise again with every second that passes without. The numbers of the first paragraph of [`Limits`] and the reading
//! of `x-ratelimit-*` and `x-github-total-quota-used` follow GitHub Copilot Chat's client of its embedding service.

use std::time::{Duration, Instant};

/// Longest wait for a limit that the server only announces.
const MAX_ANNOUNCED_WAIT: Duration = Duration::from_secs(2);
/// Longest wait for a quota that is nearly used up.
const MAX_QUOTA_WAIT: Duration = Duration::from_secs(1);
/// Share of a quota, in percent, from which on requests are slowed down.
const QUOTA_THRESHOLD: f64 = 80.0;
/// After this time what was said of a quota counts no more.
const QUOTA_MEMORY: Duration = Duration::from_millis(2500);
/// Slowest rate that refusals lead to, a second.
const MIN_RATE: f64 = 0.5;
/// What a refusal leaves of the limits: the first, which says how far off they are, and later ones.
const FIRST_CUT: f64 = 0.5;
const LATER_CUT: f64 = 0.8;
/// What a second without a refusal adds to the rate: below the rate at which the last came, and near it.
const FAST_RECOVERY: f64 = 1.10;
const SLOW_RECOVERY: f64 = 1.01;
/// How near to that rate is near.
const NEAR: f64 = 0.85;
/// Requests that somebody waits for may exceed what may be in flight by so many.
const URGENT_EXTRA: usize = 2;
/// How long to wait where only an answer makes room.
const UNTIL_AN_ANSWER: Duration = Duration::from_millis(50);

/// What a caller allows itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Requests in flight.
    pub max_concurrent: usize,
    /// Requests a second, to begin with and at most; they leave evenly.
    pub per_second: f64,
}

/// What an answer says about limits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Note {
    /// The request was refused because there are too many; wait so long.
    pub refused_for: Option<Duration>,
    /// Requests that are left, and until when.
    pub remaining: Option<(i64, Duration)>,
    /// Percent of a quota that is used.
    pub quota_used: Option<f64>,
}

/// What is known of the server.
#[derive(Debug)]
pub struct Limiter {
    limits: Limits,
    /// Now, lowered by refusals.
    rate: f64,
    max_concurrent: f64,
    /// The rate at which the last refusal came.
    ceiling: Option<f64>,
    in_flight: usize,
    next_send: Option<Instant>,
    paused_until: Option<Instant>,
    last_cut: Option<Instant>,
    last_change: Option<Instant>,
    remaining: Option<Remaining>,
    quota: Option<(f64, Instant)>,
}

#[derive(Debug)]
struct Remaining {
    left: i64,
    until: Instant,
}

impl Limiter {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        let limits = Limits {
            max_concurrent: limits.max_concurrent.max(1),
            per_second: limits.per_second.max(MIN_RATE),
        };
        Self {
            limits,
            rate: limits.per_second,
            max_concurrent: limits.max_concurrent as f64,
            ceiling: None,
            in_flight: 0,
            next_send: None,
            paused_until: None,
            last_cut: None,
            last_change: None,
            remaining: None,
            quota: None,
        }
    }

    /// Requests in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Requests a second that are allowed now.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Counts a request as sent, if it may leave now. Somebody waits for an `urgent` one: it does not queue behind the
    /// others, but what the server said holds for it too.
    ///
    /// # Errors
    /// How long to wait before asking again.
    pub fn start(&mut self, now: Instant, urgent: bool) -> Result<(), Duration> {
        self.recover(now);
        let wait = self.announced_wait(now);
        if !wait.is_zero() {
            return Err(wait);
        }
        let room = self.max_concurrent.floor().max(1.0) as usize;
        if self.in_flight >= if urgent { room + URGENT_EXTRA } else { room } {
            return Err(UNTIL_AN_ANSWER);
        }
        if let Some(next) = self.next_send.filter(|next| *next > now && !urgent) {
            return Err(next - now);
        }
        let gap = Duration::from_secs_f64(1.0 / self.rate);
        self.next_send = Some(self.next_send.map_or(now, |next| next.max(now)) + gap);
        self.in_flight += 1;
        if let Some(remaining) = &mut self.remaining {
            remaining.left -= 1;
        }
        Ok(())
    }

    /// Takes note of the end of a request that was sent at `sent`.
    pub fn finish(&mut self, now: Instant, sent: Instant, note: Note) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(wait) = note.refused_for {
            let until = now + wait;
            self.paused_until = Some(self.paused_until.map_or(until, |old| old.max(until)));
            // One burst of refusals is one piece of news: those sent before the last cut tell nothing about it.
            if self.last_cut.is_none_or(|cut| sent >= cut) {
                self.cut(now);
            }
        }
        if let Some((left, reset)) = note.remaining {
            let left = left - self.in_flight as i64;
            self.remaining = Some(Remaining { left, until: now + reset.min(MAX_ANNOUNCED_WAIT) });
        }
        if let Some(used) = note.quota_used {
            self.quota = Some((used, now));
        }
    }

    /// How long what the server said holds everything back.
    fn announced_wait(&mut self, now: Instant) -> Duration {
        let mut wait = Duration::ZERO;
        if let Some(until) = self.paused_until {
            wait = wait.max(until.saturating_duration_since(now));
        }
        if let Some(remaining) = &self.remaining {
            if remaining.until <= now {
                self.remaining = None;
            } else if remaining.left <= 0 {
                wait = wait.max(remaining.until - now);
            }
        }
        if let Some((used, at)) = self.quota {
            // The wait is counted from when it was said, else asking again would begin it anew.
            let over = ((used - QUOTA_THRESHOLD) / (100.0 - QUOTA_THRESHOLD)).max(0.0);
            let age = now.saturating_duration_since(at).as_secs_f64();
            let fresh = (1.0 - age / QUOTA_MEMORY.as_secs_f64()).max(0.0);
            let quota_wait = Duration::from_secs_f64(over * fresh).min(MAX_QUOTA_WAIT);
            wait = wait.max((at + quota_wait).saturating_duration_since(now));
        }
        wait
    }

    fn cut(&mut self, now: Instant) {
        let share = if self.ceiling.is_none() { FIRST_CUT } else { LATER_CUT };
        self.ceiling = Some(self.rate);
        self.rate = (self.rate * share).max(MIN_RATE);
        self.max_concurrent = (self.max_concurrent * share).max(1.0);
        self.last_cut = Some(now);
        self.last_change = Some(now.max(self.paused_until.unwrap_or(now)));
    }

    /// Raises what refusals lowered, once a second.
    fn recover(&mut self, now: Instant) {
        let (Some(ceiling), Some(last)) = (self.ceiling, self.last_change) else { return };
        let seconds = now.saturating_duration_since(last).as_secs();
        if seconds == 0 || self.rate >= self.limits.per_second {
            return;
        }
        // What is left of a long silence changes nothing more than a few minutes would.
        for _ in 0..seconds.min(600) {
            let factor = if self.rate < ceiling * NEAR { FAST_RECOVERY } else { SLOW_RECOVERY };
            self.rate = (self.rate * factor).min(self.limits.per_second);
            self.max_concurrent =
                (self.max_concurrent * factor).min(self.limits.max_concurrent as f64);
        }
        self.last_change = Some(last + Duration::from_secs(seconds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn limiter(max_concurrent: usize, per_second: f64) -> (Limiter, Instant) {
        (Limiter::new(Limits { max_concurrent, per_second }), Instant::now())
    }

    #[test]
    fn requests_leave_evenly() {
        let (mut limiter, t0) = limiter(8, 40.0);
        assert_eq!(limiter.start(t0, false), Ok(()));
        assert_eq!(limiter.start(t0, false), Err(ms(25)));
        assert_eq!(limiter.start(t0 + ms(10), false), Err(ms(15)));
        assert_eq!(limiter.start(t0 + ms(25), false), Ok(()));
        assert_eq!(limiter.in_flight(), 2);
    }

    #[test]
    fn only_so_many_are_in_flight_and_a_question_passes_them() {
        let (mut limiter, t0) = limiter(2, 1000.0);
        assert_eq!(limiter.start(t0, false), Ok(()));
        assert_eq!(limiter.start(t0 + ms(1), false), Ok(()));
        assert!(limiter.start(t0 + ms(2), false).is_err());
        assert_eq!(limiter.start(t0 + ms(2), true), Ok(()));
        limiter.finish(t0 + ms(9), t0, Note::default());
        limiter.finish(t0 + ms(9), t0, Note::default());
        assert_eq!(limiter.start(t0 + ms(9), false), Ok(()));
    }

    #[test]
    fn a_refusal_stops_the_queue_and_slows_it_down_once_a_burst() {
        let (mut limiter, t0) = limiter(8, 40.0);
        for n in 0..4 {
            assert_eq!(limiter.start(t0 + ms(25 * n), false), Ok(()));
        }
        let refused = Note { refused_for: Some(ms(1000)), ..Note::default() };
        for n in 0..4 {
            limiter.finish(t0 + ms(100), t0 + ms(25 * n), refused);
        }
        assert!((limiter.rate() - 20.0).abs() < 1e-9, "{}", limiter.rate());
        assert_eq!(limiter.start(t0 + ms(600), false), Err(ms(500)));
        assert_eq!(limiter.start(t0 + ms(600), true), Err(ms(500)), "questions too");
        assert_eq!(limiter.start(t0 + ms(1100), false), Ok(()));
        assert_eq!(limiter.start(t0 + ms(1100), false), Err(ms(50)), "20 a second now");
    }

    #[test]
    fn the_rate_comes_back_slowly_and_not_beyond_the_limit() {
        let (mut limiter, t0) = limiter(8, 40.0);
        limiter.start(t0, false).unwrap();
        limiter.finish(t0, t0, Note { refused_for: Some(ms(0)), ..Note::default() });
        let mut last = limiter.rate();
        for second in 1..=60 {
            limiter.recover(t0 + Duration::from_secs(second));
            assert!(limiter.rate() >= last && limiter.rate() <= last * 1.11);
            last = limiter.rate();
        }
        assert!(last > 34.0 && last <= 40.0, "{last}");
        limiter.recover(t0 + Duration::from_secs(10_000));
        assert!((limiter.rate() - 40.0).abs() < 1e-9);
    }

    #[test]
    fn announced_limits_are_waited_for_but_not_for_long() {
        let (mut limiter, t0) = limiter(8, 1000.0);
        limiter.start(t0, false).unwrap();
        let note = Note { remaining: Some((1, Duration::from_secs(60))), ..Note::default() };
        limiter.finish(t0, t0, note);
        assert_eq!(limiter.start(t0 + ms(5), false), Ok(()), "one is left");
        assert_eq!(limiter.start(t0 + ms(10), false), Err(ms(1990)));
        assert_eq!(limiter.start(t0 + ms(2000), false), Ok(()));
    }

    #[test]
    fn requests_in_flight_count_as_used() {
        let (mut limiter, t0) = limiter(8, 1000.0);
        limiter.start(t0, false).unwrap();
        limiter.start(t0 + ms(1), false).unwrap();
        let note = Note { remaining: Some((1, ms(300))), ..Note::default() };
        limiter.finish(t0 + ms(10), t0, note);
        assert_eq!(limiter.start(t0 + ms(10), false), Err(ms(300)));
    }

    #[test]
    fn a_quota_nearly_used_up_slows_down() {
        for (used, wait) in [(80.0, 0), (90.0, 498), (100.0, 998), (140.0, 999)] {
            let (mut limiter, t0) = limiter(8, 1000.0);
            limiter.start(t0, false).unwrap();
            limiter.finish(t0, t0, Note { quota_used: Some(used), ..Note::default() });
            let found = limiter.start(t0 + ms(1), false).err().unwrap_or_default();
            assert_eq!(found.as_millis(), wait, "{used} percent");
            assert_eq!(limiter.start(t0 + ms(2500), false), Ok(()));
        }
    }
}
