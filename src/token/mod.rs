//! How many model tokens is a text?
//!
//! Tokens are those of o200k_base. Counts are exact. Loading the vocabulary takes a good part of a second, so it is
//! loaded once per process, when first needed, and bounds answer without it where they can.

use std::sync::OnceLock;

use tiktoken::CoreBpe;

/// Counts o200k tokens.
pub struct TokenCounter {
    /// Set by the first count, so that each further one costs no look-up.
    vocabulary: OnceLock<&'static CoreBpe>,
}

impl TokenCounter {
    /// A counter that has loaded nothing yet. Cheap; all counters share one vocabulary.
    #[must_use]
    pub fn new() -> Self {
        Self { vocabulary: OnceLock::new() }
    }

    /// Exact number of tokens of `text`. Names of special tokens count as the ordinary text they are.
    #[must_use]
    pub fn count(&self, text: &str) -> usize {
        if text.is_empty() { 0 } else { self.vocabulary().count(text) }
    }

    /// Whether `text` has at most `limit` tokens; exact, and often without counting (a token is at least one byte).
    #[must_use]
    pub fn fits(&self, text: &str, limit: usize) -> bool {
        text.len() <= limit || self.count(text) <= limit
    }

    fn vocabulary(&self) -> &'static CoreBpe {
        self.vocabulary.get_or_init(|| {
            tiktoken::get_encoding("o200k_base").expect("the feature vocab-o200k_base is on")
        })
    }
}

impl Default for TokenCounter {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tiktoken_rs::o200k_base_singleton;

    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let expected = o200k_base_singleton().encode_ordinary(text).len();
        assert_eq!(TokenCounter::new().count(text), expected, "{text:?}");
    }

    #[test]
    fn counts_equal_those_of_the_reference_tokenizer() {
        for text in [
            "",
            " ",
            "\n\n\n",
            "fn main() {\n    println!(\"hello\");\n}\n",
            "The quick brown fox doesn't jump; it'LL WALK.",
            "<|endoftext|> <|fim_prefix|>",
            "日本語のテキスト、漢字かな交じり文。",
            "naïve café — “quotes” … 😀👩‍👩‍👧‍👦 \u{200b}\u{feff}\u{0}",
            "1234567890 3.14159 0xdeadbeef 12,345",
            "}\n// comment\n}\n\n//another\n   \n  \t\n",
            "a\r\nb\r\n\r\n  c\r\n",
            "XMLHttpRequest getHTTPResponseCode SCREAMING_SNAKE kebab-case",
        ] {
            check(text);
        }
        check(&"a".repeat(3000));
        check(&" ".repeat(3000));
        check(&"ab=".repeat(1000));
        check(include_str!("mod.rs"));
        check(include_str!("../chunk/mod.rs"));
    }

    #[test]
    fn fits_is_exact_at_the_limit() {
        let counter = TokenCounter::new();
        let text = "let x = compute(y);\n".repeat(40);
        let n = counter.count(&text);
        assert!(counter.fits(&text, n) && !counter.fits(&text, n - 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn counts_equal_on_arbitrary_text(text in "(?s)[a-zA-Z0-9 \\n\\r\\t/{}();'._=<>äß漢字😀\u{2028}\u{85}-]{0,300}|.{0,200}") {
            check(&text);
        }
    }
}
