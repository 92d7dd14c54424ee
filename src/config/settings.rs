//! What the owner of a workspace may set, beside which files belong to it.
//!
//! `vectorDb.*` and `hybridSearch.*` are the settings that CodeBuddy describes, with its types and ranges; where another
//! default is better measured, the constant says so. `cascade.*` are the gates and limits of the ways of searching that
//! VS Code Copilot Chat 0.34 describes. [`super::keys`] lists them all by name.

use std::time::Duration;

use super::PerformanceMode;
use super::ranking::STANDARD;

/// All settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The index and its vectors.
    pub vector_db: VectorDb,
    /// How hybrid search ranks.
    pub hybrid_search: HybridSearch,
    /// Which way of searching is taken.
    pub cascade: Cascade,
    /// The provider of vectors.
    pub embedding: Embedding,
    /// What a language model is asked for, if there is one.
    pub query: QueryUnderstanding,
}

/// What a language model is asked for: `query.*`. Limits not named here are constants of [`crate::query::rewrite`].
#[derive(Clone, Debug, PartialEq)]
pub struct QueryUnderstanding {
    /// When it is asked to put the question in other words.
    pub rewrite: RewriteWhen,
    /// Whether it is asked for keywords, which is for every question.
    pub keywords: bool,
    /// Whether it is asked what kind of answer is wanted.
    pub intent: bool,
    /// So long it is waited for. Unmeasured.
    pub wait: Duration,
}

/// When a language model is asked to put a question in other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteWhen {
    /// Never.
    Never,
    /// Where the question needs it: there is a conversation before it, or it points elsewhere ("it", "that").
    Needed,
    /// For every question.
    Always,
}

/// Who makes the vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddingModelChoice {
    /// The model inside the program.
    Embedded,
    /// Google's service.
    Gemini,
    /// OpenAI's service.
    OpenAi,
    /// Any server that speaks OpenAI's language: Ollama, LM Studio, llama.cpp, vLLM, a proxy.
    Local,
}

/// Where a host shows progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgressLocation {
    /// A notification.
    Notification,
    /// The status bar.
    StatusBar,
}

/// How much is told to the log, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Every decision.
    Debug,
    /// Runs and what came of them.
    Info,
    /// What made an answer less than complete.
    Warn,
    /// What failed.
    Error,
}

impl LogLevel {
    /// Stable lower-case name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// The index and its vectors: `vectorDb.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorDb {
    /// Search by meaning. Without it, by words alone, and no provider is asked.
    pub enabled: bool,
    /// Who makes the vectors.
    pub embedding_model: EmbeddingModelChoice,
    /// Most o200k tokens of text in one request to a provider.
    pub max_tokens: usize,
    /// Most texts in one request to a provider.
    pub batch_size: usize,
    /// Hits of a search that does not say how many, unless it is a hybrid one.
    pub search_result_limit: usize,
    /// A watched workspace is brought up to date by itself. Without it, searches and syncs do so.
    pub enable_background_processing: bool,
    /// Progress is told.
    pub enable_progress_notifications: bool,
    /// Where the host shows it; told with the progress.
    pub progress_location: ProgressLocation,
    /// How long nothing must change before a watched workspace is brought up to date.
    pub debounce_delay: Duration,
    /// How much of the machine an index run may take.
    pub performance_mode: PerformanceMode,
    /// What vectors cannot answer is answered by words. Without it, it is not answered, and the answer says so.
    pub fallback_to_keyword_search: bool,
    /// Answers are kept until something changes, and vectors of texts that were embedded before are used again.
    pub cache_enabled: bool,
    /// What is told to the log.
    pub log_level: LogLevel,
}

/// How hybrid search ranks: `hybridSearch.*`.
#[derive(Clone, Debug, PartialEq)]
pub struct HybridSearch {
    /// Weight of the list by meaning, 0 to 1; rescaled with the other to sum 1. Both 0: the defaults, with a notice.
    pub vector_weight: f32,
    /// Weight of the list by words, 0 to 1.
    pub text_weight: f32,
    /// Hits of a hybrid search that does not say how many.
    pub top_k: usize,
    /// Prefer hits that differ (maximal marginal relevance).
    pub mmr_enabled: bool,
    /// 1 is all relevance, 0 all diversity.
    pub mmr_lambda: f32,
    /// Prefer files that changed lately.
    pub temporal_decay_enabled: bool,
    /// Days after which a score counts half.
    pub half_life_days: u32,
}

