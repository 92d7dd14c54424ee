//! A model that the caller brings: a function from texts to vectors.
//!
//! What the function gives is checked as the answer of a server is: as many vectors as texts, of equal dimensions, finite
//! and not zero. It is asked in batches, some of them at once, each with a time limit; a batch that fails is asked once
//! more, and then the run ends.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::cut::normalised;
use super::{Deliver, Embedder, EmbeddingModel, ProviderError, RefusedText, Role};
use crate::task::CancelToken;
use crate::token::TokenCounter;

/// How often one who waits asks whether it was cancelled.
const INTERVAL: Duration = Duration::from_millis(20);
/// Tries of a batch.
const TRIES: u32 = 2;

/// Gives what came of one batch.
pub type Reply = Box<dyn FnOnce(Result<Vec<Vec<f32>>, String>) + Send>;

/// Tells a call that nobody waits for it any more.
pub type Stop = Box<dyn FnOnce()>;

/// The caller's function.
pub trait EmbedFunction: Send + Sync {
    /// Asks for the vectors of `texts`; `reply` may be called from any thread, at most once.
    fn ask(&self, role: Role, texts: Vec<String>, reply: Reply) -> Stop;
}

/// How a function is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct CallbackSettings {
    /// Texts a call, at most.
    pub batch_size: usize,
    /// o200k tokens a call, at most; one text may exceed it.
    pub max_tokens: usize,
    /// Calls at once.
    pub max_concurrent: usize,
    /// Of a call.
    pub timeout: Duration,
    /// Of a call with a question.
    pub query_timeout: Duration,
}

/// A model that the caller brings.
pub struct CallbackEmbedder {
    model: EmbeddingModel,
    is_metered: bool,
    function: Arc<dyn EmbedFunction>,
    settings: CallbackSettings,
    /// Of the first vector; 0 until then.
    dimensions: AtomicUsize,
}

impl fmt::Debug for CallbackEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallbackEmbedder")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

impl CallbackEmbedder {
    /// The model `name`, which `function` runs.
    #[must_use]
    pub fn new(
        name: String,
        dimensions: Option<usize>,
        is_metered: bool,
        function: Arc<dyn EmbedFunction>,
        settings: CallbackSettings,
    ) -> Self {
        let model =
            EmbeddingModel { provider: "callback", name, address: String::new(), dimensions };
        let dimensions = AtomicUsize::new(dimensions.unwrap_or(0));
        Self { model, is_metered, function, settings, dimensions }
    }

    fn bad(&self, reason: String) -> ProviderError {
        let address = "the embed function".into();
        ProviderError::BadAnswer { address, model: self.model.name.clone(), reason }
    }

    /// Checks what came for `batch` and hands it on.
    fn accept(
        &self,
        batch: &[usize],
        vectors: Vec<Vec<f32>>,
        deliver: &mut Deliver<'_>,
    ) -> Result<(), ProviderError> {
        if vectors.len() != batch.len() {
            let (n, texts) = (vectors.len(), batch.len());
            return Err(self.bad(format!("it gave {n} vectors for {texts} texts")));
        }
        let other = |expected, found| ProviderError::Dimensions {
            model: self.model.name.clone(),
            expected,
            found,
        };
        let known = Some(self.dimensions.load(Ordering::SeqCst)).filter(|n| *n > 0);
        let expected = known.unwrap_or_else(|| vectors.first().map_or(0, Vec::len));
        for vector in &vectors {
            match vector.len() {
                0 => return Err(self.bad("it gave a vector without values".into())),
                found if found != expected => return Err(other(expected, found)),
                _ => {}
            }
        }
        // Only a batch that is right in all its vectors says how long they are; else a single bad answer would make all
        // that follow look wrong.
        let fixed =
            self.dimensions.compare_exchange(0, expected, Ordering::SeqCst, Ordering::SeqCst);
        if let Err(fixed) = fixed
            && fixed != expected
        {
            return Err(other(fixed, expected));
        }
        for (&text, vector) in batch.iter().zip(vectors) {
            let refused = |reason: &str| Err(RefusedText { reason: reason.to_owned() });
            let result = if vector.iter().any(|value| !value.is_finite()) {
                refused("its vector has values that are no numbers")
            } else {
                normalised(vector).map_or_else(|| refused("its vector is zero"), Ok)
            };
            deliver(text, result);
        }
        Ok(())
    }

