//! A language model, as far as a search needs one: messages in, text out.
//!
//! Who brings the model decides where it runs and what it costs. Nothing here knows of a network.

use std::fmt;

use crate::task::CancelToken;

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Whoever set the model up.
    System,
    /// The person who asks.
    User,
    /// The model, earlier.
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// What a completion is for, so that a caller may choose a model or log by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To rewrite a question and name its keywords.
    Rephrase,
    /// To tell what kind of answer is wanted.
    Intent,
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Oldest first; the last is the one to answer. Two of one role may follow each other.
    pub messages: Vec<Message>,
    /// Most tokens of the answer, as the model counts; a longer answer is given as far as it got.
    pub max_tokens: usize,
    /// The answer ends before the first of these; empty for none.
    pub stop: Vec<String>,
    /// 0 for the likeliest words; `None` leaves it to the model.
    pub temperature: Option<f32>,
    /// What it is for.
    pub purpose: Purpose,
}

/// Why a model gives no answer. An answer that was cut off at `max_tokens` is an answer.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelError {
    /// The work was stopped.
    #[error("cancelled")]
    Cancelled,
    /// It cannot be reached, refuses, or broke.
    #[error("the language model failed: {reason}")]
    Failed {
        /// For a person.
        reason: String,
    },
}

/// A model that may be asked.
pub trait LanguageModel: Send + Sync + fmt::Debug {
    /// Completes `request`. May take as long as it likes: whoever asks waits for a bounded time, then cancels. It is called
    /// from a thread of its own, also while another call goes on, and must end soon once `cancel` says so.
    ///
    /// # Errors
    /// [`ModelError`].
    fn complete(&self, cancel: &CancelToken, request: &Completion) -> Result<String, ModelError>;
}
