//! When to act on a burst of events: once it is over, but not never.

use std::time::{Duration, Instant};

/// Says when the next run is due. Keeps no clock: the caller tells the time.
#[derive(Clone, Debug)]
pub struct Debounce {
    delay: Duration,
    longest: Duration,
    /// Times of the first and the last event since the last run.
    burst: Option<(Instant, Instant)>,
}

impl Debounce {
    /// `delay`: quiet time after the last event. `longest`: what a run waits after the first event, at most, so that a
    /// file that changes all the time does not keep others from being found.
    #[must_use]
    pub fn new(delay: Duration, longest: Duration) -> Self {
        Self { delay, longest, burst: None }
    }

    /// An event came at `now`.
    pub fn note(&mut self, now: Instant) {
        let (first, last) = self.burst.unwrap_or((now, now));
        self.burst = Some((first, last.max(now)));
    }

    /// When the next run is due; none if no event waits for one.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.burst.map(|(first, last)| (last + self.delay).min(first + self.longest))
    }

    /// A run begins: it sees all events up to now.
    pub fn clear(&mut self) {
        self.burst = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Milliseconds at which runs begin if events come at `events_ms` and time goes on until `end_ms`.
    fn runs(events_ms: &[u64], end_ms: u64) -> Vec<u64> {
        let begin = Instant::now();
        let mut debounce = Debounce::new(SECOND, 5 * SECOND);
        let mut runs = Vec::new();
        for ms in 0..=end_ms {
            let now = begin + Duration::from_millis(ms);
            if events_ms.contains(&ms) {
                debounce.note(now);
            }
            if debounce.due().is_some_and(|due| due <= now) {
                debounce.clear();
                runs.push(ms);
            }
        }
        runs
    }

    #[test]
    fn nothing_is_due_without_an_event() {
        assert!(runs(&[], 10_000).is_empty());
    }

    #[test]
    fn one_event_waits_for_the_delay() {
        assert_eq!(runs(&[100], 10_000), [1100]);
    }

    #[test]
    fn twenty_saves_in_a_second_are_one_run() {
        let saves: Vec<u64> = (0..20).map(|i| i * 50).collect();
        assert_eq!(runs(&saves, 10_000), [1950]);
    }

    #[test]
    fn a_file_that_changes_all_the_time_gives_a_run_every_longest() {
        let saves: Vec<u64> = (0..100).map(|i| i * 200).collect();
        assert_eq!(runs(&saves, 30_000), [5000, 10_200, 15_400, 20_600]);
    }

    #[test]
    fn quiet_between_bursts_separates_runs() {
        assert_eq!(runs(&[0, 500, 2000], 10_000), [1500, 3000]);
    }

    #[test]
    fn a_time_in_the_past_changes_nothing() {
        let now = Instant::now() + SECOND;
        let mut debounce = Debounce::new(SECOND, 5 * SECOND);
        debounce.note(now);
        debounce.note(now - SECOND / 2);
        assert_eq!(debounce.due(), Some(now + SECOND));
    }
}
