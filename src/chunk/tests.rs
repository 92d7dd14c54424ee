//! Tests of the room: rules, languages, properties, hostile inputs.

mod languages;
mod properties;
mod rules;

use super::{Chunk, chunk_named};
use crate::config::{MAX_CHUNK_LINES, MAX_CHUNK_TOKENS};
use crate::span::LineIndex;
use crate::token::TokenCounter;

/// Chunks `text`, checks what must hold for any input, and returns the chunks.
#[track_caller]
fn chunks(path: &str, language: &str, text: &str) -> Vec<Chunk> {
    let counter = TokenCounter::new();
    let chunks = chunk_named(path, language, text, &counter);
    let index = LineIndex::new(text);
    let mut is_covered = vec![false; index.n_lines()];
    let mut last_start = 0;
    for chunk in &chunks {
        let bytes = chunk.bytes.as_range();
        let content = &text[bytes.clone()];
        assert!(!content.trim().is_empty(), "blank chunk {chunk:?}");
        assert!(chunk.bytes.start >= last_start, "out of order: {chunk:?}");
        last_start = chunk.bytes.start;
        let tokens = counter.count(content);
        assert!(tokens <= MAX_CHUNK_TOKENS, "{tokens} tokens: {chunk:?}");
        assert!(chunk.lines.len() <= MAX_CHUNK_LINES, "too long: {chunk:?}");
        assert_eq!(index.line_of(bytes.start), chunk.lines.start as usize, "{chunk:?}");
        assert_eq!(index.line_of(bytes.end - 1), chunk.lines.end as usize - 1, "{chunk:?}");
        if chunk.lines.len() > 1 {
            let whole = index.lines(chunk.lines.start as usize, chunk.lines.end as usize);
            assert_eq!(whole, chunk.bytes, "not whole lines: {chunk:?}");
        }
        let head = chunk.head.as_range();
        let _ = &text[head.clone()];
        assert!(head.is_empty() || (bytes.start <= head.start && head.end <= bytes.end));
        for line in chunk.lines.start..chunk.lines.end {
            is_covered[line as usize] = true;
        }
    }
    for (line, covered) in is_covered.iter().enumerate() {
        let content = &text[index.line(line).as_range()];
        assert!(*covered || content.trim().is_empty(), "line {line} is lost: {content:?}");
    }
    chunks
}

/// One line per chunk: `first-last kind name [symbols]`, lines 1-based and inclusive.
fn render(chunks: &[Chunk]) -> String {
    chunks
        .iter()
        .map(|chunk| {
            let name = chunk.name.as_deref().unwrap_or("-");
            let symbols = chunk.symbols.join(" ");
            let (first, last) = (chunk.lines.start + 1, chunk.lines.end);
            format!("{first}-{last} {} {name} [{symbols}]\n", chunk.kind.name())
        })
        .collect()
}

#[track_caller]
fn check(path: &str, language: &str, text: &str, expected: &str) {
    let found = render(&chunks(path, language, text));
    let expected: String =
        expected.trim().lines().map(|line| format!("{}\n", line.trim())).collect();
    assert_eq!(found, expected, "\nfound:\n{found}");
}
