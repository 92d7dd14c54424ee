//! Texts to vectors by a model that is not ours: a server over HTTP, or whatever the caller brings.
//!
//! In: texts. Out: for each, a unit vector, or why this one text has none. A failure of the whole (no answer, no
//! permission, a wrong number of dimensions) is a [`ProviderError`]; what was given until then holds.

pub mod callback;
mod cut;
mod embedder;
mod job;
mod outcome;
mod refusal;
mod run;
mod server;
mod settings;
mod wire;

use std::fmt;

use crate::task::CancelToken;

pub use embedder::HttpEmbedder;
pub use settings::{
    DEFAULT_BACK_OFF, DEFAULT_BATCH_SIZE, DEFAULT_HEDGE_AFTER, DEFAULT_MAX_CONCURRENT,
    DEFAULT_MAX_REQUEST_TOKENS, DEFAULT_PER_SECOND, DEFAULT_QUERY_TIMEOUT, DEFAULT_RETRIES,
    DEFAULT_TIMEOUT, HttpProvider, ProviderKind,
};

/// What a text is to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Something to be found.
    Document,
    /// What is asked.
    Query,
}

/// A model, and where it runs. Vectors are comparable only within one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// `openai`, `gemini`, `local` or `callback`.
    pub provider: &'static str,
    /// As the provider names it.
    pub name: String,
    /// Where it is asked: scheme, host, port and path, never a key. Empty for a callback.
    pub address: String,
    /// Dimensions, if they were set; else what the first answer has.
    pub dimensions: Option<usize>,
}

impl EmbeddingModel {
    /// A name for an index to be known by: equal for equal vectors. Dimensions stand in parentheses: names of models may
    /// end in a slash and a number.
    #[must_use]
    pub fn id(&self) -> String {
        let dimensions = self.dimensions.map(|n| format!(" ({n})")).unwrap_or_default();
        match self.address.as_str() {
            "" => format!("{}:{}{dimensions}", self.provider, self.name),
            address => format!("{}:{}{dimensions} at {address}", self.provider, self.name),
        }
    }
}

/// Why one text has no vector, though the provider works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedText {
    /// For a person.
    pub reason: String,
}

/// What happens to each text: its position in the input, and its vector.
pub type Deliver<'a> = dyn FnMut(usize, Result<Vec<f32>, RefusedText>) + 'a;

/// Why a provider gives no vectors.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProviderError {
    /// The work was stopped.
    #[error("cancelled")]
    Cancelled,
    /// The settings cannot work.
    #[error("{setting} is {value}; expected {expected}")]
    Setting {
        /// Which one.
        setting: &'static str,
        /// Its value, never a key.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// It cannot be reached, or did not answer in time, however often it was asked.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable {
        /// The full address.
        address: String,
        /// What happened.
        reason: String,
    },
    /// It refuses to work for this key, or for anyone.
    #[error("{address} refuses the model {model}: {reason}")]
    Refused {
        /// The full address.
        address: String,
        /// The model that was asked for.
        model: String,
        /// HTTP status.
        status: u16,
        /// What it says.
        reason: String,
    },
    /// It answers what no model would.
    #[error("{address} gave a wrong answer for the model {model}: {reason}")]
    BadAnswer {
        /// The full address.
        address: String,
        /// The model that was asked for.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Its vectors are not as long as they were, or as the settings say.
    #[error(
        "the model {model} gave a vector of {found} dimensions; expected {expected}: check the model and its dimensions"
    )]
    Dimensions {
        /// The model that was asked for.
        model: String,
        /// As set, or as in earlier answers.
        expected: usize,
        /// As given now.
        found: usize,
    },
}

impl ProviderError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cancelled => "CANCELLED",
            Self::Setting { .. } => "INVALID_ARGUMENT",
            Self::Unreachable { .. } => "PROVIDER_UNREACHABLE",
            Self::Refused { .. } => "PROVIDER_REFUSED",
            Self::BadAnswer { .. } => "PROVIDER_BAD_ANSWER",
            Self::Dimensions { .. } => "PROVIDER_DIMENSIONS",
        }
    }
}

/// A model that may be asked.
pub trait Embedder: Send + Sync + fmt::Debug {
    /// Which one it is.
    fn model(&self) -> &EmbeddingModel;

    /// Whether somebody pays for each text, so that large workspaces are not embedded unasked.
    fn is_metered(&self) -> bool;

    /// Embeds `texts`, none of them blank, and hands each result to `deliver` as soon as it is there, in any order and
    /// on the calling thread; each text once at most. Vectors have unit length and equally many dimensions.
    ///
    /// # Errors
    /// [`ProviderError`]. Texts without a result were not embedded.
    fn embed(
        &self,
        cancel: &CancelToken,
        role: Role,
        texts: &[&str],
        deliver: &mut Deliver<'_>,
    ) -> Result<(), ProviderError>;
}
