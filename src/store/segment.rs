//! What a segment is made of.

use crate::embed::DIM;
use crate::store::codec::ChunkRecord;

/// A row of columns is closed at the end of the file in which it reaches so many chunks.
pub const PART_CHUNKS: usize = 4096;

/// Set in a chunk's kind if a vector begins with it; otherwise it shares the vector of the chunk before.
pub const STARTS_VECTOR: u8 = 0x80;

/// Number of a segment within its database.
pub type SegmentId = i64;

/// What is known of a file besides its chunks.
#[derive(Clone, Debug, PartialEq)]
pub struct FileMeta {
    /// Relative to the root.
    pub path: String,
    /// Bytes, from stat.
    pub size: u64,
    /// From stat, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Of the bytes that were indexed.
    pub content_hash: u128,
    /// Language name.
    pub language: &'static str,
    /// Written by a program, by its own word.
    pub is_generated: bool,
    /// Only its beginning is indexed.
    pub is_truncated: bool,
}

/// A file that was added to a staged segment.
#[derive(Clone, Debug)]
pub struct StagedFile {
    /// The file.
    pub meta: FileMeta,
    /// Its number in the segment.
    pub ordinal: u32,
    /// The segment-wide number of its first chunk.
    pub first_chunk: u32,
    /// Where its text begins in the segment's text.
    pub text_start: u64,
    /// Its chunks.
    pub records: Vec<ChunkRecord>,
}

/// The rest of a segment, written last.
pub struct SegmentSummary {
    /// The segment.
    pub id: SegmentId,
    /// Number of chunks.
    pub n_chunks: u32,
    /// Dictionary blocks, in order.
    pub blocks: Vec<Vec<u8>>,
    /// First terms of the blocks.
    pub directory: Vec<u8>,
    /// Sum of the vectors in units of 2^-24.
    pub vector_sum: Box<[i64; DIM]>,
    /// Its files.
    pub files: Vec<StagedFile>,
}
