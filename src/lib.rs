//! Sextant: a local-first codebase index. Ask in your own words, get the right lines, offline.
//!
//! The rooms, in the order data flows:
//! walk -> source -> chunk -> token/term/embed (http) -> store -> watch -> index -> query -> strategy -> rank -> present,
//! with `remote` beside them for an index on a server, `engine` as the facade over them and `binding` as the only room
//! that knows Node.
//! docs/ARCHITECTURE.md says what each may assume.

pub mod config;
pub mod error;
pub mod log;
pub mod notice;
pub mod span;
pub mod task;

pub mod walk;

pub mod source;

pub mod chunk;

pub mod token;

pub mod term;

pub mod http;

pub mod embed;

pub mod store;

pub mod watch;

pub mod index;

pub mod query;

pub mod rank;

pub mod strategy;

pub mod present;

pub mod remote;

pub mod engine;

#[cfg(feature = "binding")]
mod binding;
