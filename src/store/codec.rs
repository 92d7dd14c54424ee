//! How numbers, postings and chunk records look in the database's blobs.
//!
//! Everything here reads back what it wrote, and answers `None` to bytes it did not write: a damaged blob is an error,
//! never a panic.

use xxhash_rust::xxh3::xxh3_64;

use crate::chunk::ChunkKind;
use crate::span::{ByteRange, LineRange};

/// Bytes of a seal.
const SEAL_BYTES: usize = 4;

/// Appends a checksum, so that damage to a blob is seen when it is read.
#[must_use]
pub fn seal(mut blob: Vec<u8>) -> Vec<u8> {
    let checksum = xxh3_64(&blob) as u32;
    blob.extend_from_slice(&checksum.to_le_bytes());
    blob
}

/// The blob within its seal; `None` if it is not what was sealed.
#[must_use]
pub fn unseal(sealed: &[u8]) -> Option<&[u8]> {
    let (blob, checksum) = sealed.split_at_checked(sealed.len().checked_sub(SEAL_BYTES)?)?;
    (checksum == (xxh3_64(blob) as u32).to_le_bytes()).then_some(blob)
}

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

/// All records of one file. Names are coded by what they share with the name before: names of one file are alike.
#[must_use]
pub fn encode_records(records: &[ChunkRecord]) -> Vec<u8> {
    let mut out = Vec::with_capacity(records.len() * 24);
    let mut names = FrontCoder::default();
    let (mut byte, mut line) = (0, 0);
    write_varint(records.len() as u64, &mut out);
    for record in records {
        // Chunks are in order, but may overlap the one before.
        out.push(record.kind as u8);
        write_varint(zigzag(record.bytes.start, byte), &mut out);
        write_varint(record.bytes.len() as u64, &mut out);
        write_varint(zigzag(record.lines.start, line), &mut out);
        write_varint(record.lines.len() as u64, &mut out);
        (byte, line) = (record.bytes.end, record.lines.end);
        write_varint(record.symbols.len() as u64, &mut out);
        for symbol in &record.symbols {
            names.write(symbol, &mut out);
        }
        // Most chunks are named after a symbol of theirs: 0 is no name, 1 a name of its own, the rest is a symbol.
        let own = record.name.as_ref().map(|name| record.symbols.iter().position(|s| s == name));
        write_varint(own.map_or(0, |at| at.map_or(1, |at| at as u64 + 2)), &mut out);
        if let (Some(name), Some(None)) = (&record.name, own) {
            names.write(name, &mut out);
        }
    }
    out
}

/// Reads back [`encode_records`].
#[must_use]
pub fn decode_records(blob: &[u8]) -> Option<Vec<ChunkRecord>> {
    decode(blob, |_| true)
}

/// Reads the records with these ascending numbers.
#[must_use]
pub fn decode_some(blob: &[u8], numbers: &[u32]) -> Option<Vec<ChunkRecord>> {
    let mut wanted = numbers.iter().peekable();
    let records = decode(blob, |number| wanted.next_if_eq(&&number).is_some())?;
    (records.len() == numbers.len()).then_some(records)
}

fn decode(blob: &[u8], mut is_wanted: impl FnMut(u32) -> bool) -> Option<Vec<ChunkRecord>> {
    let mut reader = Reader(blob);
    let n = reader.varint_u32()?;
    let mut records = Vec::new();
    let mut names = FrontCoder::default();
    let (mut byte, mut line) = (0, 0);
    for number in 0..n {
        let is_wanted = is_wanted(number);
        let kind = *ChunkKind::ALL.get(reader.byte()? as usize)?;
        let mut range = |base: u32| {
            let start = unzigzag(reader.varint()?, base)?;
            Some((start, start.checked_add(reader.varint_u32()?)?))
        };
        let (start, end) = range(byte)?;
        let bytes = ByteRange { start, end };
        let (start, end) = range(line)?;
        let lines = LineRange { start, end };
        (byte, line) = (bytes.end, lines.end);
        let mut symbols = Vec::new();
        for _ in 0..reader.varint_u32()? {
            let symbol = names.read(&mut reader)?;
            if is_wanted {
                symbols.push(std::str::from_utf8(symbol).ok()?.to_owned());
            }
        }
        let name = match reader.varint_u32()? {
            0 => None,
            1 => Some(std::str::from_utf8(names.read(&mut reader)?).ok()?.to_owned()),
            at if is_wanted => Some(symbols.get(at as usize - 2)?.clone()),
            _ => None,
        };
        if is_wanted {
            records.push(ChunkRecord { bytes, lines, kind, name, symbols });
        }
    }
    reader.0.is_empty().then_some(records)
}

/// Difference of two numbers as an unsigned one: small differences of either sign are small.
fn zigzag(value: u32, base: u32) -> u64 {
    let difference = i64::from(value) - i64::from(base);
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn unzigzag(coded: u64, base: u32) -> Option<u32> {
    let difference = (coded >> 1) as i64 ^ -((coded & 1) as i64);
    u32::try_from(i64::from(base).checked_add(difference)?).ok()
}

/// Codes each string as the length of the prefix that it shares with the one before, and the rest.
#[derive(Default)]
struct FrontCoder(Vec<u8>);

impl FrontCoder {
    fn write(&mut self, text: &str, out: &mut Vec<u8>) {
        let shared = self.0.iter().zip(text.as_bytes()).take_while(|(a, b)| a == b).count();
        write_varint(shared as u64, out);
        write_varint((text.len() - shared) as u64, out);
        out.extend_from_slice(&text.as_bytes()[shared..]);
        self.0.clear();
        self.0.extend_from_slice(text.as_bytes());
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Option<&[u8]> {
        let shared = reader.varint_u32()? as usize;
        let n_rest = reader.varint_u32()? as usize;
        let rest = reader.bytes(n_rest)?;
        if shared > self.0.len() {
            return None;
        }
        self.0.truncate(shared);
        self.0.extend_from_slice(rest);
        Some(&self.0)
    }
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
            let blob = encode_records(&records);
            let last = records.len().checked_sub(1);
            let some = last.map(|last| decode_some(&blob, &[last as u32]));
            prop_assert_eq!(some, last.map(|last| Some(vec![records[last].clone()])));
            prop_assert_eq!(decode_records(&blob), Some(records));
            let _ = decode_records(&noise);
            let _ = Postings::new(&noise).count();
        }
    }
}
