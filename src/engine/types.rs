//! What goes into the facade and comes out of it. Lines are 1-based and inclusive here.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::Config;
use crate::embed::provider::Embedder;
use crate::log::LogSink;
use crate::notice::Notice;
use crate::query::Keyword;
use crate::query::rewrite::{LanguageModel, Turn};
use crate::remote::RemoteIndex;
use crate::task::Progress;

/// How to open a workspace.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Folders of the workspace; at least one.
    pub roots: Vec<PathBuf>,
    /// Folder for the database; `None` is the platform's cache folder, keyed by the roots' real paths.
    pub storage: Option<PathBuf>,
    /// Folder for the embeddings that all workspaces share; `None` is the platform's cache folder.
    pub cache: Option<PathBuf>,
    /// Settings.
    pub config: Config,
    /// What the caller brings along.
    pub parts: Parts,
}

/// What a caller may bring along: models, servers, a log.
#[derive(Clone, Default)]
pub struct Parts {
    /// Makes vectors, in place of what the settings name.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// An index on a server.
    pub remote: Option<Arc<dyn RemoteIndex>>,
    /// Helps to understand questions.
    pub language_model: Option<Arc<dyn LanguageModel>>,
    /// Where the log goes.
    pub log: Option<Arc<dyn LogSink>>,
}

impl fmt::Debug for Parts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Parts")
            .field("embedder", &self.embedder)
            .field("remote", &self.remote)
            .field("language_model", &self.language_model)
            .field("has_log", &self.log.is_some())
            .finish()
    }
}

/// Something that made an answer less than complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Degradation {
    /// Stable code.
    pub code: &'static str,
    /// For a person.
    pub message: String,
}

impl From<Notice> for Degradation {
    fn from(notice: Notice) -> Self {
        Self { code: notice.code, message: notice.message }
    }
}

/// A path that is not in the index, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedPath {
    /// The root's path.
    pub root: String,
    /// Relative to the root.
    pub path: String,
    /// For a person.
    pub reason: String,
}

/// What a sync did.
#[derive(Clone, Debug)]
pub struct IndexReport {
    /// The roots' paths.
    pub roots: Vec<String>,
    /// Files in the index now.
    pub files: u64,
    /// Chunks in the index now.
    pub chunks: u64,
    /// Files that were new.
    pub added: u64,
    /// Files whose content changed.
    pub changed: u64,
    /// Files that are gone.
    pub removed: u64,
    /// Files that were as before.
    pub unchanged: u64,
    /// Files whose vectors the embedded model made.
    pub embedded: u64,
    /// Files whose vectors were known from before, from any workspace.
    pub reused: u64,
    /// Texts that a provider made vectors of.
    pub texts_embedded: u64,
    /// Texts whose vectors by its model were known from before.
    pub texts_reused: u64,
    /// Texts that have none yet.
    pub texts_pending: u64,
    /// Everything left out.
    pub skipped: Vec<SkippedPath>,
    /// Wall time.
    pub took_ms: f64,
    /// What a person should know (truncated files, a database that was set aside).
    pub degraded: Vec<Degradation>,
}

/// Ways of searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// The best available.
    Auto,
    /// The whole workspace, if it is small.
    Full,
    /// A remote index.
    Remote,
    /// Vectors only.
    Embeddings,
    /// Terms only.
    Tfidf,
    /// Vectors and terms.
    Hybrid,
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchRequest {
    /// In the asker's words.
    pub query: String,
    /// Further words or identifiers to look for, if the caller has any.
    pub keywords: Vec<String>,
    /// Most hits wanted, at least 1. `None`: as many as the token budget has room for at 250 tokens each and no more than
    /// 128 (as VS Code Copilot Chat asks for), or what the settings say.
    pub limit: Option<usize>,
    /// Most o200k tokens of text over all hits; `None` for no bound.
    pub token_budget: Option<usize>,
    /// How to search.
    pub strategy: Strategy,
    /// Path globs, relative to the roots or absolute; a folder name stands for all below it; a hit needs to match one.
    /// Empty: all.
    pub paths: Vec<String>,
    /// Language names; empty: all.
    pub languages: Vec<String>,
    /// Chunk kinds; empty: all.
    pub kinds: Vec<String>,
    /// Ask why each hit stands where it stands.
    pub explain: bool,
    /// Whether a language model may help, if there is one.
    pub rewrite: bool,
    /// The conversation so far, oldest first, from which a language model tells what the question means.
    pub history: Vec<Turn>,
    /// Paths of what the asker has selected or attached.
    pub attached: Vec<String>,
}

