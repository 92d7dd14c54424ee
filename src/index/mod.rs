//! Brings the stored index up to date with the files.
//!
//! In: roots and settings. Out: a committed state of the store, and a report. [`walk`] looks at the roots or at parts of
//! them; [`sync()`] compares stats with the stored ones, reads what changed in parallel, and publishes everything in one
//! transaction a root. Unchanged files are
//! never opened. A file that cannot be read is a line of the report; `Err` means that nothing was published, and what
//! was finished stays as a checkpoint for the next run.

mod analyzer;
mod builder;
mod embedding;
mod pipeline;
mod plan;
mod progress;
pub mod provided;
mod resources;
mod sync;
mod threads;
mod walked;

pub use progress::Meter;
pub use sync::{PATIENCE, SyncReport, Tools, is_current, needs_whole, patience, root_key, sync};
pub use walked::{Look, WalkedRoot, walk, walk_root};
