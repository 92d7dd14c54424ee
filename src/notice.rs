//! What made an answer less than it could be, before the facade passes it on.
//!
//! A notice is data, not an error: the work went on. Codes are rows of docs/errors.md, under `degraded`.

/// Something that a caller should know about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Stable code.
    pub code: &'static str,
    /// For a person.
    pub message: String,
}
