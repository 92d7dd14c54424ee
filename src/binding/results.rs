//! What calls answer, as JavaScript sees it. Everything is copied.

use napi_derive::napi;

use crate::config::settings::ProgressLocation;
use crate::{engine, query, task};

/// How far a run is.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Progress {
    /// What is being done: listing files, reading and chunking them, writing the index, or waiting for vectors of a
    /// provider; then texts are counted, not files.
    #[napi(ts_type = "'walk' | 'index' | 'commit' | 'embed'")]
    pub phase: &'static str,
    /// Files done in this phase.
    pub files_done: f64,
    /// Files to do in this phase; 0 while unknown.
    pub files_total: f64,
    /// A file being worked on, relative to its root.
    pub current_file: Option<String>,
    /// Estimated milliseconds left; `null` until there is enough to go by.
    pub remaining_ms: Option<f64>,
    /// Where the owner wants to see it: `vectorDb.progressLocation`.
    #[napi(ts_type = "'notification' | 'statusBar'")]
    pub location: &'static str,
}

/// Something that made an answer less than complete.
#[napi(object, object_from_js = false)]
pub struct Degradation {
    /// Stable code, for branching.
    pub code: &'static str,
    /// What it means, for a person.
    pub message: String,
}

/// A path that is not in the index, and why.
#[napi(object, object_from_js = false)]
pub struct SkippedPath {
    /// The root's path.
    pub root: String,
    /// Relative to the root, with `/` between the parts. A folder stands for everything below it.
    pub path: String,
    /// Why, for a person.
    pub reason: String,
}

/// What a sync did.
#[napi(object, object_from_js = false)]
pub struct IndexReport {
    /// The roots' paths.
    pub roots: Vec<String>,
    /// Files in the index now.
    pub files: f64,
    /// Chunks in the index now.
    pub chunks: f64,
    /// Files that were new.
    pub added: f64,
    /// Files whose content changed.
    pub changed: f64,
    /// Files that are gone.
    pub removed: f64,
    /// Files that were as before.
    pub unchanged: f64,
    /// Files whose vectors the embedded model made.
    pub embedded: f64,
    /// Files whose vectors were known from before, from any workspace.
    pub reused: f64,
    /// Texts that a provider made vectors of.
    pub texts_embedded: f64,
    /// Texts whose vectors by the provider's model were known from before.
    pub texts_reused: f64,
    /// Texts that have no vector of the provider yet.
    pub texts_pending: f64,
    /// Every path that was left out, with the reason.
    pub skipped: Vec<SkippedPath>,
    /// Wall time in milliseconds.
    pub took_ms: f64,
    /// What a person should know: a truncated file, a database that was set aside, a root that cannot be watched.
    pub degraded: Vec<Degradation>,
}

/// One part of a hit's score.
#[napi(object, object_from_js = false)]
pub struct ScorePart {
    /// What the part stands for.
    pub name: &'static str,
    /// What it contributes.
    pub value: f64,
}

/// Lines that answer the question.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Hit {
    /// The root's path.
    pub root: String,
    /// Relative to the root, with `/` between the parts.
    pub path: String,
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, counted from 1, inclusive.
    pub end_line: u32,
    /// What the lines are.
    #[napi(ts_type = "ChunkKind")]
    pub kind: &'static str,
    /// The name of what the lines hold: an identifier, a heading.
    pub name: Option<String>,
    /// Language id, as VS Code spells it.
    pub language: &'static str,
    /// Higher is better; comparable within one answer only.
    pub score: f64,
    /// The lines.
    pub text: String,
    /// The parts of the score; empty unless `explain` was asked for.
    pub explanation: Vec<ScorePart>,
}

/// A word to look for, and other forms of it.
#[napi(object, object_from_js = false)]
pub struct Keyword {
    /// A word, a name, or a few words.
    pub word: String,
    /// Other forms or synonyms.
    pub variations: Vec<String>,
}

