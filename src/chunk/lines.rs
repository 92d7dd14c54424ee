//! The lines of one text and what they cost in tokens.
//!
//! Tokens are counted once per line. A token hardly ever crosses a line border: only where the second line is blank or
//! starts with `/`, since o200k joins line ends with white space and with the slashes after them. So the sum over lines,
//! give or take one token per such border, bounds the exact count, and a text is counted as a whole only where that
//! margin leaves the answer open.

use std::ops::Range;

use crate::config::{MAX_CHUNK_LINES, MAX_CHUNK_TOKENS};
use crate::span::{ByteRange, LineIndex, LineRange};
use crate::token::TokenCounter;

/// A longer line is cut whatever it costs: counting a piece without word borders takes more than linear time.
const LONG_LINE_BYTES: usize = 4096;

/// Lines of a text, blank ones marked, with running token sums.
pub(super) struct Lines<'t> {
    text: &'t str,
    index: LineIndex,
    counter: &'t TokenCounter,
    /// Per line border: tokens of all lines before it, each counted alone.
    tokens: Vec<u32>,
    /// Per line border: number of lines before it whose start may lie inside a token.
    joins: Vec<u32>,
    /// Per line border: number of non-blank lines before it.
    filled: Vec<u32>,
}

impl<'t> Lines<'t> {
    /// Counts every line of `text`.
    pub(super) fn new(text: &'t str, counter: &'t TokenCounter) -> Self {
        let index = LineIndex::new(text);
        let n_lines = index.n_lines();
        let mut lines = Self {
            text,
            index,
            counter,
            tokens: Vec::with_capacity(n_lines + 1),
            joins: Vec::with_capacity(n_lines + 1),
            filled: Vec::with_capacity(n_lines + 1),
        };
        let (mut tokens, mut joins, mut filled) = (0u32, 0u32, 0u32);
        let whole_fits = text.len() <= MAX_CHUNK_TOKENS;
        for line in 0..=n_lines {
            lines.tokens.push(tokens);
            lines.joins.push(joins);
            lines.filled.push(filled);
            if line == n_lines {
                break;
            }
            let content = lines.line(line);
            let is_blank = content.trim().is_empty();
            filled += u32::from(!is_blank);
            joins += u32::from(is_blank || content.starts_with('/'));
            tokens = tokens.saturating_add(if whole_fits {
                0
            } else if content.len() > LONG_LINE_BYTES {
                MAX_CHUNK_TOKENS as u32 + 1
            } else if content == "\n" {
                1
            } else {
                counter.count(content) as u32
            });
        }
        lines
    }

    /// The text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Number of lines.
    pub(super) fn n_lines(&self) -> usize {
        self.index.n_lines()
    }

