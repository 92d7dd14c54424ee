//! From a file on disk to text that can be chunked, or the reason why not.
//!
//! In: an absolute path. Out: [`Loaded`]. Invariants: the text is valid UTF-8 without a byte-order mark or
//! NUL, line ends are LF or CR LF only (a lone CR becomes LF, which keeps every offset and line number),
//! and it is at most [`crate::config::MAX_FILE_BYTES`] long, cut at a line end. The content hash is taken
//! over the very bytes that were decoded. Only regular files are opened. A file that cannot be used is data
//! ([`Loaded::Skipped`]), not an error.

mod decode;
pub mod language;
mod language_table;
mod read;
mod recognize;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use crate::config::MAX_FILE_BYTES;
pub use language::{Language, LanguageClass};

/// A decoded file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The text.
    pub text: String,
    /// Its language, from name, extension or first line.
    pub language: Language,
    /// XXH3-128 of the bytes read.
    pub content_hash: u128,
    /// Whether a program wrote the file: such text is searched, but seldom what someone asks for.
    pub generated: bool,
    /// What a person should know about it: cut at the size limit, decoded with losses.
    pub notices: Vec<Notice>,
}

/// Something about an indexed file that a person should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Only the first [`crate::config::MAX_FILE_BYTES`] were read.
    Truncated,
    /// Some bytes could not be decoded and stand as U+FFFD.
    Lossy,
}

/// What came of reading a file.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// Text to index.
    Text(SourceFile),
    /// Not to be indexed.
    Skipped {
        /// Why, in words for a person, lower case, without a final period.
        reason: String,
        /// Whether the reason can pass without the file changing (no permission, vanished): such a file is tried
        /// again by the next run.
        transient: bool,
    },
}

/// Reads and decodes `absolute`, whose path relative to its root is `relative` (used for names and extensions).
/// An empty or blank file is `Text`; it will give no chunk.
#[must_use]
pub fn load(absolute: &Path, relative: &str) -> Loaded {
    match read::read_prefix(absolute) {
        Ok(prefix) => from_bytes(relative, &prefix.bytes, prefix.is_cut),
        Err(unread) => Loaded::Skipped { reason: unread.reason, transient: unread.transient },
    }
}

/// As [`load`], of bytes already in memory. `is_cut`: they are the start of something longer.
#[must_use]
pub fn from_bytes(relative: &str, bytes: &[u8], is_cut: bool) -> Loaded {
    let skipped = |reason: String| Loaded::Skipped { reason, transient: false };
    let content_hash = xxh3_128(bytes);
    if let Some(format) = recognize::binary_format(bytes) {
        return skipped(format!("binary file ({format})"));
    }
    let Some(decode::Decoded { text, is_lossy }) = decode::decode(bytes, is_cut) else {
        return skipped("binary file".to_owned());
    };
    let (text, is_shortened) = cut(with_usual_line_ends(text), is_cut);
    if recognize::is_lfs_pointer(&text) {
        return skipped(
            "pointer to a file in large file storage that is not downloaded".to_owned(),
        );
    }
    let language = Language::detect_with_text(relative, &text);
    let file_name = relative.rsplit('/').next().unwrap_or(relative);
    if recognize::is_source_map(file_name, &text) {
        return skipped("source map".to_owned());
    }
    if recognize::is_minified(language, &text) {
        return skipped("minified file".to_owned());
    }
    let generated = recognize::is_generated(file_name, language, &text);
    let truncated = is_shortened.then_some(Notice::Truncated);
    let lossy = is_lossy.then_some(Notice::Lossy);
    let notices = truncated.into_iter().chain(lossy).collect();
    Loaded::Text(SourceFile { text, language, content_hash, generated, notices })
}

/// A lone CR becomes LF.
fn with_usual_line_ends(text: Cow<'_, str>) -> String {
    let bytes = text.as_bytes();
    let is_lone = |&at: &usize| bytes.get(at + 1) != Some(&b'\n');
    let Some(first) = memchr::memchr_iter(b'\r', bytes).find(is_lone) else {
        return text.into_owned();
    };
    let mut usual = String::with_capacity(text.len());
    usual.push_str(&text[..first]);
    let mut start = first;
    for at in memchr::memchr_iter(b'\r', bytes).filter(is_lone).skip_while(|&at| at < first) {
        usual.push_str(&text[start..at]);
        usual.push('\n');
        start = at + 1;
    }
    usual.push_str(&text[start..]);
    usual
}

/// Cuts a text that goes on, or that decoding made longer than the limit, after its last line end; where there is
/// none, at the limit. Says whether it did.
fn cut(mut text: String, is_cut: bool) -> (String, bool) {
    if !is_cut && text.len() <= MAX_FILE_BYTES {
        return (text, false);
    }
    text.truncate(head(&text, MAX_FILE_BYTES).len());
    if let Some(line_end) = text.rfind('\n') {
        text.truncate(line_end + 1);
    }
    (text, true)
}

/// The start of a text, of at most `max_bytes`, cut between characters.
fn head(text: &str, max_bytes: usize) -> &str {
    let mut end = max_bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