/// Which way of searching is taken: `cascade.*`. All limits but those that say otherwise are those of VS Code Copilot
/// Chat 0.34, as described.
#[derive(Clone, Debug, PartialEq)]
pub struct Cascade {
    /// Whole workspaces are an answer, if the search has a token budget.
    pub full_workspace: bool,
    /// Fewer files than this are a small workspace.
    pub full_max_files: usize,
    /// Fewer o200k tokens than this, all files together.
    pub full_max_tokens: usize,
    /// An index on a server is asked, if there is one.
    pub remote: bool,
    /// So long a server is waited for before the search begins here as well.
    pub remote_wait: Duration,
    /// More changed files than this, and the server's index is of no use.
    pub remote_max_changed_files: usize,
    /// A larger share of changed files than this, likewise.
    pub remote_max_changed_share: f32,
    /// Up to so many changed files are searched by vectors, more by words.
    pub remote_max_embedded_changes: usize,
    /// So long the search of the changed files may take.
    pub remote_local_wait: Duration,
    /// So long a server that has no index yet may take to make one.
    pub instant_index_wait: Duration,
    /// Vectors are searched.
    pub embeddings: bool,
    /// Vectors and words are searched as one, instead of vectors first and words after. Ours: .882 for .823 of
    /// vectors alone and .873 of words ranked again (NDCG@10, semble half).
    pub hybrid: bool,
    /// So long vectors are waited for before words answer.
    pub embeddings_wait: Duration,
    /// Words are searched.
    pub tfidf: bool,
    /// The described limit of files for a search by words. Ours: no limit, which is 0.
    pub tfidf_max_files: usize,
    /// What scores less than `1 - spread` of the best by words is left out.
    pub tfidf_spread: f32,
    /// So many candidates by words are ranked again by their vectors; 0: none.
    pub tfidf_reranked: usize,
    /// What scores less than this share of the best hit is left out; 0: nothing. Described 0.65 on cosines; ours 0,
    /// because a hit's score here is no cosine and the limit of hits cuts as well.
    pub min_score_share: f32,
    /// If nothing else answers: the vectors alone.
    pub fallback_vectors: bool,
    /// If nothing else answers: the characters as they stand.
    pub fallback_text: bool,
    /// If nothing else answers: README, manifests and entry points.
    pub fallback_common_files: bool,
}

/// The provider of vectors: `embedding.*`.
#[derive(Clone, PartialEq)]
pub struct Embedding {
    /// Base address; empty for that of the service.
    pub base_url: String,
    /// The model's name; empty for the usual one of the service.
    pub model: String,
    /// Dimensions to ask for; 0 for what the model gives.
    pub dimensions: usize,
    /// The key. Never logged, never stored.
    pub api_key: String,
    /// Of a request.
    pub timeout: Duration,
    /// So long a search waits for the vector of its query, after which words answer. Unmeasured; long enough for a
    /// service across an ocean, short enough not to be felt as hanging.
    pub query_timeout: Duration,
    /// Requests at once.
    pub max_concurrent: usize,
    /// Requests a second to begin with.
    pub requests_per_second: usize,
    /// Further tries of a request that may succeed later.
    pub retries: usize,
    /// File with certificates to trust as well; empty for none.
    pub ca_file: String,
    /// Address of a proxy; empty for that of the environment.
    pub proxy: String,
    /// Hosts that are asked without the proxy, separated by commas; empty for those of the environment.
    pub no_proxy: String,
    /// Certificates must be right.
    pub strict_tls: bool,
    /// Whether somebody pays for each text.
    pub metered: Metered,
    /// Files up to which a metered provider embeds a workspace by itself.
    pub max_files: usize,
    /// The same when large workspaces are allowed.
    pub max_files_allowed: usize,
    /// Large workspaces are allowed.
    pub allow_large: bool,
}

/// Whether a provider costs money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metered {
    /// Unless it runs on this machine or in its network.
    Auto,
    /// It does.
    Yes,
    /// It does not.
    No,
}

impl std::fmt::Debug for Embedding {
    /// All but the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Embedding")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// What a workspace gets when its owner says nothing.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            vector_db: VectorDb {
                enabled: true,
                embedding_model: EmbeddingModelChoice::Embedded,
                max_tokens: 6000,
                batch_size: 10,
                search_result_limit: 8,
                enable_background_processing: true,
                enable_progress_notifications: true,
                progress_location: ProgressLocation::Notification,
                debounce_delay: Duration::from_millis(1000),
                performance_mode: PerformanceMode::Balanced,
                fallback_to_keyword_search: true,
                cache_enabled: true,
                log_level: LogLevel::Info,
            },
            hybrid_search: HybridSearch {
                vector_weight: STANDARD.vector_weight,
                text_weight: 1.0 - STANDARD.vector_weight,
                top_k: 10,
                mmr_enabled: false,
                mmr_lambda: 0.7,
                temporal_decay_enabled: false,
                half_life_days: 30,
            },
            cascade: Cascade {
                full_workspace: true,
                full_max_files: 100,
                full_max_tokens: 32_000,
                remote: true,
                remote_wait: Duration::from_millis(12_500),
                remote_max_changed_files: 2000,
                remote_max_changed_share: 0.7,
                remote_max_embedded_changes: 300,
                remote_local_wait: Duration::from_secs(15),
                instant_index_wait: Duration::from_secs(8),
                embeddings: true,
                hybrid: true,
                embeddings_wait: Duration::from_secs(8),
                tfidf: true,
                tfidf_max_files: 0,
                tfidf_spread: 0.75,
                tfidf_reranked: 128,
                min_score_share: 0.0,
                fallback_vectors: true,
                fallback_text: true,
                fallback_common_files: true,
            },
            embedding: Embedding {
                base_url: String::new(),
                model: String::new(),
                dimensions: 0,
                api_key: String::new(),
                timeout: Duration::from_secs(30),
                query_timeout: Duration::from_millis(800),
                max_concurrent: 8,
                requests_per_second: 40,
                retries: 3,
                ca_file: String::new(),
                proxy: String::new(),
                no_proxy: String::new(),
                strict_tls: true,
                metered: Metered::Auto,
                max_files: 750,
                max_files_allowed: 50_000,
                allow_large: false,
            },
            query: QueryUnderstanding {
                rewrite: RewriteWhen::Needed,
                keywords: true,
                intent: false,
                wait: Duration::from_secs(4),
            },
        }
    }
}
