//! Why events cannot be relied on.

use std::path::PathBuf;

/// Why changes of a root, or of anything, are not seen as they happen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Blind {
    /// The system has no more watches to give.
    #[error(
        "the system's limit of watches was reached at {path}; raise {setting}; until then each search looks at the stats of all files"
    )]
    Limit {
        /// The folder that could not be watched.
        path: PathBuf,
        /// What to raise.
        setting: &'static str,
    },
    /// The file system does not tell of changes that others make.
    #[error(
        "{path} lies on {file_system}, which does not tell of all changes; each search looks at the stats of all files instead, a copy on a local disk is faster"
    )]
    NoEvents {
        /// The folder.
        path: PathBuf,
        /// What the file system is called.
        file_system: &'static str,
    },
    /// The system refused for another reason.
    #[error(
        "cannot watch {path} ({reason}); see that it is a folder that can be read; until then each search looks at the stats of all files"
    )]
    Failed {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

impl Blind {
    /// Stable name, as in docs/errors.md.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Limit { .. } => "WATCH_LIMIT",
            Self::NoEvents { .. } => "WATCH_NO_EVENTS",
            Self::Failed { .. } => "WATCH_UNAVAILABLE",
        }
    }
}
