//! What a run makes of each answer: vectors to their texts, and everything else to another try, to pieces, to a reason
//! for one text, or to the end of the run.

use std::collections::VecDeque;
use std::time::Instant;

use crate::http::{Failure, FailureKind, Response};

use super::cut::{Parts, normalised, pieces};
use super::job::{Job, Piece, batch};
use super::refusal::{self, Refusal};
use super::run::Run;
use super::wire::{self, Unfit};
use super::{ProviderError, RefusedText};

/// Shorter pieces are not made: a model that refuses this many bytes refuses all.
const MIN_PIECE_BYTES: usize = 128;
/// A text that is too long, nobody says by how much, is cut into so many pieces at first.
const FIRST_CUT: usize = 4;
/// How much of a limit that a server names is made use of: tokens are not spread evenly.
const SHARE_OF_LIMIT: f64 = 0.9;
/// Answers about one text that cannot be trusted, until the server is taken to be wrong; one of them may have been about
/// its batch.
const MAX_STRIKES_ALONE: u32 = 3;
/// Texts that are refused one by one, before any was accepted, until the server is taken to refuse all.
const MAX_REFUSED_AT_FIRST: u32 = 2;

impl Run<'_, '_> {
    pub(super) fn accept(&mut self, job: Job, vectors: wire::Vectors) -> Result<(), ProviderError> {
        for vector in &vectors {
            let found = vector.as_ref().map_or_else(|unfit| unfit.dimensions(), Vec::len);
            self.server.check_dimensions(found)?;
        }
        self.server.set_answered();
        self.n_good += 1;
        let was_alone = job.pieces.len() == 1 && job.strikes > 0;
        for (piece, vector) in job.pieces.into_iter().zip(vectors) {
            if self.is_done[piece.text] {
                continue;
            }
            match vector {
                Ok(vector) => self.accept_one(&piece, vector),
                // What overflows among others may do so no more alone.
                Err(Unfit::NotFinite { .. }) if !was_alone => {
                    self.queue.push_front(Job { strikes: 1, ..Job::of(vec![piece]) });
                }
                Err(unfit) => self.refuse(piece.text, unfit.reason().to_owned()),
            }
        }
        Ok(())
    }

    fn accept_one(&mut self, piece: &Piece, vector: Vec<f32>) {
        let Some(parts) = self.parts.get_mut(&piece.text) else {
            return self.give(piece.text, vector);
        };
        parts.add(&vector, piece.range.len());
        if let Some(sum) = parts.vector() {
            return self.give(piece.text, sum);
        }
        // The first piece was accepted, so the others are likely to be.
        let waiting = std::mem::take(&mut parts.waiting);
        parts.n_open += waiting.len();
        let mut waiting: VecDeque<Piece> =
            waiting.into_iter().map(|range| Piece { text: piece.text, range }).collect();
        while !waiting.is_empty() {
            let settings = &self.server.settings;
            let text_of = |piece: &Piece| &self.texts[piece.text][piece.range.clone()];
            let (n, tokens) = (settings.batch_size, settings.max_request_tokens);
            let job = Job::of(batch(&mut waiting, text_of, n, tokens));
            self.queue.put_back([job]);
        }
    }

    fn give(&mut self, text: usize, vector: Vec<f32>) {
        let dimensions = vector.len();
        match normalised(vector) {
            Some(vector) => {
                self.is_done[text] = true;
                self.parts.remove(&text);
                (self.deliver)(text, Ok(vector));
            }
            None => self.refuse(text, Unfit::Zero { dimensions }.reason().to_owned()),
        }
    }

    pub(super) fn refuse(&mut self, text: usize, reason: String) {
        self.is_done[text] = true;
        self.parts.remove(&text);
        (self.deliver)(text, Err(RefusedText { reason: self.server.scrub(&reason) }));
    }

    /// An answer that cannot be trusted: all again, then one by one, then it is the server that is wrong.
    pub(super) fn distrust(&mut self, mut job: Job, reason: &str) -> Result<(), ProviderError> {
        job.strikes += 1;
        let is_alone = job.pieces.len() == 1;
        if job.strikes == 1 || (is_alone && job.strikes < MAX_STRIKES_ALONE) {
            self.queue.push_front(job);
            return Ok(());
        }
        if is_alone {
            return Err(self.server.bad_answer(reason));
        }
        self.n_torn += 1;
        let one = |piece| Job { strikes: 1, ..Job::of(vec![piece]) };
        self.queue.put_back(job.pieces.into_iter().map(one).collect::<Vec<_>>());
        Ok(())
    }

