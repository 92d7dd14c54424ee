//! What is asked for in one request, and how often it was.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::token::TokenCounter;

/// A part of a text; mostly all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Position of the text in the input.
    pub(super) text: usize,
    /// Bytes of it.
    pub(super) range: Range<usize>,
}

/// What is asked for in one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) pieces: Vec<Piece>,
    /// Requests that had no answer.
    pub(super) tries: u32,
    /// Answers that could not be trusted.
    pub(super) strikes: u32,
    /// Good answers of the run when this was last asked.
    pub(super) n_good: u64,
    pub(super) not_before: Option<Instant>,
}

impl Job {
    pub(super) fn of(pieces: Vec<Piece>) -> Self {
        Self { pieces, ..Self::default() }
    }

    /// Two jobs of half the pieces, if there are two.
    pub(super) fn halves(self) -> Result<[Self; 2], Self> {
        if self.pieces.len() < 2 {
            return Err(self);
        }
        let mut first = self;
        let second = first.pieces.split_off(first.pieces.len() / 2);
        let second = Self { pieces: second, ..first.clone() };
        Ok([first, second])
    }
}

/// Jobs that wait, those first that were asked before.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<Job>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn push_front(&mut self, job: Job) {
        self.0.push_front(job);
    }

    /// Puts jobs at the front, in their order.
    pub(super) fn put_back(
        &mut self,
        jobs: impl IntoIterator<Item = Job, IntoIter: DoubleEndedIterator>,
    ) {
        for job in jobs.into_iter().rev() {
            self.0.push_front(job);
        }
    }

    /// The first job that may be sent now.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Job> {
        let at = self.0.iter().position(|job| job.not_before.is_none_or(|at| at <= now))?;
        self.0.remove(at)
    }

    /// How long until one may be sent.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let at = self.0.iter().map(|job| job.not_before.unwrap_or(now)).min()?;
        Some(at.saturating_duration_since(now))
    }
}

/// Takes pieces from `pieces` until `max_pieces` or `max_tokens` are reached; at least one. Tokens are counted only where
/// the bytes do not tell that they fit: a token has at least one.
pub(super) fn batch<'a>(
    pieces: &mut VecDeque<Piece>,
    text_of: impl Fn(&Piece) -> &'a str,
    max_pieces: usize,
    max_tokens: usize,
) -> Vec<Piece> {
    let counter = TokenCounter::new();
    let mut taken: Vec<Piece> = Vec::new();
    let mut n_bytes = 0;
    let mut n_tokens: Option<usize> = None;
    while let Some(piece) = pieces.front().filter(|_| taken.len() < max_pieces) {
        let text = text_of(piece);
        n_bytes += text.len();
        if n_tokens.is_some() || n_bytes > max_tokens {
            let before = n_tokens
                .unwrap_or_else(|| taken.iter().map(|piece| counter.count(text_of(piece))).sum());
            let with = before + counter.count(text);
            if with > max_tokens && !taken.is_empty() {
                break;
            }
            n_tokens = Some(with);
        }
        taken.extend(pieces.pop_front());
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(texts: &[&str]) -> VecDeque<Piece> {
        texts.iter().enumerate().map(|(text, t)| Piece { text, range: 0..t.len() }).collect()
    }

    #[track_caller]
    fn check(texts: &[&str], max_pieces: usize, max_tokens: usize, expected: &[usize]) {
        let mut left = pieces(texts);
        let mut sizes = Vec::new();
        while !left.is_empty() {
            sizes.push(batch(&mut left, |p| texts[p.text], max_pieces, max_tokens).len());
        }
        assert_eq!(sizes, expected);
    }

    #[test]
    fn batches_are_bounded_by_number_and_by_tokens() {
        check(&["a"; 5], 2, 100, &[2, 2, 1]);
        let words = "one two three four five six seven eight";
        check(&[words; 4], 9, 16, &[2, 2]);
        check(&[words; 4], 9, 15, &[1, 1, 1, 1]);
        check(&[words, "a"], 9, 1, &[1, 1]);
        check(&["a", words, "a"], 9, 9, &[2, 1]);
    }

    #[test]
    fn jobs_are_halved_down_to_one() {
        let job = Job::of(pieces(&["a", "b", "c"]).into());
        let [first, second] = job.halves().unwrap();
        assert_eq!((first.pieces.len(), second.pieces.len()), (1, 2));
        assert!(first.halves().is_err());
    }

    #[test]
    fn jobs_that_must_wait_are_passed() {
        let now = Instant::now();
        let mut queue = Queue::default();
        let late = Some(now + Duration::from_secs(1));
        queue.put_back([
            Job { not_before: late, ..Job::default() },
            Job { tries: 7, ..Job::default() },
        ]);
        assert_eq!(queue.pop(now).map(|job| job.tries), Some(7));
        assert!(queue.pop(now).is_none());
        assert_eq!(queue.wait(now), Some(Duration::from_secs(1)));
    }
}
