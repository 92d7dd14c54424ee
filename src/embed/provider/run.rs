//! One call of `embed`: all texts, at most so many requests at once, until each has its vector or its reason.
//!
//! The calling thread decides and delivers; each request runs on a thread of its own, which sends once and says what
//! came back. So a request that hangs holds up nobody: the call returns without it, and its connection is closed.
//! After a cancellation or a failure nothing more is sent.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant, SystemTime};

use crate::http::{Failure, FailureKind, Lane, Note, Response, retry};
use crate::task::CancelToken;

use super::cut::Parts;
use super::job::{Job, Piece, Queue, batch};
use super::refusal::{self, Refusal};
use super::server::{Answer, Server};
use super::wire;
use super::{Deliver, ProviderError, Role};

/// Longest sleep between two looks at the cancel token.
const SLICE: Duration = Duration::from_millis(50);
/// A request whose thread has not ended so long after its time limit is given up.
const GRACE: Duration = Duration::from_millis(500);
/// Further tries for a question.
const QUERY_RETRIES: u32 = 1;
/// After so many torn batches, texts are sent one by one.
const MAX_TORN: u32 = 2;

/// A job that was sent, once or, as a hedge, twice.
struct Flight {
    job: Job,
    body: Arc<[u8]>,
    attempts: Vec<Attempt>,
    is_hedged: bool,
}

struct Attempt {
    id: u64,
    sent: Instant,
}

/// One call of `embed`.
pub(super) struct Run<'a, 'd> {
    pub(super) server: &'a Arc<Server>,
    cancel: &'a CancelToken,
    role: Role,
    pub(super) texts: &'a [&'a str],
    pub(super) deliver: &'a mut Deliver<'d>,
    /// Texts that were not asked for yet.
    fresh: VecDeque<Piece>,
    /// Jobs that wait for another try.
    pub(super) queue: Queue,
    flights: Vec<Flight>,
    /// Texts that were cut.
    pub(super) parts: HashMap<usize, Parts>,
    /// Texts that have their vector or their reason.
    pub(super) is_done: Vec<bool>,
    sender: Sender<(u64, Answer)>,
    answers: Receiver<(u64, Answer)>,
    /// Tells threads that have not sent yet to let it be.
    is_over: Arc<AtomicBool>,
    next_id: u64,
    pub(super) n_good: u64,
    pub(super) n_torn: u32,
    pub(super) n_refused_at_first: u32,
    deadline: Option<Instant>,
    random: u64,
}