    /// Line `line` with its line end.
    pub(super) fn line(&self, line: usize) -> &'t str {
        &self.text[self.index.line(line).as_range()]
    }

    /// The line that holds byte `offset`.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.index.line_of(offset)
    }

    /// Bytes of `lines`.
    pub(super) fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        self.index.lines(lines.start, lines.end).as_range()
    }

    /// The text of `lines`.
    pub(super) fn slice(&self, lines: &Range<usize>) -> &'t str {
        &self.text[self.bytes(lines)]
    }

    /// The whole lines that the non-blank part of `bytes` touches.
    pub(super) fn touched(&self, bytes: Range<usize>) -> Range<usize> {
        let end = bytes.start + self.text[bytes.clone()].trim_end().len();
        let start = self.line_of(bytes.start);
        start..(self.line_of(end.saturating_sub(1).max(bytes.start)) + 1)
    }

    /// Whether line `line` holds white space only.
    pub(super) fn is_blank(&self, line: usize) -> bool {
        self.filled[line] == self.filled[line + 1]
    }

    /// Number of non-blank lines in `lines`.
    pub(super) fn n_filled(&self, lines: &Range<usize>) -> usize {
        (self.filled[lines.end] - self.filled[lines.start]) as usize
    }

    /// `lines` without blank lines at either end.
    pub(super) fn trimmed(&self, lines: &Range<usize>) -> Range<usize> {
        let (mut start, mut end) = (lines.start, lines.end);
        while start < end && self.is_blank(start) {
            start += 1;
        }
        while start < end && self.is_blank(end - 1) {
            end -= 1;
        }
        start..end
    }

    /// About how many tokens `lines` have.
    pub(super) fn cost(&self, lines: &Range<usize>) -> usize {
        (self.tokens[lines.end] - self.tokens[lines.start]) as usize
    }

    /// Whether `lines`, without blank lines at either end, are at most [`MAX_CHUNK_LINES`] and at most
    /// [`MAX_CHUNK_TOKENS`] tokens. Exact.
    pub(super) fn fit(&self, lines: &Range<usize>) -> bool {
        let lines = self.trimmed(lines);
        if lines.len() > MAX_CHUNK_LINES {
            return false;
        }
        if self.bytes(&lines).len() <= MAX_CHUNK_TOKENS {
            return true;
        }
        let sum = self.cost(&lines);
        let margin = (self.joins[lines.end] - self.joins[lines.start]) as usize;
        if sum + margin <= MAX_CHUNK_TOKENS {
            return true;
        }
        sum <= MAX_CHUNK_TOKENS + 3 * margin
            && self.bytes(&lines).len() <= 16 * LONG_LINE_BYTES
            && self.counter.count(self.slice(&lines)) <= MAX_CHUNK_TOKENS
    }

    /// Leading white space of line `line`, a tab being four columns.
    pub(super) fn indent(&self, line: usize) -> usize {
        let mut columns = 0;
        for byte in self.line(line).bytes() {
            match byte {
                b' ' => columns += 1,
                b'\t' => columns += 4,
                _ => break,
            }
        }
        columns
    }

    /// How good a place the border before line `line` is for a cut, judged by its looks alone: 0..=9.
    pub(super) fn looks(&self, line: usize) -> u8 {
        let content = self.line(line).trim_start();
        if line == 0 || self.is_blank(line) {
            return 0;
        }
        if content.starts_with(['}', ')', ']', '>'])
            || content.starts_with("</")
            || content.starts_with("end")
            || content.starts_with("else")
        {
            return 0;
        }
        let after_blank = self.is_blank(line - 1);
        let shallow = 4u8.saturating_sub((self.indent(line) / 2).min(4) as u8);
        shallow + if after_blank { 5 } else { 0 }
    }

    /// Cuts one over-long line into pieces of at most [`MAX_CHUNK_TOKENS`] tokens, at character borders. Of a line that
    /// is one unbroken run of base64 letters only the first piece is kept: nobody searches the rest.
    pub(super) fn pieces(&self, line: usize) -> Vec<ByteRange> {
        let bytes = self.index.line(line).as_range();
        let end = bytes.start + self.text[bytes.clone()].trim_end().len();
        let mut start = end - self.text[bytes.start..end].trim_start().len();
        let mut pieces = Vec::new();
        while start < end {
            let cut = self.piece_end(start, end);
            if !self.text[start..cut].trim().is_empty() {
                pieces.push(ByteRange::new(start, cut));
            }
            if end - cut > 1000 && is_base64(&self.text[cut..end]) {
                break;
            }
            start = cut;
        }
        pieces
    }

    /// Where a piece from `start` ends: as near to the limit as two or three counts can tell.
    fn piece_end(&self, start: usize, end: usize) -> usize {
        let border = |at: usize| {
            let mut at = at.min(end);
            while !self.text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let mut size = 4 * MAX_CHUNK_TOKENS;
        loop {
            let cut = border(start + size);
            let cut = if cut <= start { start + self.char_len(start) } else { cut };
            let piece = &self.text[start..cut];
            if self.counter.fits(piece, MAX_CHUNK_TOKENS) {
                return cut;
            }
            let tokens = self.counter.count(piece).max(1);
            size = (piece.len() * MAX_CHUNK_TOKENS / tokens).min(piece.len() - 1);
            size -= size / 16;
        }
    }

    fn char_len(&self, at: usize) -> usize {
        self.text[at..].chars().next().map_or(1, char::len_utf8)
    }

    /// As a [`LineRange`].
    pub(super) fn range(lines: &Range<usize>) -> LineRange {
        LineRange::new(lines.start, lines.end)
    }
}

/// Whether `text` starts with a kilobyte of base64 letters, digits among them.
fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let head = &bytes[..bytes.len().min(1000)];
    head.iter().all(is_letter) && head.iter().any(u8::is_ascii_digit)
}
