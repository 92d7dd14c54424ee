//! The settings of the core, resolved once and passed in, and the limits that are not settings.

pub mod keys;
pub mod ranking;
pub mod settings;

use ranking::{Constants, STANDARD};
use settings::Settings;

/// A file is read up to this many bytes, cut back to the last line end before it.
/// Source: VS Code Copilot's file index and Kodik read 1.5 MB; unmeasured.
pub const MAX_FILE_BYTES: usize = 1_500_000;

/// Upper bound of a chunk in o200k tokens. Source: Copilot's chunk size; retrieval at other sizes unmeasured.
pub const MAX_CHUNK_TOKENS: usize = 250;

/// Upper bound of a chunk in lines, blank ones included: many short lines are few tokens, and more than a screen.
/// Source: Kodik's chunks; retrieval at other sizes unmeasured.
pub const MAX_CHUNK_LINES: usize = 80;

/// Raised with every change of what a text gives: reading, chunks, terms, vectors. An index of another revision is
/// rebuilt, so that old and new never mix.
pub const ANALYSIS_REVISION: u32 = 2;

/// Lines of a chunk where a file has no structure to go by. Source: CodePilot's fallback chunker.
pub const FALLBACK_CHUNK_LINES: usize = 60;

/// Lines that two neighbouring fallback chunks share. Source: CodePilot's fallback chunker.
pub const FALLBACK_OVERLAP_LINES: usize = 10;

/// Bytes that the cache of embeddings may take on disk, over all workspaces of a user. At 132
/// bytes for up to 1,800 of text, room for some 2 GB of source. Unmeasured.
pub const EMBEDDING_CACHE_BYTES: usize = 256 << 20;

/// Which files belong to a workspace. Each switch turns one source of rules off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkConfig {
    /// Honour git's rules: .gitignore files, info/exclude, core.excludesFile.
    pub use_gitignore: bool,
    /// Honour .sextantignore files (same syntax, last word).
    pub use_sextantignore: bool,
    /// Leave out the folders and file kinds that nobody searches (dependencies, build output, media).
    pub use_default_exclusions: bool,
    /// Leave out files that usually hold secrets, before anything is read.
    pub exclude_secrets: bool,
    /// Extra rules of the caller in .gitignore syntax, relative to each root.
    pub exclude: Vec<String>,
    /// Folders that are left out whatever any rule says, as paths relative to the root without a final slash.
    pub never_enter: Vec<String>,
}

/// How much of the machine an index run may take: exactly so many threads index, none beside them writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerformanceMode {
    /// Half the cores, rounded up.
    Balanced,
    /// All cores.
    Performance,
    /// One thread, small batches and segments.
    Memory,
}

/// All settings of one workspace.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Which files belong to the workspace.
    pub walk: WalkConfig,
    /// What the owner may set.
    pub settings: Settings,
    /// Chunk by syntax; without it, by lines. An index made otherwise is rebuilt.
    pub use_syntax: bool,
    /// Make vectors; without them, search is by terms alone. An index made otherwise is rebuilt.
    pub use_vectors: bool,
    /// Constants of retrieval and ranking; only the evaluation gives others than the standard ones.
    pub ranking: Constants,
}

impl WalkConfig {
    /// Everything on, nothing added.
    pub const STANDARD: Self = Self {
        use_gitignore: true,
        use_sextantignore: true,
        use_default_exclusions: true,
        exclude_secrets: true,
        exclude: Vec::new(),
        never_enter: Vec::new(),
    };
}

impl Config {
    /// What an index is made with: two indexes of one profile differ in their files alone.
    #[must_use]
    pub fn profile(&self) -> String {
        let model = if self.use_vectors { crate::embed::MODEL_ID } else { "no vectors" };
        let chunks = if self.use_syntax { "syntax" } else { "lines" };
        format!(
            "{model}, chunks by {chunks} of {MAX_CHUNK_TOKENS} tokens, analysis {ANALYSIS_REVISION}"
        )
    }

    /// What a workspace gets when its owner says nothing.
    #[must_use]
    pub fn standard() -> Self {
        let mut settings = Settings::standard();
        // Nobody else waits for the machine where the core is called by itself; the binding keeps to the settings.
        settings.vector_db.performance_mode = PerformanceMode::Performance;
        Self {
            walk: WalkConfig::STANDARD,
            settings,
            use_syntax: true,
            use_vectors: true,
            ranking: STANDARD,
        }
    }
}
