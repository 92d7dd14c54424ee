//! The snapshot in SQLite.
//!
//! One database a storage folder, one writer at a time (a lock file that dies with its process), any number of readers.
//! It holds for each root the files, and for the files' chunks immutable *segments*: text, vectors, an inverted index.
//! A run writes its segments as *staged*, in many small transactions, and makes them *live* in one at its end, together
//! with everything it removes: readers see the old complete index or the new one. Staged segments that an interrupted
//! run left are taken up by the next. Segments belong to one root each, so a workspace is any set of roots.
//!
//! A chunk of a live segment without a live file is dead; it stays until a merge drops it, and nothing that is computed
//! from an index depends on whether that has happened.
//!
//! Fails with [`StoreError`]; SQLite's own words stay out of its messages.

mod cache;
pub mod codec;
mod columns;
mod control;
mod database;
pub mod dictionary;
mod error;
mod files;
mod lock;
mod merge;
mod publish;
mod reads;
mod schema;
mod segment;
mod snapshot;
pub(crate) mod text;
mod vectors;
mod writer;

pub use cache::EmbeddingCache;
pub use columns::Columns;
pub(crate) use columns::{add_fixed_point, mean_vector};
pub use control::{Control, Controls};
pub use database::{Database, DatabaseIdentity};
pub use error::{Result, StoreError};
pub use files::FileRow;
pub use lock::WriteLock;
pub use publish::Changes;
pub use segment::{FileMeta, PART_CHUNKS, STARTS_VECTOR, SegmentId, SegmentSummary, StagedFile};
pub use snapshot::{RootId, SegmentRow, SkipRow, Snapshot};
pub use vectors::{VectorKey, VectorStore, vector_key};
pub use writer::{StagedRow, Writer};
