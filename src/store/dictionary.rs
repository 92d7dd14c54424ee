//! The term dictionary of a segment: sorted terms with their postings, in blocks of a few kilobytes.
//!
//! A block is a row of the `postings` table; an entry in it is `shared prefix length, rest of the term, document
//! frequency, postings`. The directory, one blob a segment, holds the first term of every block. Terms of paths carry
//! [`PATH_PREFIX`] and their documents are files instead of chunks.

use super::codec::{Reader, write_varint};

/// First byte of a path term. No text term begins with it.
pub const PATH_PREFIX: u8 = 1;

/// A block is closed once it is this long. A look-up reads half a block on average; larger blocks waste less of their
/// last page: 24 KiB instead of 6 KiB made the database of rails 9% smaller.
const BLOCK_BYTES: usize = 24 * 1024;

/// Writes the dictionary of one segment, term by term in byte order.
#[derive(Default)]
pub struct DictionaryWriter {
    /// Closed blocks, in order.
    pub blocks: Vec<Vec<u8>>,
    directory: Vec<u8>,
    block: Vec<u8>,
    last_term: Vec<u8>,
}

impl DictionaryWriter {
    /// Adds a term; `term` must be greater than the one before.
    pub fn add(&mut self, term: &[u8], document_frequency: u32, postings: &[u8]) {
        if self.block.len() >= BLOCK_BYTES {
            self.close_block();
        }
        let shared = if self.block.is_empty() {
            write_varint(term.len() as u64, &mut self.directory);
            self.directory.extend_from_slice(term);
            0
        } else {
            self.last_term.iter().zip(term).take_while(|(a, b)| a == b).count()
        };
        write_varint(shared as u64, &mut self.block);
        write_varint((term.len() - shared) as u64, &mut self.block);
        self.block.extend_from_slice(&term[shared..]);
        write_varint(u64::from(document_frequency), &mut self.block);
        write_varint(postings.len() as u64, &mut self.block);
        self.block.extend_from_slice(postings);
        self.last_term.clear();
        self.last_term.extend_from_slice(term);
    }

    fn close_block(&mut self) {
        if !self.block.is_empty() {
            self.blocks.push(std::mem::take(&mut self.block));
        }
    }

    /// The blocks and the directory.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Vec<u8>>, Vec<u8>) {
        self.close_block();
        (self.blocks, self.directory)
    }
}

/// The first terms of a segment's blocks.
pub struct Directory(Vec<Box<[u8]>>);

impl Directory {
    /// Reads the blob of [`DictionaryWriter::finish`].
    #[must_use]
    pub fn decode(blob: &[u8]) -> Option<Self> {
        let mut reader = Reader(blob);
        let mut first_terms = Vec::new();
        while !reader.0.is_empty() {
            let n = reader.varint_u32()? as usize;
            first_terms.push(reader.bytes(n)?.into());
        }
        Some(Self(first_terms))
    }

    /// Number of blocks.
    #[must_use]
    pub fn n_blocks(&self) -> usize {
        self.0.len()
    }

    /// The block that would hold `term`.
    #[must_use]
    pub fn block_of(&self, term: &[u8]) -> Option<usize> {
        self.0.partition_point(|first| first.as_ref() <= term).checked_sub(1)
    }
}

/// One entry of a block.
pub struct Entry<'b> {
    /// Number of documents with the term.
    pub document_frequency: u32,
    /// Bytes for [`super::codec::Postings`].
    pub postings: &'b [u8],
}

/// The entries of a block, in order.
pub struct Entries<'b> {
    reader: Reader<'b>,
    /// The term of the entry that was read last.
    pub term: Vec<u8>,
}

impl<'b> Entries<'b> {
    /// Over the bytes of a block.
    #[must_use]
    pub fn new(block: &'b [u8]) -> Self {
        Self { reader: Reader(block), term: Vec::new() }
    }

    /// The next entry; `Ok(None)` at the end, `Err` for bytes that are no block.
    #[expect(clippy::should_implement_trait, clippy::result_unit_err, reason = "it lends its term")]
    pub fn next(&mut self) -> Result<Option<Entry<'b>>, ()> {
        if self.reader.0.is_empty() {
            return Ok(None);
        }
        self.read().map(Some).ok_or(())
    }

    fn read(&mut self) -> Option<Entry<'b>> {
        let shared = self.reader.varint_u32()? as usize;
        let n_rest = self.reader.varint_u32()? as usize;
        let rest = self.reader.bytes(n_rest)?;
        if shared > self.term.len() {
            return None;
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(rest);
        let document_frequency = self.reader.varint_u32()?;
        let n_postings = self.reader.varint_u32()? as usize;
        Some(Entry { document_frequency, postings: self.reader.bytes(n_postings)? })
    }
}

/// Looks `term` up in its block. `Err` for bytes that are no block.
#[expect(clippy::result_unit_err, reason = "the caller knows which block it was and says so")]
pub fn find_in_block<'b>(block: &'b [u8], term: &[u8]) -> Result<Option<Entry<'b>>, ()> {
    let mut entries = Entries::new(block);
    while let Some(entry) = entries.next()? {
        match entries.term.as_slice().cmp(term) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal => return Ok(Some(entry)),
            std::cmp::Ordering::Greater => break,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_term_is_found_and_no_other(
            terms in proptest::collection::btree_map("[a-c]{1,6}", (1u32..9, proptest::collection::vec(any::<u8>(), 0..900)), 0..60)
        ) {
            let terms: BTreeMap<String, (u32, Vec<u8>)> = terms;
            let mut writer = DictionaryWriter::default();
            for (term, (frequency, postings)) in &terms {
                writer.add(term.as_bytes(), *frequency, postings);
            }
            let (blocks, directory) = writer.finish();
            let directory = Directory::decode(&directory).unwrap();
            prop_assert_eq!(directory.n_blocks(), blocks.len());
            for probe in terms.keys().cloned().chain(["a".into(), "d".into(), "bbbbbbb".into()]) {
                let found = directory
                    .block_of(probe.as_bytes())
                    .and_then(|block| find_in_block(&blocks[block], probe.as_bytes()).unwrap())
                    .map(|entry| (entry.document_frequency, entry.postings.to_vec()));
                prop_assert_eq!(found, terms.get(&probe).cloned());
            }
        }
    }
}
