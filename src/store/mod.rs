//! The snapshot in SQLite.

/// Why the index could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite said something unexpected.
    #[error("the index database failed: {message}")]
    Database {
        /// What it said.
        message: String,
    },
}

impl StoreError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Database { .. } => "INTERNAL",
        }
    }
}