/// One hit.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The root's path.
    pub root: String,
    /// Relative to the root.
    pub path: String,
    /// 1-based.
    pub start_line: u32,
    /// 1-based, inclusive.
    pub end_line: u32,
    /// One of the nine kinds.
    pub kind: &'static str,
    /// Name of what the lines hold.
    pub name: Option<String>,
    /// Language id.
    pub language: &'static str,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// The lines.
    pub text: String,
    /// The parts of the score by name, when asked for.
    pub explanation: Vec<(&'static str, f64)>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct SearchResponse {
    /// The question as asked.
    pub query: String,
    /// The question that was searched for: as a language model put it, or as asked.
    pub question: String,
    /// What was looked for beside it, most relevant first: as a language model or the caller named it, or the words of the
    /// question that matter.
    pub keywords: Vec<Keyword>,
    /// What kind of answer is wanted, if a language model was asked.
    pub intent: Option<&'static str>,
    /// The strategy that answered.
    pub strategy: &'static str,
    /// What was tried, in order, the last of them with success if there are hits.
    pub tried: Vec<Attempt>,
    /// Wall time.
    pub took_ms: f64,
    /// What made it less than complete.
    pub degraded: Vec<Degradation>,
    /// Best first; in the order of their paths if the strategy is `full`.
    pub hits: Vec<Hit>,
    /// o200k tokens of their texts.
    pub tokens: u64,
    /// Hits that the token budget had no room for.
    pub omitted_hits: u64,
    /// Lines of the last hit that it had no room for.
    pub omitted_lines: u64,
    /// Whether it was answered before, on the same state of the index.
    pub is_cached: bool,
}

/// What came of trying a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Answered,
    /// A setting or limit stands against it.
    Skipped,
    /// It found nothing.
    Empty,
    /// It failed.
    Failed,
    /// It took too long.
    TimedOut,
    /// Another one answered first.
    Cancelled,
}

impl Outcome {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Skipped => "skipped",
            Self::Empty => "empty",
            Self::Failed => "failed",
            Self::TimedOut => "timedOut",
            Self::Cancelled => "cancelled",
        }
    }
}

/// A strategy that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// Which one.
    pub strategy: &'static str,
    /// What came of it.
    pub outcome: Outcome,
    /// Why, for a person.
    pub reason: String,
    /// Wall time.
    pub took_ms: f64,
}

/// An indexed file.
#[derive(Clone, Debug)]
pub struct IndexedFile {
    /// The root's path.
    pub root: String,
    /// Relative to the root.
    pub path: String,
    /// Language id.
    pub language: &'static str,
    /// Bytes on disk.
    pub size: u64,
    /// Number of chunks.
    pub chunks: u32,
}

/// A chunk, for display.
#[derive(Clone, Debug)]
pub struct ChunkInfo {
    /// 1-based.
    pub start_line: u32,
    /// 1-based, inclusive.
    pub end_line: u32,
    /// One of the nine kinds.
    pub kind: &'static str,
    /// Name of what it holds.
    pub name: Option<String>,
    /// Exact o200k tokens.
    pub tokens: u32,
    /// Its text.
    pub text: String,
}

/// The chunks of one file.
#[derive(Clone, Debug)]
pub struct FileChunks {
    /// Relative to its root.
    pub path: String,
    /// Language id.
    pub language: &'static str,
    /// In order.
    pub chunks: Vec<ChunkInfo>,
}

/// How the workspace stands.
#[derive(Clone, Debug)]
pub struct Status {
    /// `empty`, `indexing`, `ready`, `paused` or `cleared`.
    pub state: &'static str,
    /// The roots' paths.
    pub roots: Vec<String>,
    /// Files in the index.
    pub files: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Files known to be out of date.
    pub pending_files: u64,
    /// Name of the embedding model.
    pub model: String,
    /// Folder of the database.
    pub storage: String,
    /// Bytes of the database files.
    pub database_bytes: u64,
    /// Whether a watch goes on.
    pub watching: bool,
    /// Why changes of files are not told by the system, for each root where that is so.
    pub degraded: Vec<Degradation>,
    /// How far the run is that goes on in this process.
    pub progress: Option<Progress>,
    /// The last failure, if the last run that was not stopped failed.
    pub last_error: Option<Degradation>,
}