/// A strategy that was tried.
#[napi(object, object_from_js = false)]
pub struct Attempt {
    /// Which one.
    pub strategy: &'static str,
    /// What came of it.
    #[napi(ts_type = "'answered' | 'skipped' | 'empty' | 'failed' | 'timedOut' | 'cancelled'")]
    pub outcome: &'static str,
    /// Why, for a person.
    pub reason: String,
    /// Wall time in milliseconds.
    pub ms: f64,
}

/// What a token budget had no room for.
#[napi(object, object_from_js = false)]
pub struct Omitted {
    /// Hits of which nothing is there.
    pub hits: f64,
    /// Lines that the last hit lost.
    pub lines: f64,
}

/// The answer to a question.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct SearchResponse {
    /// The question as asked.
    pub query: String,
    /// The question that was searched for: as a language model put it, or as asked.
    pub question: String,
    /// What was looked for beside it, most relevant first: as a language model or the caller named it, or the words of the
    /// question that matter.
    pub keywords: Vec<Keyword>,
    /// What kind of answer is wanted, if a language model was asked.
    #[napi(
        ts_type = "'find-code' | 'explain' | 'find-tests' | 'find-usage' | 'overview' | 'config' | 'other' | null"
    )]
    pub intent: Option<&'static str>,
    /// The strategy that answered: one that may be asked for, or `text` (the characters as they stand) or `common-files`
    /// (README, manifests, entry points), where nothing else found anything.
    pub strategy: &'static str,
    /// What was tried, in order.
    pub tried: Vec<Attempt>,
    /// Wall time of the search in milliseconds.
    pub took_ms: f64,
    /// What made the answer less than complete; empty for a complete one.
    pub degraded: Vec<Degradation>,
    /// Best first; by path if the strategy is `full`. Empty means that nothing matches, never that something broke.
    pub hits: Vec<Hit>,
    /// o200k tokens of the texts of the hits.
    pub tokens: f64,
    /// What the token budget had no room for.
    pub omitted: Omitted,
    /// Whether the answer was kept from before, on the same state of the index.
    pub cached: bool,
}

/// A file in the index.
#[napi(object, object_from_js = false)]
pub struct IndexedFile {
    /// The root's path.
    pub root: String,
    /// Relative to the root, with `/` between the parts.
    pub path: String,
    /// Language id, as VS Code spells it.
    pub language: &'static str,
    /// Bytes on disk.
    pub size: f64,
    /// Number of chunks.
    pub chunks: u32,
}

/// A root of the workspace, counted.
#[napi(object, object_from_js = false)]
pub struct RootOverview {
    /// The root's path.
    pub root: String,
    /// Files in the index.
    pub files: f64,
    /// The languages of these files, the one with the most files first.
    pub languages: Vec<LanguageCount>,
    /// What the last sync left out, the reason with the most paths first.
    pub skipped: Vec<SkippedReason>,
}

/// Files of a language.
#[napi(object, object_from_js = false)]
pub struct LanguageCount {
    /// Language id, as VS Code spells it.
    pub language: &'static str,
    /// How many.
    pub files: f64,
}

/// Paths that were left out for one reason.
#[napi(object, object_from_js = false)]
pub struct SkippedReason {
    /// Why, for a person.
    pub reason: String,
    /// How many.
    pub paths: f64,
    /// The first 100, relative to the root.
    pub first_paths: Vec<String>,
}

/// A piece of a file that can be found.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Chunk {
    /// First line, counted from 1.
    pub start_line: u32,
    /// Last line, counted from 1, inclusive.
    pub end_line: u32,
    /// What the lines are.
    #[napi(ts_type = "ChunkKind")]
    pub kind: &'static str,
    /// The name of what the lines hold: an identifier, a heading.
    pub name: Option<String>,
    /// Number of o200k tokens.
    pub tokens: u32,
    /// The lines.
    pub text: String,
}

/// The chunks of one file.
#[napi(object, object_from_js = false)]
pub struct FileChunks {
    /// Relative to its root, with `/` between the parts.
    pub path: String,
    /// Language id, as VS Code spells it.
    pub language: &'static str,
    /// In the order of the file.
    pub chunks: Vec<Chunk>,
}