impl<'a, 'd> Run<'a, 'd> {
    pub(super) fn new(
        server: &'a Arc<Server>,
        cancel: &'a CancelToken,
        role: Role,
        texts: &'a [&'a str],
        deliver: &'a mut Deliver<'d>,
    ) -> Self {
        let fresh = texts.iter().enumerate();
        let fresh = fresh.map(|(text, t)| Piece { text, range: 0..t.len() }).collect();
        let query_timeout = server.settings.query_timeout;
        let (sender, answers) = channel();
        Self {
            server,
            cancel,
            role,
            texts,
            deliver,
            fresh,
            queue: Queue::default(),
            flights: Vec::new(),
            parts: HashMap::new(),
            is_done: vec![false; texts.len()],
            sender,
            answers,
            is_over: Arc::default(),
            next_id: 0,
            n_good: 0,
            n_torn: 0,
            n_refused_at_first: 0,
            deadline: (role == Role::Query).then(|| Instant::now() + query_timeout),
            random: RandomState::new().hash_one(0) | 1,
        }
    }

    /// Goes on until every text is done.
    pub(super) fn finish(mut self) -> Result<(), ProviderError> {
        for text in 0..self.texts.len() {
            if self.texts[text].trim().is_empty() {
                self.refuse(text, "there is nothing in it".to_owned());
            }
        }
        loop {
            self.check_cancelled()?;
            // A vector that came just past the time limit is there, and nothing is late.
            if self.flights.is_empty() && self.is_done.iter().all(|is_done| *is_done) {
                return Ok(());
            }
            let wait = self.launch()?;
            if self.flights.is_empty() && self.queue.is_empty() && self.fresh.is_empty() {
                return Ok(());
            }
            if let Ok((id, answer)) = self.answers.recv_timeout(wait.min(SLICE)) {
                self.check_cancelled()?;
                self.settle(id, answer)?;
            }
            self.give_up_overdue()?;
        }
    }

    fn check_cancelled(&self) -> Result<(), ProviderError> {
        self.cancel.check().map_err(|_| ProviderError::Cancelled)
    }

    fn is_query(&self) -> bool {
        self.role == Role::Query
    }

    pub(super) fn retries(&self) -> u32 {
        let retries = self.server.settings.retries;
        if self.is_query() { retries.min(QUERY_RETRIES) } else { retries }
    }

    /// Whether another try at this time could still be of use.
    pub(super) fn is_in_time(&self, at: Instant) -> bool {
        self.deadline.is_none_or(|deadline| at < deadline)
    }

    fn timeout(&self, now: Instant) -> Duration {
        match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(now),
            None => self.server.settings.timeout,
        }
    }

    /// Sends what may be sent now. Returns how long to wait for more.
    fn launch(&mut self) -> Result<Duration, ProviderError> {
        let mut wait = SLICE;
        loop {
            let now = Instant::now();
            if !self.is_in_time(now) {
                let limit = self.server.settings.query_timeout;
                return Err(self.server.unreachable(&format!("no answer within {limit:?}")));
            }
            wait = wait.min(self.hedge(now)?);
            if !self.server.has_answered() && !self.flights.is_empty() {
                return Ok(wait);
            }
            let Some(job) = self.next_job(now) else {
                return Ok(self.queue.wait(now).map_or(wait, |until| wait.min(until)));
            };
            let allowed = self.server.limiter().start(now, self.is_query());
            if let Err(limit) = allowed {
                self.queue.push_front(job);
                if !self.is_in_time(now + limit) {
                    let reason = format!("it allows no request for another {limit:.1?}");
                    return Err(self.server.unreachable(&reason));
                }
                return Ok(wait.min(limit));
            }
            self.send(job, now)?;
        }
    }

    fn next_job(&mut self, now: Instant) -> Option<Job> {
        let is_done = &self.is_done;
        while let Some(mut job) = self.queue.pop(now) {
            job.pieces.retain(|piece| !is_done[piece.text]);
            if !job.pieces.is_empty() {
                return Some(job);
            }
        }
        self.fresh.retain(|piece| !is_done[piece.text]);
        let pieces = self.next_batch(|run| &mut run.fresh);
        (!pieces.is_empty()).then(|| Job::of(pieces))
    }

    fn next_batch(&mut self, from: impl Fn(&mut Self) -> &mut VecDeque<Piece>) -> Vec<Piece> {
        let settings = &self.server.settings;
        let max_pieces = if self.n_torn >= MAX_TORN { 1 } else { settings.batch_size };
        let (texts, max_tokens) = (self.texts, settings.max_request_tokens);
        batch(from(self), |piece| &texts[piece.text][piece.range.clone()], max_pieces, max_tokens)
    }

    fn send(&mut self, job: Job, now: Instant) -> Result<(), ProviderError> {
        let texts: Vec<&str> =
            job.pieces.iter().map(|piece| &self.texts[piece.text][piece.range.clone()]).collect();
        let settings = &self.server.settings;
        let model = self.server.model();
        let body = wire::request(settings.kind, &model, settings.dimensions, self.role, &texts);
        let body: Arc<[u8]> = body.into();
        let attempt = self.spawn(Arc::clone(&body), job.pieces.len(), now)?;
        self.flights.push(Flight { job, body, attempts: vec![attempt], is_hedged: false });
        Ok(())
    }

    /// Begins a request that the limiter has counted.
    fn spawn(&mut self, body: Arc<[u8]>, n: usize, now: Instant) -> Result<Attempt, ProviderError> {
        let id = self.next_id;
        self.next_id += 1;
        let lane = if self.is_query() { Lane::Prompt } else { Lane::Bulk };
        let connections = self.server.client.connections(lane);
        let (server, timeout) = (Arc::clone(self.server), self.timeout(now));
        let (answers, is_over) = (self.sender.clone(), Arc::clone(&self.is_over));
        let work = move || {
            if !is_over.load(Ordering::Relaxed) {
                let answer = server.ask(&connections, &body, n, timeout);
                // Nobody listens any more if the run is over.
                let _ = answers.send((id, answer));
            }
        };
        let thread = std::thread::Builder::new().name("sextant-provider".to_owned());
        if let Err(error) = thread.spawn(work) {
            self.server.limiter().finish(now, now, Note::default());
            let reason = format!("the system gives no thread to ask it from: {error}");
            return Err(self.server.unreachable(&reason));
        }
        Ok(Attempt { id, sent: now })
    }

    /// Asks a second time what somebody waits for and has no answer yet. Returns how long until that is due.
    fn hedge(&mut self, now: Instant) -> Result<Duration, ProviderError> {
        let Some(after) = self.server.settings.hedge_after.filter(|_| self.is_query()) else {
            return Ok(SLICE);
        };
        let mut wait = SLICE;
        for at in 0..self.flights.len() {
            let flight = &self.flights[at];
            if flight.is_hedged {
                continue;
            }
            let due = flight.attempts.first().map_or(now, |attempt| attempt.sent + after);
            if due > now {
                wait = wait.min(due - now);
                continue;
            }
            if self.server.limiter().start(now, true).is_err() {
                continue;
            }
            let (body, n) = (Arc::clone(&flight.body), flight.job.pieces.len());
            let attempt = self.spawn(body, n, now)?;
            self.flights[at].attempts.push(attempt);
            self.flights[at].is_hedged = true;
        }
        Ok(wait)
    }

    /// Treats requests that do not even keep their time limit as if they had.
    fn give_up_overdue(&mut self) -> Result<(), ProviderError> {
        let limit = self.server.settings.timeout + GRACE;
        let now = Instant::now();
        let attempts = self.flights.iter().flat_map(|flight| &flight.attempts);
        let overdue = attempts.filter(|attempt| attempt.sent + limit < now);
        let overdue: Vec<u64> = overdue.map(|attempt| attempt.id).collect();
        for id in overdue {
            let reason = format!("no answer within {limit:?}");
            let failure = Failure { kind: FailureKind::Timeout, reason };
            self.settle(id, Answer::Failed(failure))?;
        }
        Ok(())
    }

    /// Takes an answer. Those of requests that were given up are ignored.
    fn settle(&mut self, id: u64, answer: Answer) -> Result<(), ProviderError> {
        let is_it = |flight: &Flight| flight.attempts.iter().position(|attempt| attempt.id == id);
        let found =
            self.flights.iter().enumerate().find_map(|(at, flight)| Some((at, is_it(flight)?)));
        let Some((at, nth)) = found else { return Ok(()) };
        let attempt = self.flights[at].attempts.remove(nth);
        let now = Instant::now();
        let mut wait = Duration::ZERO;
        let mut note = Note::default();
        match &answer {
            Answer::Vectors(_, said) => note = *said,
            Answer::Status(response) => {
                wait = self.delay(Some(response), self.flights[at].job.tries + 1);
                note = retry::note(response, SystemTime::now());
                if refusal::refusal(response) == Refusal::Limited {
                    note.refused_for = Some(wait);
                }
            }
            Answer::Failed(_) => wait = self.delay(None, self.flights[at].job.tries + 1),
            Answer::Bad(_) => {}
        }
        self.server.limiter().finish(now, attempt.sent, note);
        let may_be_better = match &answer {
            Answer::Failed(failure) => failure.is_transient(),
            Answer::Status(response) => refusal::refusal(response) == Refusal::Again,
            Answer::Bad(_) => true,
            Answer::Vectors(..) => false,
        };
        if may_be_better && !self.flights[at].attempts.is_empty() {
            return Ok(());
        }
        let flight = self.flights.remove(at);
        self.forget(&flight.attempts);
        let job = flight.job;
        match answer {
            Answer::Vectors(vectors, _) => self.accept(job, vectors),
            Answer::Bad(reason) => self.distrust(job, &reason),
            Answer::Status(response) => self.understand(job, &response, now + wait),
            Answer::Failed(failure) => self.repeat(job, &failure, now + wait),
        }
    }

    /// Frees the places of requests whose answers nobody waits for.
    fn forget(&self, attempts: &[Attempt]) {
        let now = Instant::now();
        for attempt in attempts {
            self.server.limiter().finish(now, attempt.sent, Note::default());
        }
    }

    fn delay(&mut self, response: Option<&Response>, tries: u32) -> Duration {
        // Xorshift (Marsaglia 2003): any spread will do.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let jitter = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        let first = self.server.settings.back_off;
        retry::delay(response, SystemTime::now(), tries, first, jitter)
    }
}

impl Drop for Run<'_, '_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let is_idle = self.flights.is_empty();
        for flight in std::mem::take(&mut self.flights) {
            self.forget(&flight.attempts);
        }
        // Questions end by themselves soon, and others may share their connections.
        if !is_idle && !self.is_query() {
            self.server.client.abandon(Lane::Bulk);
        }
    }
}
