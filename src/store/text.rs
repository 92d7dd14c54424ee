//! The text of a segment: compressed in blocks, a few blocks a row.
//!
//! Small blocks are quick to read from, large rows waste little of their last page; so a row holds [`ROW_BLOCKS`] blocks
//! of [`BLOCK_BYTES`] bytes of text. A row is, for each block but the last, the length of its frame (u32, little
//! endian), then the frames.

use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer};

/// Bytes of text that are compressed together.
/// Source: rails at level 3, 64 KiB takes 0.233 of the text and 32 KiB 0.244; decompressing 64 KiB for each of 32 hits was
/// 45% of a search, and zstd cannot stop inside a block of its own.
pub const BLOCK_BYTES: usize = 32 * 1024;
const ROW_BLOCKS: usize = 8;
const LEVEL: i32 = 3;

/// Where a byte of a segment's text is: row, block in the row, byte in the block. `None` beyond any text.
pub fn locate(position: u64) -> Option<(u32, usize, usize)> {
    let block = position / BLOCK_BYTES as u64;
    let row = block / ROW_BLOCKS as u64;
    let row = u32::try_from(row).ok()?;
    Some((row, (block % ROW_BLOCKS as u64) as usize, (position % BLOCK_BYTES as u64) as usize))
}

/// Takes text and gives rows.
#[derive(Default)]
pub struct TextWriter {
    block: Vec<u8>,
    frames: Vec<Vec<u8>>,
    n_rows: u32,
    n_bytes: u64,
}

impl TextWriter {
    /// Bytes taken so far.
    pub fn position(&self) -> u64 {
        self.n_bytes
    }

    /// Takes `text`; `emit` receives the number and content of each row that is full.
    pub fn push<E>(
        &mut self,
        text: &str,
        emit: &mut impl FnMut(u32, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.n_bytes += text.len() as u64;
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let n = rest.len().min(BLOCK_BYTES - self.block.len());
            self.block.extend_from_slice(&rest[..n]);
            rest = &rest[n..];
            if self.block.len() == BLOCK_BYTES {
                self.close_block();
                if self.frames.len() == ROW_BLOCKS {
                    self.close_row(emit)?;
                }
            }
        }
        Ok(())
    }

    /// Gives what is left.
    pub fn finish<E>(
        mut self,
        emit: &mut impl FnMut(u32, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.close_block();
        self.close_row(emit)
    }

    fn close_block(&mut self) {
        if !self.block.is_empty() {
            let frame = zstd::bulk::compress(&self.block, LEVEL)
                .expect("compressing into memory does not fail");
            self.frames.push(frame);
            self.block.clear();
        }
    }

    fn close_row<E>(
        &mut self,
        emit: &mut impl FnMut(u32, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((_, all_but_last)) = self.frames.split_last() else { return Ok(()) };
        let mut row = vec![self.frames.len() as u8];
        for frame in all_but_last {
            row.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        }
        for frame in self.frames.drain(..) {
            row.extend_from_slice(&frame);
        }
        self.n_rows += 1;
        emit(self.n_rows - 1, row)
    }
}

/// Reads blocks; keeps the decompressor.
#[derive(Default)]
pub struct TextReader {
    context: Option<DCtx<'static>>,
}

impl TextReader {
    /// The first `n` bytes of the text of block number `block` of `row`; decompresses no further. `None` if the row is
    /// not one of [`TextWriter`]'s.
    pub fn read(&mut self, row: &[u8], block: usize, n: usize) -> Option<Vec<u8>> {
        let (&n_frames, rest) = row.split_first()?;
        let n_lengths = usize::from(n_frames).checked_sub(1)?;
        let (lengths, frames) = rest.split_at_checked(4 * n_lengths)?;
        let lengths: Vec<usize> =
            lengths.as_chunks::<4>().0.iter().map(|&l| u32::from_le_bytes(l) as usize).collect();
        let start: usize = lengths.iter().take(block).sum();
        let end = lengths.get(block).map_or(frames.len(), |length| start + length);
        if block > n_lengths || n > BLOCK_BYTES {
            return None;
        }
        let mut input = InBuffer::around(frames.get(start..end)?);
        let context = self.context.get_or_insert_with(DCtx::create);
        context.reset(zstd::zstd_safe::ResetDirective::SessionOnly).ok()?;
        let mut text = vec![0u8; n];
        let mut output = OutBuffer::around(text.as_mut_slice());
        while output.pos() < n {
            let before = (output.pos(), input.pos);
            context.decompress_stream(&mut output, &mut input).ok()?;
            if (output.pos(), input.pos) == before {
                return None;
            }
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_reads_back() {
        let files: Vec<String> =
            (0..90).map(|i| format!("file {i} ").repeat(i * i * 3 % 5000)).collect();
        let mut rows = Vec::new();
        let mut emit = |number: u32, row: Vec<u8>| -> Result<(), ()> {
            assert_eq!(number as usize, rows.len());
            rows.push(row);
            Ok(())
        };
        let mut writer = TextWriter::default();
        for file in &files {
            writer.push(file, &mut emit).unwrap();
        }
        writer.finish(&mut emit).unwrap();
        assert!(rows.len() > 2);
        let all = files.concat();
        let mut reader = TextReader::default();
        for position in (0..all.len()).step_by(7919) {
            let (row, block, byte) = locate(position as u64).unwrap();
            let text = reader.read(&rows[row as usize], block, byte + 1).unwrap();
            assert_eq!(text[byte], all.as_bytes()[position]);
        }
        assert_eq!(reader.read(&rows[0], 99, 1), None);
        assert_eq!(reader.read(&[], 0, 1), None);
        assert_eq!(reader.read(&[4, 0, 0], 0, 1), None);
        assert_eq!(reader.read(&rows[0][..rows[0].len() / 2], ROW_BLOCKS - 1, BLOCK_BYTES), None);
    }
}
