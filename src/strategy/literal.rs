//! The last resort: chunks that contain the query's characters as they stand.
//!
//! For queries that have neither a term nor a vector, such as `=>` or `a.b.c`. Every live text is read and scanned, ASCII
//! letters in either case, so it costs time in proportion to the workspace.

use memchr::memmem;
use rusqlite::Connection;

use super::Candidate;
use crate::query::filter::Filter;
use crate::span::ByteRange;
use crate::store::{self, Snapshot};
use crate::task::CancelToken;

/// The first `limit` chunks, by root, path and line, that contain `text`. `None` if `cancel` came first.
///
/// # Errors
/// [`store::StoreError`].
pub fn find(
    cancel: &CancelToken,
    (snapshot, connection): (&Snapshot, &Connection),
    text: &str,
    filter: &Filter,
    limit: usize,
) -> store::Result<Option<Vec<Candidate>>> {
    let needle = text.to_ascii_lowercase();
    let finder = memmem::Finder::new(needle.as_bytes());
    let mut found = Vec::new();
    for (at, file) in (0u32..).zip(&snapshot.files) {
        if cancel.is_cancelled() {
            return Ok(None);
        }
        if file.n_chunks == 0
            || !filter.allows_file(
                snapshot.root_path(file.root),
                &file.meta.path,
                file.meta.language,
            )
        {
            continue;
        }
        let records = snapshot.records(connection, file)?;
        let end = records.iter().map(|record| record.bytes.end).max().unwrap_or(0);
        let all =
            snapshot.text(connection, file, ByteRange { start: 0, end })?.to_ascii_lowercase();
        for (chunk, record) in (file.first_chunk..).zip(&records) {
            let chunk_text = all.as_bytes().get(record.bytes.as_range()).unwrap_or_default();
            if filter.allows_kind(record.kind as u8) && finder.find(chunk_text).is_some() {
                found.push(Candidate { chunk, file: at, lexical: 1.0, semantic: 0.0 });
                if found.len() == limit {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(Some(found))
}
