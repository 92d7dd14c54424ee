//! Why an index on a server gave no answer.
//!
//! Codes are for branching. No message holds a key or what else stands in a request.

use crate::task::Cancelled;

/// A call of an index on a server failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The caller does not want it any more.
    #[error("cancelled")]
    Cancelled,
    /// It did not answer in time.
    #[error("no answer within {limit_ms} ms")]
    TimedOut {
        /// How long was waited.
        limit_ms: u64,
    },
    /// There is no connection to it, or the connection broke.
    #[error("cannot be reached: {reason}")]
    Unreachable {
        /// What happened.
        reason: String,
    },
    /// It answered that it does not want to.
    #[error("refused with status {status}: {reason}")]
    Refused {
        /// HTTP status, or what stands for it.
        status: u16,
        /// What it says, in short.
        reason: String,
    },
    /// It answered something that is no answer.
    #[error("gave a wrong answer: {reason}")]
    BadAnswer {
        /// What is wrong with it.
        reason: String,
    },
}

impl RemoteError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cancelled => "CANCELLED",
            Self::TimedOut { .. } => "REMOTE_TIMED_OUT",
            Self::Unreachable { .. } => "REMOTE_UNREACHABLE",
            Self::Refused { .. } => "REMOTE_REFUSED",
            Self::BadAnswer { .. } => "REMOTE_BAD_ANSWER",
        }
    }

    /// Whether asking again in a moment may help: the network, an overload, a limit of requests.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::TimedOut { .. } | Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::Cancelled | Self::BadAnswer { .. } => false,
        }
    }

    /// Whether the server wants other credentials than it got, or any.
    #[must_use]
    pub fn is_about_permission(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403, .. })
    }
}

impl From<Cancelled> for RemoteError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
