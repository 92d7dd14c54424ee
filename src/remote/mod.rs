//! What does an index on a server find, and what has changed here since?
//!
//! In: a question, the folders of the workspace, an index on a server ([`RemoteIndex`]), the files of the local index and a
//! way to search some of them ([`LocalSearch`]). Out: one list of hits ([`Outcome`]): the server's in files that are as
//! it has indexed them, ours in the others. Paths are relative to their folder; lines are 0-based, half-open.
//!
//! - A file that differs from the indexed commit is never answered from the server, unless the local part failed, and
//!   then a warning says so.
//! - Nothing of an answer is believed before it is checked: repository, path, file, lines.
//! - The question leaves the machine only after all gates are passed; the text of files never does.
//! - Every wait ends at its limit ([`limits`]) and soon after the token is cancelled. Calls of a server that hang are left
//!   behind on their threads.
//!
//! It knows no server: an adapter is one implementation of a trait. It reads no files; what changed is asked of git
//! ([`diff()`]). **Fails** with [`GateReason`], which says in a stable name what stood in the way.

mod call;
mod diff;
mod error;
mod gate;
mod git;
pub mod limits;
mod local;
pub mod merge;
mod ready;
mod resolve;
mod search;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use call::child;
pub use diff::{Diff, DiffError, diff};
pub use error::RemoteError;
pub use gate::{Gate, GateReason, LeftOut};
pub use limits::RemoteLimits;
pub use local::{LocalError, LocalHit, LocalPart, LocalSearch};
pub use merge::{Found, MergedHit, Rejected};
pub use resolve::resolve;
pub use search::{Outcome, Question, Report, search};
pub use types::{
    FileRef, Folder, IndexedFiles, MAX_QUERY_BYTES, RemoteAnswer, RemoteHit, RemoteIndex,
    RemoteQuery, RemoteStatus, Repository, Resolution, Warning,
};
