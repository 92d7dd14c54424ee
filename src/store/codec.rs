//! How numbers, postings and chunk records look in the database's blobs.
//!
//! Everything here reads back what it wrote, and answers `None` to bytes it did not write: a damaged blob is an error,
//! never a panic.

use crate::chunk::ChunkKind;
use crate::span::{ByteRange, LineRange};

/// Appends `value` in base 128, low digits first, the high bit marking that more follow (LEB128).
pub fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads from a blob, front to back.
#[derive(Clone)]
pub struct Reader<'b>(pub &'b [u8]);

impl<'b> Reader<'b> {
    /// The next number.
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        let (&first, mut rest) = self.0.split_first()?;
        let mut value = u64::from(first & 0x7f);
        let mut byte = first;
        let mut shift = 7;
        while byte >= 0x80 {
            (byte, rest) = rest.split_first().map(|(&b, r)| (b, r))?;
            if shift > 63 {
                return None;
            }
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        self.0 = rest;
        Some(value)
    }

    /// The next number, if it fits.
    #[inline]
    pub fn varint_u32(&mut self) -> Option<u32> {
        self.varint().and_then(|n| u32::try_from(n).ok())
    }

    /// The next `n` bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Option<&'b [u8]> {
        let (head, tail) = self.0.split_at_checked(n)?;
        self.0 = tail;
        Some(head)
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// A string with its length before it.
    pub fn text(&mut self) -> Option<&'b str> {
        let n = self.varint_u32()? as usize;
        std::str::from_utf8(self.bytes(n)?).ok()
    }
}

/// Appends a string with its length before it.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    write_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// One term in one document (a chunk of a segment; for path terms, a file of a segment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// Number of the document within its segment.
    pub document: u32,
    /// Occurrences in the whole text, at least 1 unless only a symbol has the term.
    pub frequency: u8,
    /// Whether a name defined here has the term.
    pub in_symbol: bool,
    /// Whether doc comment or signature has the term.
    pub in_head: bool,
}

/// Appends `posting`, given the document before it in the list (`None` at the start).
#[inline]
pub fn write_posting(previous: Option<u32>, posting: Posting, out: &mut Vec<u8>) {
    let gap = match previous {
        Some(previous) => posting.document - previous - 1,
        None => posting.document,
    };
    let more = posting.frequency != 1;
    let flags =
        u64::from(more) << 2 | u64::from(posting.in_head) << 1 | u64::from(posting.in_symbol);
    write_varint(u64::from(gap) << 3 | flags, out);
    if more {
        out.push(posting.frequency);
    }
}

/// The postings of one term in one segment, by document.
#[derive(Clone)]
pub struct Postings<'b> {
    reader: Reader<'b>,
    next_document: u32,
}

impl<'b> Postings<'b> {
    /// Over bytes of [`write_posting`].
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { reader: Reader(bytes), next_document: 0 }
    }
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    #[inline]
    fn next(&mut self) -> Option<Posting> {
        let code = self.reader.varint()?;
        let document = self.next_document.checked_add(u32::try_from(code >> 3).ok()?)?;
        self.next_document = document.checked_add(1)?;
        let frequency = if code & 4 == 0 { 1 } else { self.reader.byte()? };
        Some(Posting { document, frequency, in_head: code & 2 != 0, in_symbol: code & 1 != 0 })
    }
}

/// What is kept of a chunk besides its text and vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkRecord {
    /// Bytes within the file's text.
    pub bytes: ByteRange,
    /// Lines of the file.
    pub lines: LineRange,
    /// What it is.
    pub kind: ChunkKind,
    /// The name of what it holds.
    pub name: Option<String>,
    /// Every name it defines.
    pub symbols: Vec<String>,
}

/// All records of one file.
#[must_use]
pub fn encode_records(records: &[ChunkRecord]) -> Vec<u8> {
    let mut out = Vec::with_capacity(records.len() * 24);
    write_varint(records.len() as u64, &mut out);
    for record in records {
        out.push(record.kind as u8);
        write_varint(u64::from(record.bytes.start), &mut out);
        write_varint(record.bytes.len() as u64, &mut out);
        write_varint(u64::from(record.lines.start), &mut out);
        write_varint(record.lines.len() as u64, &mut out);
        write_text(record.name.as_deref().unwrap_or(""), &mut out);
        // Most chunks define exactly what they are named after.
        let symbols: &[String] = match (&record.name, record.symbols.as_slice()) {
            (Some(name), [only]) if name == only => &[],
            (_, symbols) => symbols,
        };
        let is_own_name = symbols.is_empty() && !record.symbols.is_empty();
        write_varint((symbols.len() as u64) << 1 | u64::from(is_own_name), &mut out);
        for symbol in symbols {
            write_text(symbol, &mut out);
        }
    }
    out
}

/// Reads back [`encode_records`].
#[must_use]
pub fn decode_records(blob: &[u8]) -> Option<Vec<ChunkRecord>> {
    let mut reader = Reader(blob);
    let n = reader.varint_u32()? as usize;
    let mut records = Vec::with_capacity(n.min(blob.len()));
    for _ in 0..n {
        let kind = *ChunkKind::ALL.get(reader.byte()? as usize)?;
        let mut range = || {
            let start = reader.varint_u32()?;
            Some((start, start.checked_add(reader.varint_u32()?)?))
        };
        let (start, end) = range()?;
        let bytes = ByteRange { start, end };
        let (start, end) = range()?;
        let lines = LineRange { start, end };
        let name = Some(reader.text()?.to_owned()).filter(|name| !name.is_empty());
        let head = reader.varint_u32()?;
        let symbols = if head & 1 == 1 {
            vec![name.clone()?]
        } else {
            (0..head >> 1).map(|_| reader.text().map(str::to_owned)).collect::<Option<_>>()?
        };
        records.push(ChunkRecord { bytes, lines, kind, name, symbols });
    }
    reader.0.is_empty().then_some(records)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_read_back(
            list in proptest::collection::btree_map(0u32..1_000_000, (0u8..255, any::<bool>(), any::<bool>()), 0..50)
        ) {
            let list: Vec<Posting> = list
                .into_iter()
                .map(|(document, (frequency, in_symbol, in_head))| Posting { document, frequency, in_symbol, in_head })
                .collect();
            let mut bytes = Vec::new();
            let mut previous = None;
            for &posting in &list {
                write_posting(previous, posting, &mut bytes);
                previous = Some(posting.document);
            }
            prop_assert_eq!(Postings::new(&bytes).collect::<Vec<_>>(), list);
        }

        #[test]
        fn records_read_back_and_foreign_bytes_do_not_panic(
            names in proptest::collection::vec(("[a-z]{0,8}", proptest::collection::vec("[a-z]{1,8}", 0..3)), 0..5),
            noise in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            let records: Vec<ChunkRecord> = names
                .into_iter()
                .enumerate()
                .map(|(i, (name, symbols))| ChunkRecord {
                    bytes: ByteRange::new(i * 10, i * 10 + 9),
                    lines: LineRange::new(i, i + 3),
                    kind: ChunkKind::ALL[i],
                    name: Some(name).filter(|name| !name.is_empty()),
                    symbols,
                })
                .collect();
            prop_assert_eq!(decode_records(&encode_records(&records)), Some(records));
            let _ = decode_records(&noise);
            let _ = Postings::new(&noise).count();
        }
    }
}
