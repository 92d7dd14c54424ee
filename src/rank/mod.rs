//! Candidates to hits: fusion, rules that know code, one file's hits spread out, overlaps merged.
//!
//! In: candidates with their two scores and what is known of each chunk ([`Facts`]). Out: the best `limit`, best first,
//! with the parts of each score. Equal scores are ordered by root, path and line, so the order does not depend on the
//! candidates' order. Pure.
//!
//! [`decay`], [`diversity`] and [`spread`] are steps that are taken only where they are asked for; [`weights`] says how much
//! each list counts.

pub mod decay;
pub mod diversity;
mod paths;
mod rules;
mod select;
pub mod spread;
pub mod weights;

use crate::chunk::ChunkKind;
use crate::config::ranking::Constants;
use crate::config::ranking::Weights;
use crate::query::Query;
use crate::source::Language;
use crate::span::{ByteRange, LineRange};

/// What the rules know of a candidate.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Position of its file in the snapshot; the files are ordered by root and path.
    pub file: u32,
    /// Path relative to the root.
    pub path: String,
    /// Language of the file.
    pub language: Language,
    /// Whether a program wrote the file.
    pub is_generated: bool,
    /// What it is.
    pub kind: ChunkKind,
    /// Every name it defines.
    pub symbols: Vec<String>,
    /// Its bytes in the file.
    pub bytes: ByteRange,
    /// Its lines.
    pub lines: LineRange,
    /// Lexical score, 0 to 1.
    pub lexical: f32,
    /// Semantic score, 0 to 1.
    pub semantic: f32,
}

/// A hit.
#[derive(Clone, Debug)]
pub struct Ranked {
    /// Position of the candidate in the input.
    pub candidate: usize,
    /// Positions of further candidates whose lines it overlaps or repeats; their lines belong to the hit.
    pub merged: Vec<usize>,
    /// Higher is better.
    pub score: f32,
    /// The parts of the score.
    pub parts: Vec<(&'static str, f64)>,
}

/// Ranks.
#[must_use]
pub fn rank(
    query: &Query,
    candidates: &[Facts],
    weights: Weights,
    limit: usize,
    constants: &Constants,
) -> Vec<Ranked> {
    let scored = rules::score(query, candidates, weights, constants);
    select::select(candidates, &scored, limit, constants)
}
