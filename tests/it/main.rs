//! The engine seen from outside: what it answers, what it survives, what it leaves behind.
//!
//! Every test builds its own tree and storage in a temporary folder. No sleeps as synchronisation, no network, no Node.
#![allow(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod answers;
mod bad_input;
mod cascade;
mod child;
mod code;
mod concurrent;
mod control;
mod damage;
mod declared;
mod embeddings;
mod filters;
mod incremental;
mod interrupt;
mod opens;
mod provided;
mod provider;
mod provider_engine;
mod ranking;
mod remote;
mod rewriting;
mod settings;
mod support;
mod threads;
mod tidy;
mod unchanged;
mod watching;
