//! How much of the machine may a run take?
//!
//! In: the settings. Out: numbers of threads, bytes, files and seconds. Pure, but for asking how many cores there are.

use std::time::Duration;

use crate::config::{Config, PerformanceMode};
use crate::store::EmbeddingCache;

/// Memory for segments in the making, over all threads. Unmeasured.
const SEGMENT_BYTES: usize = 160 << 20;
/// The same where memory is short. Unmeasured.
const SEGMENT_BYTES_IN_MEMORY_MODE: usize = SEGMENT_BYTES / 4;

/// A thread finishes its segment when it has worked on it for so long: what a killed process loses is at most this much
/// of each thread's work. Unmeasured; large enough that a run of minutes leaves few segments to merge.
const SEGMENT_AGE: Duration = Duration::from_secs(15);

/// Files that a thread takes at once: neighbours, because files of one folder share terms. Unmeasured.
const BATCH_FILES: usize = 16;
/// The same where memory is short, so that a segment that is full is noticed soon. Unmeasured.
const BATCH_FILES_IN_MEMORY_MODE: usize = 4;

/// Output that a thread holds back while another one writes, instead of waiting for it. Unmeasured.
const PENDING_BYTES: usize = 4 << 20;

/// Runs of at most so many files, such as a saved file or a quick search brings, work on the calling thread at its own
/// priority: somebody waits for them, and they are over before threads would pay. Unmeasured.
const SMALL_RUN_FILES: usize = 64;

/// The first run over a root of at most so many files has threads of the priority of its caller, and two where the machine has
/// two cores: somebody has just opened it and can ask nothing yet. Beside an editor that starts, threads of low priority get
/// little.
const FIRST_RUN_FILES: usize = 2000;
const FIRST_RUN_WORKERS: usize = 2;

/// How to work.
pub struct Resources<'a> {
    /// Threads that index, the calling one among them if it does.
    pub n_workers: usize,
    /// Runs of at most so many files work on the calling thread.
    pub small_run_files: usize,
    /// The first run over at most so many files has `n_workers` threads of the priority of its caller.
    pub first_run_files: usize,
    /// Threads of such a run, those beyond `n_workers` of low priority.
    pub n_first_run_workers: usize,
    /// Files that a thread takes at once.
    pub batch_files: usize,
    /// A thread finishes its segment at about this many bytes of memory.
    pub segment_bytes: usize,
    /// A thread finishes its segment at about this age.
    pub segment_age: Duration,
    /// Bytes of output that a thread may hold back while another one writes.
    pub pending_bytes: usize,
    /// As in [`Config`].
    pub use_syntax: bool,
    /// As in [`Config`].
    pub use_vectors: bool,
    /// What the vectors are made with.
    pub profile: String,
    /// Where vectors are looked up before they are made.
    pub cache: Option<&'a EmbeddingCache>,
}

/// What `config` allows on this machine, with `cache`.
pub fn resources<'a>(config: &Config, cache: Option<&'a EmbeddingCache>) -> Resources<'a> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let is_short = config.settings.vector_db.performance_mode == PerformanceMode::Memory;
    let n_workers = match config.settings.vector_db.performance_mode {
        PerformanceMode::Performance => cores,
        PerformanceMode::Balanced => cores.div_ceil(2),
        PerformanceMode::Memory => 1,
    };
    let total = if is_short { SEGMENT_BYTES_IN_MEMORY_MODE } else { SEGMENT_BYTES };
    Resources {
        n_workers,
        small_run_files: SMALL_RUN_FILES,
        first_run_files: if is_short { 0 } else { FIRST_RUN_FILES },
        n_first_run_workers: n_workers.max(FIRST_RUN_WORKERS.min(cores)),
        batch_files: if is_short { BATCH_FILES_IN_MEMORY_MODE } else { BATCH_FILES },
        segment_bytes: total / n_workers,
        segment_age: SEGMENT_AGE,
        pending_bytes: if is_short { 0 } else { PENDING_BYTES },
        use_syntax: config.use_syntax,
        use_vectors: config.use_vectors,
        profile: config.profile(),
        cache: cache.filter(|_| config.use_vectors),
    }
}
