//! Candidates to hits.

pub mod constants;
