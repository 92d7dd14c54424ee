//! What an index on a server is, and what it is asked.
//!
//! A new server is one implementation of [`RemoteIndex`]; `tests/it/remote/adapter.rs` is one in a file.

use std::fmt;
use std::path::PathBuf;

use super::error::RemoteError;
use crate::span::LineRange;
use crate::task::CancelToken;

/// Longest question, in UTF-8 bytes: servers take 8 KiB with what they add. Source: as [`super::limits`].
pub const MAX_QUERY_BYTES: usize = 7_800;

/// A repository, here and on its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Its top folder on disk.
    pub top: PathBuf,
    /// The part of it that is in the workspace: empty for all, else a folder below the top that ends in `/`.
    pub prefix: String,
    /// Where it is fetched from, without user and password.
    pub remote_url: String,
    /// Server, in lower case, with a port if the address has one.
    pub host: String,
    /// What stands before the name; may hold `/`.
    pub owner: String,
    /// Its name, without `.git`.
    pub name: String,
}

impl Repository {
    /// `host/owner/name` in lower case: what it is known by, in hits too.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.host, self.owner, self.name).to_lowercase()
    }

    /// A path of the repository as one of the folder of the workspace; `None` if it lies outside.
    #[must_use]
    pub fn in_folder<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.prefix.as_str()).filter(|path| !path.is_empty())
    }
}

/// How a repository stands with the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteStatus {
    /// It can be searched.
    Ready {
        /// The commit that is indexed, if the server says.
        commit: Option<String>,
    },
    /// It is being indexed.
    Building,
    /// It could be indexed, and is not.
    NotYetIndexed,
    /// It cannot be indexed.
    NotIndexable {
        /// For a person.
        reason: String,
    },
    /// The server wants other credentials, or some.
    NotAuthorized {
        /// For a person.
        reason: String,
    },
}

/// What is asked. The text is at most [`MAX_QUERY_BYTES`] long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteQuery {
    text: String,
    limit: usize,
}

impl RemoteQuery {
    /// Cuts `text` to [`MAX_QUERY_BYTES`] at the border of a character. `limit`: most hits wanted.
    #[must_use]
    pub fn new(text: &str, limit: usize) -> Self {
        let mut end = text.len().min(MAX_QUERY_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self { text: text[..end].to_owned(), limit }
    }

    /// In the asker's words.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Most hits wanted.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }
}

/// What a server found in one place. Nothing of it is believed before it is checked ([`super::merge::place`]).
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteHit {
    /// [`Repository::key`] of where it lies, in any case.
    pub repository: String,
    /// Relative to the top of the repository, with `/`.
    pub path: String,
    /// 0-based, half-open.
    pub lines: LineRange,
    /// The lines, as they are in the indexed commit.
    pub text: String,
    /// Higher is better; comparable between all answers of one index. An adapter turns distances round.
    pub score: f64,
}

/// What a server answers.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteAnswer {
    /// The commit that it searched, if it says.
    pub commit: Option<String>,
    /// In any order.
    pub hits: Vec<RemoteHit>,
}

/// An index of repositories on a server.
///
/// Calls may block: each is made on a thread of its own, which is left alone once the caller has waited long enough. So
/// an adapter sets limits of time to its requests, and looks at the token where it can.
pub trait RemoteIndex: Send + Sync + fmt::Debug {
    /// For reports and messages.
    fn name(&self) -> &str;

    /// Asks how a repository stands.
    ///
    /// # Errors
    /// [`RemoteError`], if that cannot be told.
    fn status(
        &self,
        cancel: &CancelToken,
        repository: &Repository,
    ) -> Result<RemoteStatus, RemoteError>;

    /// Asks for a repository to be indexed. Success means that the server has begun or will, no more.
    ///
    /// # Errors
    /// [`RemoteError`], if the server did not take it on; it is not building then.
    fn trigger(&self, cancel: &CancelToken, repository: &Repository) -> Result<(), RemoteError>;

    /// Searches one repository.
    ///
    /// # Errors
    /// [`RemoteError`]. No hits are no error.
    fn search(
        &self,
        cancel: &CancelToken,
        repository: &Repository,
        query: &RemoteQuery,
    ) -> Result<RemoteAnswer, RemoteError>;
}

/// What is known of the repository of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The folder belongs to none.
    NoRepository,
    /// Nobody knows yet.
    Checking,
    /// There is one, but not which.
    Unresolvable {
        /// For a person.
        reason: String,
    },
    /// This one.
    Resolved(Repository),
}

/// A folder of the workspace: a root, or a repository inside one. Each file belongs to one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    /// For messages.
    pub name: String,
    /// Its repository.
    pub resolution: Resolution,
}

/// A file of the local index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileRef {
    /// Position of its [`Folder`].
    pub folder: usize,
    /// Relative to that folder, with `/`.
    pub path: String,
}

/// What the local index knows of files.
pub trait IndexedFiles: Sync {
    /// Files in the index, of all folders.
    fn count(&self) -> usize;

    /// Whether a file is in the index.
    fn is_indexed(&self, file: &FileRef) -> bool;

    /// Whether a file is in the index and may be a hit of this question.
    fn is_wanted(&self, file: &FileRef) -> bool;

    /// Number of lines of an indexed file, if known.
    fn n_lines(&self, file: &FileRef) -> Option<u32>;

    /// Paths of the files of a folder that may be hits; `None` if they are more than `at_most`.
    fn wanted_in(&self, folder: usize, at_most: usize) -> Option<Vec<String>>;
}

/// Something that a person should know about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Stable code, a row of docs/errors.md.
    pub code: &'static str,
    /// For a person.
    pub message: String,
}