    fn batches(&self, texts: &[&str]) -> VecDeque<Vec<usize>> {
        let counter = TokenCounter::new();
        let mut batches = VecDeque::new();
        let (mut batch, mut tokens) = (Vec::new(), 0);
        for (at, text) in texts.iter().enumerate() {
            let n = counter.count(text);
            let is_full =
                batch.len() == self.settings.batch_size || tokens + n > self.settings.max_tokens;
            if is_full && !batch.is_empty() {
                batches.push_back(std::mem::take(&mut batch));
                tokens = 0;
            }
            batch.push(at);
            tokens += n;
        }
        if !batch.is_empty() {
            batches.push_back(batch);
        }
        batches
    }
}

/// A batch that was asked for.
struct Open {
    number: u64,
    batch: Vec<usize>,
    tries: u32,
    due: Instant,
    stop: Stop,
}

impl Embedder for CallbackEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_metered(&self) -> bool {
        self.is_metered
    }

    fn embed(
        &self,
        cancel: &CancelToken,
        role: Role,
        texts: &[&str],
        deliver: &mut Deliver<'_>,
    ) -> Result<(), ProviderError> {
        let timeout = match role {
            Role::Document => self.settings.timeout,
            Role::Query => self.settings.query_timeout,
        };
        let (sender, receiver) = mpsc::channel();
        let mut waiting: VecDeque<(Vec<usize>, u32)> =
            self.batches(texts).into_iter().map(|batch| (batch, 0)).collect();
        let mut open: Vec<Open> = Vec::new();
        let mut next = 0;
        let result = loop {
            if cancel.is_cancelled() {
                break Err(ProviderError::Cancelled);
            }
            while open.len() < self.settings.max_concurrent
                && let Some((batch, tries)) = waiting.pop_front()
            {
                let number = next;
                next += 1;
                let sender = sender.clone();
                let reply: Reply = Box::new(move |answer| {
                    // Nobody listens any more once the run is over.
                    let _ = sender.send((number, answer));
                });
                let of_batch = batch.iter().map(|&at| texts[at].to_owned()).collect();
                let stop = self.function.ask(role, of_batch, reply);
                let due = Instant::now() + timeout;
                open.push(Open { number, batch, tries: tries + 1, due, stop });
            }
            if open.is_empty() {
                break Ok(());
            }
            let failed = match receiver.recv_timeout(INTERVAL) {
                Ok((number, answer)) => {
                    let Some(at) = open.iter().position(|open| open.number == number) else {
                        continue;
                    };
                    let done = open.swap_remove(at);
                    match answer {
                        Ok(vectors) => match self.accept(&done.batch, vectors, deliver) {
                            Ok(()) => continue,
                            Err(error) => break Err(error),
                        },
                        Err(reason) => ((done.batch, done.tries), reason),
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    let Some(at) = open.iter().position(|open| open.due <= now) else { continue };
                    let late = open.swap_remove(at);
                    (late.stop)();
                    let ms = timeout.as_millis();
                    let late = (late.batch, late.tries);
                    (late, format!("it gave no answer within {ms} ms"))
                }
            };
            let ((batch, tries), reason) = failed;
            if tries >= TRIES || role == Role::Query {
                let address = "the embed function".into();
                break Err(ProviderError::Unreachable { address, reason });
            }
            waiting.push_front((batch, tries));
        };
        for batch in open {
            (batch.stop)();
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Answers with `answer`; keeps what it was asked.
    struct Function<F> {
        answer: F,
        asked: Mutex<Vec<usize>>,
        stopped: Arc<Mutex<usize>>,
    }

    impl<F> EmbedFunction for Function<F>
    where
        F: Fn(usize, &[String]) -> Option<Result<Vec<Vec<f32>>, String>> + Send + Sync,
    {
        fn ask(&self, _: Role, texts: Vec<String>, reply: Reply) -> Stop {
            let mut asked = self.asked.lock().unwrap();
            let n = asked.len();
            asked.push(texts.len());
            drop(asked);
            if let Some(answer) = (self.answer)(n, &texts) {
                reply(answer);
            }
            let stopped = Arc::clone(&self.stopped);
            Box::new(move || *stopped.lock().unwrap() += 1)
        }
    }

    type Vectors = Vec<(usize, Result<Vec<f32>, RefusedText>)>;

    fn run<F>(texts: &[&str], answer: F) -> (Result<(), ProviderError>, Vectors, Arc<Function<F>>)
    where
        F: Fn(usize, &[String]) -> Option<Result<Vec<Vec<f32>>, String>> + Send + Sync + 'static,
    {
        let function =
            Arc::new(Function { answer, asked: Mutex::default(), stopped: Arc::default() });
        let settings = CallbackSettings {
            batch_size: 2,
            max_tokens: 1000,
            max_concurrent: 2,
            timeout: Duration::from_millis(60),
            query_timeout: Duration::from_millis(60),
        };
        let embedder =
            CallbackEmbedder::new("a".into(), None, false, Arc::clone(&function) as _, settings);
        let mut given = Vec::new();
        let result =
            embedder.embed(&CancelToken::new(), Role::Document, texts, &mut |at, vector| {
                given.push((at, vector));
            });
        given.sort_by_key(|(at, _)| *at);
        (result, given, function)
    }

    fn lengths(texts: &[String]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| vec![text.len() as f32, 0.0]).collect()
    }

    #[test]
    fn each_text_gets_its_unit_vector_in_batches() {
        let (result, given, function) =
            run(&["a", "bb", "ccc", "dddd", "e"], |_, texts| Some(Ok(lengths(texts))));
        assert_eq!(result, Ok(()));
        assert_eq!(given.len(), 5);
        assert!(given.iter().all(|(_, vector)| *vector == Ok(vec![1.0, 0.0])));
        assert_eq!(*function.asked.lock().unwrap(), [2, 2, 1]);
    }

    #[test]
    fn wrong_answers_end_the_run_and_wrong_vectors_fail_alone() {
        let code = |answer: Vec<Vec<f32>>| {
            let (result, given, _) = run(&["a", "b"], move |_, _| Some(Ok(answer.clone())));
            (result.err().map(|error| error.code()), given)
        };
        assert_eq!(code(vec![vec![1.0]]).0, Some("PROVIDER_BAD_ANSWER"));
        assert_eq!(code(vec![vec![1.0]; 3]).0, Some("PROVIDER_BAD_ANSWER"));
        assert_eq!(code(vec![vec![1.0], vec![1.0, 2.0]]).0, Some("PROVIDER_DIMENSIONS"));
        assert_eq!(code(vec![vec![], vec![]]).0, Some("PROVIDER_BAD_ANSWER"));
        let (error, given) = code(vec![vec![f32::NAN], vec![0.0]]);
        assert_eq!(error, None);
        assert!(given.iter().all(|(_, vector)| vector.is_err()));
    }

    #[test]
    fn a_batch_that_is_refused_does_not_say_how_long_vectors_are() {
        let answer = |n: usize, texts: &[String]| match n {
            0 => Some(Ok(vec![vec![1.0, 2.0, 3.0], vec![1.0]])),
            _ => Some(Ok(lengths(texts))),
        };
        let function =
            Arc::new(Function { answer, asked: Mutex::default(), stopped: Arc::default() });
        let settings = CallbackSettings {
            batch_size: 2,
            max_tokens: 1000,
            max_concurrent: 1,
            timeout: Duration::from_secs(5),
            query_timeout: Duration::from_secs(5),
        };
        let embedder = CallbackEmbedder::new("a".into(), None, false, function as _, settings);
        let run =
            || embedder.embed(&CancelToken::new(), Role::Document, &["a", "b"], &mut |_, _| {});
        assert_eq!(run().unwrap_err().code(), "PROVIDER_DIMENSIONS");
        assert_eq!(run(), Ok(()));
    }

    #[test]
    fn a_batch_is_asked_twice_and_told_when_nobody_waits() {
        let (result, given, _) = run(&["a", "b"], |n, texts| match n {
            0 => Some(Err("not now".into())),
            _ => Some(Ok(lengths(texts))),
        });
        assert_eq!((result, given.len()), (Ok(()), 2));
        let (result, given, function) = run(&["a", "b"], |_, _| None);
        assert_eq!(result.unwrap_err().code(), "PROVIDER_UNREACHABLE");
        assert_eq!((given.len(), function.asked.lock().unwrap().len()), (0, 2));
        assert_eq!(*function.stopped.lock().unwrap(), 2);
    }
}
