//! A key, which is used and never shown.

use std::fmt;

/// What stands in the place of a key.
const REDACTED: &str = "***";
/// Shorter keys are not looked for in texts: they would take ordinary words with them.
const MIN_SCRUBBED_BYTES: usize = 6;

/// A key or a password. `Debug` does not show it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key. White space around it, which comes with pasting, is dropped.
    #[must_use]
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// The key itself, for the header that carries it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `text` without the key, which a server may have repeated, whole or but for its middle.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        if self.0.len() < MIN_SCRUBBED_BYTES {
            return text.to_owned();
        }
        let text = text.replace(&self.0, REDACTED);
        scrub_masked(&self.0, &text)
    }
}

/// Replaces words that begin and end as the key does and have stars or dots between, as some servers show keys.
fn scrub_masked(key: &str, text: &str) -> String {
    let head: String = key.chars().take(4).collect();
    let is_masked = |word: &str| {
        word.starts_with(&head) && (word.contains("**") || word.contains("..")) && word != head
    };
    if !text.split_whitespace().any(|word| is_masked(word.trim_matches(['"', '\'', '(']))) {
        return text.to_owned();
    }
    let scrubbed = text.split(' ').map(|word| {
        let bare = word.trim_start_matches(['"', '\'', '(']);
        if is_masked(bare) { REDACTED } else { word }
    });
    scrubbed.collect::<Vec<_>>().join(" ")
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_empty() { "Secret(empty)" } else { "Secret(***)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Secret::new(" sk-abcdef123456\n");
        assert_eq!(key.expose(), "sk-abcdef123456");
        assert_eq!(format!("{key:?}"), "Secret(***)");
        assert_eq!(key.scrub("bad key sk-abcdef123456, sorry"), "bad key ***, sorry");
        assert_eq!(
            key.scrub("Incorrect API key provided: sk-a*******3456. See"),
            "Incorrect API key provided: *** See"
        );
        assert_eq!(Secret::new("ab").scrub("a cab"), "a cab");
    }
}
