//! The one error of the facade: every failure has a stable code and says whose fault it is.
//!
//! Codes are for branching, messages for people. docs/errors.md lists all codes; a test compares the two.

use std::borrow::Cow;
use std::path::PathBuf;

use crate::store::StoreError;
use crate::task::Cancelled;
use crate::walk::WalkError;

/// Any failure of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A root could not be walked.
    #[error(transparent)]
    Walk(#[from] WalkError),
    /// The index could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run was cancelled.
    #[error("cancelled; the last complete index is unchanged")]
    Cancelled,
    /// The question is empty or only white space.
    #[error("the query is empty; ask in words or name a symbol")]
    EmptyQuery,
    /// An argument has a value that it cannot have.
    #[error("{name} is {value}; expected {expected}")]
    InvalidArgument {
        /// Which argument.
        name: Cow<'static, str>,
        /// What was given.
        value: String,
        /// What would have been right.
        expected: String,
    },
    /// A strategy that this build does not have.
    #[error("the strategy {strategy} is not available: {why}")]
    StrategyUnavailable {
        /// Its name.
        strategy: &'static str,
        /// What is missing.
        why: String,
    },
    /// A file that was asked for is not in the index.
    #[error("{path} is not indexed: {reason}")]
    NotIndexed {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Somebody paused the workspace.
    #[error("indexing is paused; resume to go on where it stopped")]
    Paused,
    /// Somebody cleared the workspace.
    #[error("the index was cleared; it is built again when asked for")]
    Stopped,
    /// A watch cannot begin.
    #[error("the system gives no thread to watch from; close other programs or raise the limit")]
    NoThread(#[source] std::io::Error),
    /// The workspace was closed.
    #[error("the workspace is closed; open it again")]
    Closed,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call was wrong.
    Caller,
    /// The machine: disk, permissions, another process.
    Environment,
    /// Sextant itself.
    Bug,
}

/// Every stable code, in the order of docs/errors.md.
pub const ALL_CODES: &[&str] = &[
    "ROOT_NOT_FOUND",
    "ROOT_NOT_A_FOLDER",
    "ROOT_UNREADABLE",
    "CANCELLED",
    "EMPTY_QUERY",
    "INVALID_ARGUMENT",
    "STRATEGY_UNAVAILABLE",
    "NOT_INDEXED",
    "CLOSED",
    "STORAGE_UNWRITABLE",
    "STORAGE_INSIDE_ROOT",
    "STORAGE_BUSY",
    "DISK_FULL",
    "INDEX_FORMAT_UNSUPPORTED",
    "INDEX_DAMAGED",
    "INDEX_NOT_BUILT",
    "INDEX_PAUSED",
    "INDEX_CLEARED",
    "NO_THREAD",
    "INTERNAL",
];

impl Error {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Walk(WalkError::Missing { .. }) => "ROOT_NOT_FOUND",
            Self::Walk(WalkError::NotAFolder { .. }) => "ROOT_NOT_A_FOLDER",
            Self::Walk(WalkError::Unreadable { .. }) => "ROOT_UNREADABLE",
            Self::Walk(WalkError::Cancelled(_)) | Self::Cancelled => "CANCELLED",
            Self::Store(error) => error.code(),
            Self::EmptyQuery => "EMPTY_QUERY",
            Self::InvalidArgument { .. } => "INVALID_ARGUMENT",
            Self::StrategyUnavailable { .. } => "STRATEGY_UNAVAILABLE",
            Self::NotIndexed { .. } => "NOT_INDEXED",
            Self::Paused => "INDEX_PAUSED",
            Self::Stopped => "INDEX_CLEARED",
            Self::NoThread(_) => "NO_THREAD",
            Self::Closed => "CLOSED",
        }
    }

    /// The message with those of its causes, each after a colon.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut message = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        message
    }

    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self.code() {
            "ROOT_UNREADABLE"
            | "STORAGE_UNWRITABLE"
            | "STORAGE_BUSY"
            | "DISK_FULL"
            | "INDEX_FORMAT_UNSUPPORTED"
            | "INDEX_DAMAGED"
            | "INDEX_NOT_BUILT"
            | "INDEX_PAUSED"
            | "INDEX_CLEARED"
            | "NO_THREAD" => Fault::Environment,
            "INTERNAL" => Fault::Bug,
            _ => Fault::Caller,
        }
    }
}

impl From<Cancelled> for Error {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
