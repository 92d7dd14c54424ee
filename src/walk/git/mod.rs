//! What does git know about a folder?
//!
//! In: a folder. Out: the repository it belongs to, its settings that bear on ignore rules, and its tracked
//! paths. Reads git's own files; runs no git. Whatever is missing, unreadable or damaged counts as absent.

mod config;
mod fingerprint;
mod index;
mod repository;

pub use config::GitEnvironment;
pub(super) use fingerprint::{excludes_file_outside, feed, feed_content, feed_outside};
pub(super) use repository::{Repository, contains_bare_repository, outside};
