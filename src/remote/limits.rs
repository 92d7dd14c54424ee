//! How much of what an index on a server may cost, in files and milliseconds.
//!
//! The numbers are those that are described of GitHub Copilot Chat 0.34 (November 2025), unless their line says "ours".

/// Most files that may differ from what the server has.
pub const MAX_CHANGED_FILES: usize = 2_000;
/// Largest part of all files of the index that may differ.
pub const MAX_CHANGED_SHARE: f64 = 0.70;
/// Most changed files that are searched by their vectors; more are searched by words only.
pub const MAX_EMBEDDED_CHANGES: usize = 300;
/// Most paths of git that are looked at in one repository. Described: the rest is ignored. Ours: more are too many, for
/// a path that was not looked at may be a changed file.
pub const MAX_EXAMINED_PATHS: usize = 10_000;
/// The search by vectors has this long before that by words joins it.
pub const LOCAL_EMBEDDINGS_MS: u64 = 8_000;
/// The search of changed files has this long in all.
pub const LOCAL_MS: u64 = 15_000;
/// A repository that the server does not know yet has this long to be indexed.
pub const INSTANT_INDEXING_MS: u64 = 8_000;
/// Between two questions whether it is indexed.
pub const POLL_INTERVAL_MS: u64 = 1_000;
/// An answer of the server does not wait for the changed files after this, counted from the beginning. Ours: below
/// the 12.5 s after which the engine searches here as well, or a slow local part would cost the answer that is there.
pub const ANSWER_MS: u64 = 12_000;
/// One call of the server. Ours, unmeasured: below [`ANSWER_MS`], so that a repository whose server hangs does not cost
/// the answers of the others.
pub const CALL_MS: u64 = 10_000;
/// Asking git what has changed. Ours, unmeasured.
pub const DIFF_MS: u64 = 5_000;

/// See the constants of the same names.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteLimits {
    /// [`MAX_CHANGED_FILES`].
    pub max_changed_files: usize,
    /// [`MAX_CHANGED_SHARE`], 0 to 1.
    pub max_changed_share: f64,
    /// [`MAX_EMBEDDED_CHANGES`].
    pub max_embedded_changes: usize,
    /// [`MAX_EXAMINED_PATHS`].
    pub max_examined_paths: usize,
    /// [`LOCAL_EMBEDDINGS_MS`].
    pub local_embeddings_ms: u64,
    /// [`LOCAL_MS`].
    pub local_ms: u64,
    /// [`INSTANT_INDEXING_MS`].
    pub instant_indexing_ms: u64,
    /// [`POLL_INTERVAL_MS`].
    pub poll_interval_ms: u64,
    /// [`ANSWER_MS`].
    pub answer_ms: u64,
    /// [`CALL_MS`].
    pub call_ms: u64,
    /// [`DIFF_MS`].
    pub diff_ms: u64,
}

impl RemoteLimits {
    /// The constants.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            max_changed_files: MAX_CHANGED_FILES,
            max_changed_share: MAX_CHANGED_SHARE,
            max_embedded_changes: MAX_EMBEDDED_CHANGES,
            max_examined_paths: MAX_EXAMINED_PATHS,
            local_embeddings_ms: LOCAL_EMBEDDINGS_MS,
            local_ms: LOCAL_MS,
            instant_indexing_ms: INSTANT_INDEXING_MS,
            poll_interval_ms: POLL_INTERVAL_MS,
            answer_ms: ANSWER_MS,
            call_ms: CALL_MS,
            diff_ms: DIFF_MS,
        }
    }
}
