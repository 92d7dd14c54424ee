//! Which chunks of a file share a vector, and under which key are the vectors of a file known again?
//!
//! In: the chunks of a file. Out: where vectors begin, and a key. Pure.

use xxhash_rust::xxh3::Xxh3;

use crate::chunk::Chunk;

/// Neighbouring chunks of one file share a vector up to so many bytes: a vector of one short function says little, and
/// vectors are a large part of an index. Source: benches `ranking`, semble half / questions with spans, NDCG@10: a vector
/// a chunk .8775 / .5337, 1200 .8744 / .5335, 1800 .8795 / .5378, 2600 .8756 / .5374, 4000 .8725 / .5292.
const VECTOR_BYTES: usize = 1800;

/// For each chunk, whether a vector begins with it.
pub fn vector_starts(chunks: &[Chunk]) -> Vec<bool> {
    let mut n_bytes = usize::MAX / 2;
    chunks
        .iter()
        .map(|chunk| {
            let starts = n_bytes + chunk.bytes.len() > VECTOR_BYTES;
            n_bytes = if starts { 0 } else { n_bytes } + chunk.bytes.len();
            starts
        })
        .collect()
}

/// The key of a file's vectors: a hash of all that they follow from. `profile` stands for the model and how it is used
/// ([`crate::config::Config::profile`]), the path is part of every text that is embedded, `content_hash` stands for the
/// text, and the chunks for its parts (parsing has a deadline, so they do not follow from the text alone).
///
/// One key a file, not one a vector: looking a value up costs as much as the embedded model takes for a vector. A provider
/// that is asked over a network would have one text a key, in the same cache.
pub fn vectors_key(profile: &str, path: &str, content_hash: u128, chunks: &[Chunk]) -> u128 {
    let mut hasher = Xxh3::new();
    for text in [profile, path] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.update(&content_hash.to_le_bytes());
    for chunk in chunks {
        hasher.update(&chunk.bytes.start.to_le_bytes());
        hasher.update(&chunk.bytes.end.to_le_bytes());
    }
    hasher.digest128()
}
