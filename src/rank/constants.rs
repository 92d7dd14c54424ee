//! Every constant of the ranking, each with the measurement that chose it.

/// Share of the semantic list in hybrid search.
pub const VECTOR_WEIGHT: f32 = 0.5;
