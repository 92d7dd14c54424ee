//! An answer of a model that is waited for, but not for long.
//!
//! Each request runs on a thread of its own. A model that does not answer in time is cancelled and left behind: its thread
//! ends when the model heeds that, and whatever it says then is not heard.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::model::{Completion, LanguageModel, ModelError};
use crate::task::CancelToken;

/// Between two looks at whether the work was stopped.
const LOOK: Duration = Duration::from_millis(10);

/// A request that was made.
pub(super) struct Pending {
    /// `None` if there is no thread to make it on.
    answer: Option<Receiver<Result<String, ModelError>>>,
}

/// A token that `cancel` cancels, and that can be cancelled without it.
pub(super) fn child_of(cancel: &CancelToken) -> CancelToken {
    let parent = cancel.clone();
    CancelToken::new().or_when(move || parent.is_cancelled())
}

/// Makes a request.
pub(super) fn ask(
    cancel: &CancelToken,
    model: &Arc<dyn LanguageModel>,
    request: Completion,
) -> Pending {
    let (sender, answer) = sync_channel(1);
    let (cancel, model) = (cancel.clone(), Arc::clone(model));
    let started = thread::Builder::new().name("language model".into()).spawn(move || {
        // Nobody may be listening any more.
        let _ = sender.send(model.complete(&cancel, &request));
    });
    Pending { answer: started.is_ok().then_some(answer) }
}

impl Pending {
    /// The answer, or why there is none, for a person.
    pub(super) fn wait(self, cancel: &CancelToken, since: Instant, time: Duration) -> Answer {
        let Some(answer) = self.answer else {
            return Err("the system gives no thread to ask the language model from".into());
        };
        loop {
            let left = time.saturating_sub(since.elapsed());
            match answer.recv_timeout(left.min(LOOK)) {
                Ok(answer) => return answer.map_err(|error| error.to_string()),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("the language model failed: it ended without an answer".into());
                }
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => {
                    return Err(ModelError::Cancelled.to_string());
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    let limit_ms = time.as_millis();
                    return Err(format!("the language model did not answer within {limit_ms} ms"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

/// What a model said, or a reason for a person.
pub(super) type Answer = Result<String, String>;
