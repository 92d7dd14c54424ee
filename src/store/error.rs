//! What can go wrong with the database, sorted by what a person can do about it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi::ErrorCode;

/// Why the index could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The storage folder or a file in it cannot be created or written.
    #[error("cannot write the index storage {path}; make it writable or name another folder")]
    Unwritable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The storage folder lies inside a root, where the index would index itself.
    #[error(
        "the storage folder {storage} lies inside the root {root}; name a folder outside of it"
    )]
    InsideRoot {
        /// The storage folder.
        storage: PathBuf,
        /// The root.
        root: PathBuf,
    },
    /// Another process kept the database locked for too long.
    #[error("another process holds the index {path}; try again when it is done")]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// No space left.
    #[error(
        "no space left to write the index {path}; free some, the last complete index is intact"
    )]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error(
        "the index {path} has format {found}, this version reads {supported}; update Sextant or name another storage folder"
    )]
    Format {
        /// The database.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format of this build.
        supported: i64,
    },
    /// The content is not what was written.
    #[error(
        "the index {path} is damaged ({detail}); it is set aside and rebuilt by the next index run"
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// There is no complete index of these roots yet.
    #[error("there is no complete index of {root} yet; index it first")]
    NotBuilt {
        /// The root.
        root: PathBuf,
    },
    /// Anything else that SQLite reports.
    #[error("the index {path} failed: {detail}")]
    Database {
        /// The database.
        path: PathBuf,
        /// The name of SQLite's code.
        detail: String,
    },
}

/// Result of a store operation.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// Stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unwritable { .. } => "STORAGE_UNWRITABLE",
            Self::InsideRoot { .. } => "STORAGE_INSIDE_ROOT",
            Self::Busy { .. } => "STORAGE_BUSY",
            Self::DiskFull { .. } => "DISK_FULL",
            Self::Format { .. } => "INDEX_FORMAT_UNSUPPORTED",
            Self::Damaged { .. } => "INDEX_DAMAGED",
            Self::NotBuilt { .. } => "INDEX_NOT_BUILT",
            Self::Database { .. } => "INTERNAL",
        }
    }

    /// SQLite's own words stay out of messages: they say nothing to a person.
    pub(super) fn from_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let unwritable = |path, kind: io::ErrorKind| Self::Unwritable { path, source: kind.into() };
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, detail: "its content is not that of an index".into() }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                unwritable(path, io::ErrorKind::PermissionDenied)
            }
            Some(ErrorCode::SystemIoFailure) => unwritable(path, io::ErrorKind::Other),
            // A value of an unexpected type, or a row or table that is missing: not what this program wrote.
            None
            | Some(ErrorCode::Unknown | ErrorCode::TypeMismatch | ErrorCode::ConstraintViolation) => {
                Self::Damaged {
                    path,
                    detail: "a part of it is missing or of the wrong kind".into(),
                }
            }
            Some(code) => Self::Database { path, detail: format!("{code:?}") },
        }
    }

    pub(super) fn from_io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path: path.to_path_buf() }
            }
            _ => Self::Unwritable { path: path.to_path_buf(), source },
        }
    }
}