    /// No answer: once more, later, unless that is of no use.
    pub(super) fn repeat(
        &mut self,
        mut job: Job,
        failure: &Failure,
        at: Instant,
    ) -> Result<(), ProviderError> {
        // A server that worked a moment ago may only be starting again.
        let is_away = failure.kind == FailureKind::Connect && self.server.has_answered();
        job.tries += 1;
        let is_worth_it = (failure.is_transient() || is_away) && self.is_in_time(at);
        if !is_worth_it || job.tries > self.retries() {
            let tries = job.tries;
            let times = if tries > 1 { format!(", {tries} times") } else { String::new() };
            return Err(self.server.unreachable(&format!("{}{times}", failure.reason)));
        }
        job.not_before = Some(at);
        // What takes too long may be too much at once.
        let jobs = if failure.kind == FailureKind::Timeout { job.halves() } else { Err(job) };
        match jobs {
            Ok(halves) => self.queue.put_back(halves),
            Err(job) => self.queue.push_front(job),
        }
        Ok(())
    }

    /// An answer that says why there are no vectors.
    pub(super) fn understand(
        &mut self,
        mut job: Job,
        response: &Response,
        at: Instant,
    ) -> Result<(), ProviderError> {
        match refusal::refusal(response) {
            Refusal::Final => Err(self.server.refused(response)),
            Refusal::TooLong { limit } => {
                match job.halves() {
                    Ok(halves) => self.queue.put_back(halves),
                    Err(job) => self.shorten(job, limit, response),
                }
                Ok(())
            }
            Refusal::Text => self.blame(job, response),
            Refusal::Limited => {
                // As long as others get through, it is only a matter of time.
                job.tries = if self.n_good > job.n_good { 1 } else { job.tries + 1 };
                job.n_good = self.n_good;
                if job.tries > self.retries() {
                    return Err(self.server.refused(response));
                }
                if !self.is_in_time(at) {
                    return Err(self.server.unreachable(&self.server.said(response)));
                }
                job.not_before = Some(at);
                self.queue.push_front(job);
                Ok(())
            }
            Refusal::Again => {
                job.tries += 1;
                if job.tries <= self.retries() && self.is_in_time(at) {
                    job.not_before = Some(at);
                    self.queue.push_front(job);
                    return Ok(());
                }
                // A server that works for all others stumbles over a text.
                if response.status == 500 && self.n_good > job.n_good {
                    return self.blame(job, response);
                }
                let said = self.server.said(response);
                Err(self.server.unreachable(&format!("{said}, {} times", job.tries)))
            }
        }
    }

    /// Some text may be to blame: they are told apart until it is alone.
    fn blame(&mut self, job: Job, response: &Response) -> Result<(), ProviderError> {
        let job = match job.halves() {
            Ok(halves) => {
                self.queue.put_back(halves);
                return Ok(());
            }
            Err(job) => job,
        };
        if !self.server.has_answered() {
            self.n_refused_at_first += 1;
            if self.n_refused_at_first >= MAX_REFUSED_AT_FIRST || self.texts.len() == 1 {
                return Err(self.server.refused(response));
            }
        }
        for piece in job.pieces {
            self.refuse(piece.text, self.server.said(response));
        }
        Ok(())
    }

    /// One text, or a piece of it, is too long: shorter pieces.
    fn shorten(&mut self, job: Job, limit: Option<(f64, f64)>, response: &Response) {
        let Some(piece) = job.pieces.into_iter().next() else { return };
        let text = self.texts[piece.text];
        let n_bytes = piece.range.len();
        let accepted = self.parts.get(&piece.text).is_some_and(|parts| parts.n_done > 0);
        let by_limit = limit.map(|(limit, found)| n_bytes as f64 * limit / found * SHARE_OF_LIMIT);
        let max_bytes = match (by_limit, self.parts.get(&piece.text)) {
            (_, Some(parts)) => parts.max_bytes.min(n_bytes) / 2,
            (Some(max_bytes), None) => max_bytes as usize,
            (None, None) => n_bytes.div_ceil(FIRST_CUT).max(MIN_PIECE_BYTES),
        };
        if max_bytes < MIN_PIECE_BYTES || max_bytes >= n_bytes {
            let reason = format!("it is too long for the model ({})", self.server.said(response));
            return self.refuse(piece.text, reason);
        }
        if accepted {
            let ranges = pieces(text, piece.range, max_bytes);
            if let Some(parts) = self.parts.get_mut(&piece.text) {
                parts.n_open = parts.n_open + ranges.len() - 1;
            }
            let jobs = ranges.into_iter().map(|range| Piece { text: piece.text, range });
            self.queue.put_back(jobs.map(|piece| Job::of(vec![piece])).collect::<Vec<_>>());
            return;
        }
        // The first piece goes ahead: if it is too long still, no other was sent in vain.
        let mut parts = Parts::new(pieces(text, 0..text.len(), max_bytes), max_bytes);
        if let Some(range) = parts.waiting.pop_front() {
            parts.n_open = 1;
            self.parts.insert(piece.text, parts);
            self.queue.push_front(Job::of(vec![Piece { text: piece.text, range }]));
        }
    }
}