/// How a workspace stands.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Status {
    /// Whether there is no index yet, one is being built or brought up to date (here or in another process), it can be
    /// searched, indexing was paused, or the index was cleared and nobody has asked for a new one.
    #[napi(ts_type = "'empty' | 'indexing' | 'ready' | 'paused' | 'cleared'")]
    pub state: &'static str,
    /// The roots' paths.
    pub roots: Vec<String>,
    /// Files in the index.
    pub files: f64,
    /// Chunks in the index.
    pub chunks: f64,
    /// Files known to be out of date.
    pub pending_files: f64,
    /// Name of the embedding model.
    pub model: String,
    /// Folder of the database.
    pub storage: String,
    /// Bytes of the database files.
    pub database_bytes: f64,
    /// Whether this workspace object watches. Others, in this process or another, do not count.
    pub watching: bool,
    /// The last failure, if the last run that was not stopped failed.
    pub last_error: Option<Degradation>,
    /// Why the system does not tell of changes, for each root where that is so; empty unless this object watches.
    pub degraded: Vec<Degradation>,
    /// How far the run is that goes on in this workspace object.
    pub progress: Option<Progress>,
}

/// A run of a watch goes on.
#[napi(object, object_from_js = false)]
pub struct ProgressEvent {
    /// Tells the events apart.
    #[napi(js_name = "type", ts_type = "'progress'")]
    pub kind: &'static str,
    /// How far it is.
    pub progress: Progress,
}

/// A run of a watch is done: the first, or one that found something to do.
#[napi(object, object_from_js = false)]
pub struct SyncedEvent {
    /// Tells the events apart.
    #[napi(js_name = "type", ts_type = "'synced'")]
    pub kind: &'static str,
    /// What it did.
    pub report: IndexReport,
}

/// A run of a watch failed. Another follows by itself, unless the workspace was paused or cleared.
#[napi(object, object_from_js = false)]
pub struct FailedEvent {
    /// Tells the events apart.
    #[napi(js_name = "type", ts_type = "'failed'")]
    pub kind: &'static str,
    /// Stable code, for branching.
    pub code: &'static str,
    /// What went wrong, for a person.
    pub message: String,
}

/// Counts and sizes as JavaScript numbers, which are exact up to 2^53.
fn number(value: u64) -> f64 {
    value as f64
}

fn all<T, U: From<T>>(values: Vec<T>) -> Vec<U> {
    values.into_iter().map(U::from).collect()
}

impl From<task::Progress> for Progress {
    fn from(progress: task::Progress) -> Self {
        Self {
            phase: progress.phase.name(),
            files_done: number(progress.files_done),
            files_total: number(progress.files_total),
            current_file: progress.current_file,
            remaining_ms: progress.remaining_ms.map(number),
            location: match progress.location {
                ProgressLocation::Notification => "notification",
                ProgressLocation::StatusBar => "statusBar",
            },
        }
    }
}

impl From<engine::Degradation> for Degradation {
    fn from(degradation: engine::Degradation) -> Self {
        Self { code: degradation.code, message: degradation.message }
    }
}

impl From<engine::SkippedPath> for SkippedPath {
    fn from(skipped: engine::SkippedPath) -> Self {
        Self { root: skipped.root, path: skipped.path, reason: skipped.reason }
    }
}

impl From<engine::IndexReport> for IndexReport {
    fn from(report: engine::IndexReport) -> Self {
        Self {
            roots: report.roots,
            files: number(report.files),
            chunks: number(report.chunks),
            added: number(report.added),
            changed: number(report.changed),
            removed: number(report.removed),
            unchanged: number(report.unchanged),
            embedded: number(report.embedded),
            reused: number(report.reused),
            texts_embedded: number(report.texts_embedded),
            texts_reused: number(report.texts_reused),
            texts_pending: number(report.texts_pending),
            skipped: all(report.skipped),
            took_ms: report.took_ms,
            degraded: all(report.degraded),
        }
    }
}

