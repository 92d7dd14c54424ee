//! How many model tokens is a text?
//!
//! Tokens are those of o200k_base. Counts are exact, and the first is as fast as any other: ranks and classes of
//! characters are tables that build.rs makes and the program contains. Pure; never fails.
//!
//! `piece` parts a text, `ranks` knows which pieces are tokens, `merge` counts those of the others and `cache` recalls
//! them.
//!
//! Why own code: every published counter builds its tables when it is first used. The fastest, `tiktoken` 4.1, took
//! 123 ms of CPU and 25 MB for that (measured), of the 150 ms within which an edited file is to be found again.

mod cache;
mod hash;
mod layout;
mod merge;
mod piece;
mod ranks;
#[cfg(test)]
mod tests;

/// Counts o200k tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenCounter;

impl TokenCounter {
    /// A counter. It loads nothing and holds nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }

    /// Exact number of tokens of `text`. Names of special tokens count as the ordinary text they are.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        count_to(text, usize::MAX)
    }

    /// Whether `text` has at most `limit` tokens; exact. Counts no further than it must: a token is at least one byte,
    /// and a text with too many is left where they are.
    #[must_use]
    pub fn fits(&self, text: &str, limit: usize) -> bool {
        text.len() <= limit || count_to(text, limit) <= limit
    }
}

/// The number of tokens of `text`, or, if there are more than `limit`, some number above it.
fn count_to(text: &str, limit: usize) -> usize {
    let text = text.as_bytes();
    let (mut n_tokens, mut start) = (0, 0);
    while start < text.len() && n_tokens <= limit {
        let end = piece::piece_end(text, start);
        // Merging a long piece is not needed where its bytes alone tell that it goes beyond the limit.
        let at_least = (end - start).div_ceil(ranks::MAX_TOKEN_BYTES);
        n_tokens += if n_tokens.saturating_add(at_least) > limit {
            at_least
        } else {
            merge::n_tokens(text, start, end)
        };
        start = end;
    }
    n_tokens
}
