//! Ranges inside a text.
//!
//! Offsets are UTF-8 bytes and lines are 0-based everywhere inside the core; `present` turns lines
//! into 1-based ones, `binding` alone knows UTF-16.

use std::ops::Range;

/// Half-open range of UTF-8 byte offsets into one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct ByteRange {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl ByteRange {
    /// A range from `start` up to, not including, `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start: to_u32(start), end: to_u32(end) }
    }

    /// The same range for slicing.
    #[must_use]
    pub fn as_range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the range holds no byte.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Half-open range of 0-based line numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct LineRange {
    /// First line.
    pub start: u32,
    /// One past the last line.
    pub end: u32,
}

impl LineRange {
    /// A range from line `start` up to, not including, line `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start: to_u32(start), end: to_u32(end) }
    }

    /// Number of lines.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether the range holds no line.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether the two ranges share a line.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// Texts are cut to [`crate::config::MAX_FILE_BYTES`] long before this could fail.
fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("texts are far shorter than 4 GiB")
}

/// Byte offsets of line starts. Line ends are LF, CR LF and lone CR; nothing else ends a line.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    text_bytes: u32,
}

impl LineIndex {
    /// Indexes `text`. A line end at the very end of the text opens no further line.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        if !bytes.is_empty() {
            starts.push(0);
        }
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let is_first_of_crlf = bytes[at] == b'\r' && bytes.get(at + 1) == Some(&b'\n');
            if !is_first_of_crlf && at + 1 < bytes.len() {
                starts.push(to_u32(at + 1));
            }
        }
        Self { starts, text_bytes: to_u32(bytes.len()) }
    }

    /// Number of lines; 0 for an empty text.
    #[must_use]
    pub fn n_lines(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of line `line`, with its line end.
    #[must_use]
    pub fn line(&self, line: usize) -> ByteRange {
        self.lines(line, line + 1)
    }

    /// Bytes of the lines `start..end`, with their line ends.
    #[must_use]
    pub fn lines(&self, start: usize, end: usize) -> ByteRange {
        let at = |line: usize| self.starts.get(line).copied().unwrap_or(self.text_bytes);
        ByteRange { start: at(start), end: at(end) }
    }

    /// The 0-based line that holds byte `offset`.
    #[must_use]
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= offset).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[&str]) {
        let index = LineIndex::new(text);
        let found: Vec<&str> =
            (0..index.n_lines()).map(|line| &text[index.line(line).as_range()]).collect();
        assert_eq!(found, lines);
        for (offset, _) in text.char_indices() {
            assert!(index.line(index.line_of(offset)).as_range().contains(&offset));
        }
    }

    #[test]
    fn lf_crlf_and_cr_end_lines_and_nothing_else_does() {
        check("", &[]);
        check("\n", &["\n"]);
        check("a", &["a"]);
        check("a\nb\r\nc\rd", &["a\n", "b\r\n", "c\r", "d"]);
        check("a\r\n\r\n", &["a\r\n", "\r\n"]);
        check("a\u{b}\u{c}\u{85}\u{2028}b\n", &["a\u{b}\u{c}\u{85}\u{2028}b\n"]);
    }
}