impl From<engine::Hit> for Hit {
    fn from(hit: engine::Hit) -> Self {
        let explanation =
            hit.explanation.into_iter().map(|(name, value)| ScorePart { name, value }).collect();
        Self {
            root: hit.root,
            path: hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            kind: hit.kind,
            name: hit.name,
            language: hit.language,
            score: hit.score,
            text: hit.text,
            explanation,
        }
    }
}

impl From<query::Keyword> for Keyword {
    fn from(keyword: query::Keyword) -> Self {
        Self { word: keyword.word, variations: keyword.variations }
    }
}

impl From<engine::Attempt> for Attempt {
    fn from(attempt: engine::Attempt) -> Self {
        Self {
            strategy: attempt.strategy,
            outcome: attempt.outcome.name(),
            reason: attempt.reason,
            ms: attempt.took_ms,
        }
    }
}

impl From<engine::SearchResponse> for SearchResponse {
    fn from(response: engine::SearchResponse) -> Self {
        Self {
            query: response.query,
            question: response.question,
            keywords: all(response.keywords),
            intent: response.intent,
            strategy: response.strategy,
            tried: all(response.tried),
            took_ms: response.took_ms,
            degraded: all(response.degraded),
            hits: all(response.hits),
            tokens: number(response.tokens),
            omitted: Omitted {
                hits: number(response.omitted_hits),
                lines: number(response.omitted_lines),
            },
            cached: response.is_cached,
        }
    }
}

impl From<engine::IndexedFile> for IndexedFile {
    fn from(file: engine::IndexedFile) -> Self {
        Self {
            root: file.root,
            path: file.path,
            language: file.language,
            size: number(file.size),
            chunks: file.chunks,
        }
    }
}

impl From<engine::RootOverview> for RootOverview {
    fn from(root: engine::RootOverview) -> Self {
        let languages = root.languages.into_iter();
        Self {
            root: root.root,
            files: number(root.files),
            languages: languages
                .map(|(language, files)| LanguageCount { language, files: number(files) })
                .collect(),
            skipped: root.skipped.into_iter().map(SkippedReason::from).collect(),
        }
    }
}

impl From<engine::SkippedReason> for SkippedReason {
    fn from(skipped: engine::SkippedReason) -> Self {
        Self {
            reason: skipped.reason,
            paths: number(skipped.n_paths),
            first_paths: skipped.first_paths,
        }
    }
}

impl From<engine::ChunkInfo> for Chunk {
    fn from(chunk: engine::ChunkInfo) -> Self {
        Self {
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            kind: chunk.kind,
            name: chunk.name,
            tokens: chunk.tokens,
            text: chunk.text,
        }
    }
}

impl From<engine::FileChunks> for FileChunks {
    fn from(file: engine::FileChunks) -> Self {
        Self { path: file.path, language: file.language, chunks: all(file.chunks) }
    }
}

impl From<engine::Status> for Status {
    fn from(status: engine::Status) -> Self {
        Self {
            state: status.state,
            roots: status.roots,
            files: number(status.files),
            chunks: number(status.chunks),
            pending_files: number(status.pending_files),
            model: status.model,
            storage: status.storage,
            database_bytes: number(status.database_bytes),
            watching: status.watching,
            last_error: status.last_error.map(Degradation::from),
            degraded: all(status.degraded),
            progress: status.progress.map(Progress::from),
        }
    }
}

impl From<task::Progress> for ProgressEvent {
    fn from(progress: task::Progress) -> Self {
        Self { kind: "progress", progress: progress.into() }
    }
}

impl From<engine::IndexReport> for SyncedEvent {
    fn from(report: engine::IndexReport) -> Self {
        Self { kind: "synced", report: report.into() }
    }
}

impl From<engine::Degradation> for FailedEvent {
    fn from(failure: engine::Degradation) -> Self {
        Self { kind: "failed", code: failure.code, message: failure.message }
    }
}
