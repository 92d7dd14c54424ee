//! What the benchmarks share: the questions, the measure, and an index of each repository.

pub mod ndcg;
pub mod questions;
pub mod workspace;
