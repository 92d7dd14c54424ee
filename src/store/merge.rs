//! Merging segments: many small ones into one, dead chunks dropped.
//!
//! Text, columns and records are copied; postings are merged term by term in one pass over all dictionaries, with the
//! chunks renumbered. What a search computes does not change, only what it costs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use rusqlite::params;

use super::codec::{Posting, Postings, unseal, write_posting};
use super::columns::{Columns, add_fixed_point};
use super::dictionary::{DictionaryWriter, Entries, PATH_PREFIX};
use super::error::Result;
use super::files::FileRow;
use super::publish::{log_changes, next_generation};
use super::segment::{PART_CHUNKS, STARTS_VECTOR, SegmentId, SegmentSummary};
use super::snapshot::{RootId, Snapshot};
use super::text::TextWriter;
use super::writer::Writer;
use crate::embed::DIM;
use crate::span::ByteRange;
use crate::task::CancelToken;

/// Segments of about one size are merged once there are this many of them. Unmeasured: look-ups cost a read per segment,
/// merging costs a rewrite.
const MERGE_FACTOR: usize = 8;
/// Segments below this many chunks count as one size.
const SMALLEST_TIER_CHUNKS: u32 = 1024;
/// A segment is rewritten alone once this share of its chunks is dead.
const MAX_DEAD_SHARE: f64 = 0.5;

/// Where the chunks and files of the merged segments go.
struct Renumbering {
    /// Per old segment and old chunk (or file) its new number.
    chunks: Vec<Vec<Option<u32>>>,
    files: Vec<Vec<Option<u32>>>,
}

impl Writer {
    /// Merges segments of the roots of `before` if there are too many of a root, or too many dead chunks in them, or text
    /// that must go. `before`: any earlier state of the roots. What a cancelled merge had written is deleted again.
    ///
    /// # Errors
    /// [`super::StoreError`]; searches then find what they found before.
    pub fn compact(&mut self, cancel: &CancelToken, before: &Snapshot) -> Result<()> {
        let roots: Vec<String> = before.roots.iter().map(|(_, path)| path.clone()).collect();
        let mut snapshot = self.snapshot(&roots, Some(before))?;
        while let Some(chosen) = choose(&snapshot) {
            let merged = self.merge(cancel, &snapshot, &chosen);
            if !matches!(merged, Ok(true)) {
                self.roll_back();
            }
            self.collect_garbage()?;
            if !merged? {
                return Ok(());
            }
            snapshot = self.snapshot(&roots, Some(&snapshot))?;
        }
        self.give_space_back()
    }

    /// False if `cancel` came first. Rows are written in small transactions; they belong to no segment until the last one,
    /// which makes the new segment current and the old ones go.
    fn merge(
        &mut self,
        cancel: &CancelToken,
        snapshot: &Snapshot,
        chosen: &[usize],
    ) -> Result<bool> {
        let id = self.next_segment()?;
        let root = snapshot.segments[chosen[0]].root;
        let mut files: Vec<&FileRow> = snapshot
            .files
            .iter()
            .filter(|file| chosen.contains(&(file.segment as usize)))
            .collect();
        // By ordinal, not by first chunk: files without chunks have no place of their own among chunks.
        files.sort_by_key(|file| (file.segment, file.ordinal));
        let renumbering = renumber(snapshot, chosen, &files);
        let (n_chunks, vector_sum) = self.copy_columns(snapshot, &files, id)?;
        let Some(text_starts) = self.copy_text(cancel, snapshot, &files, id)? else {
            return Ok(false);
        };
        let Some((first_block, directory)) =
            self.merge_dictionaries(cancel, (snapshot, chosen), &renumbering, id)?
        else {
            return Ok(false);
        };
        let summary = SegmentSummary {
            id,
            n_chunks,
            blocks: Vec::new(),
            directory,
            vector_sum,
            files: Vec::new(),
        };
        self.commit()?;
        self.begin()?;
        self.insert_segment(root, &summary, first_block, true)?;
        self.database.run(|| {
            let generation = next_generation(&self.connection)?;
            let moved: Vec<i64> = files.iter().map(|file| file.id).collect();
            log_changes(&self.connection, generation, &moved)?;
            let mut move_file = self.connection.prepare_cached(
                "UPDATE files SET segment = ?2, ordinal = ?3, first_chunk = ?4, text_start = ?5 WHERE id = ?1",
            )?;
            let mut first_chunk = 0;
            for (ordinal, (file, text_start)) in (0u32..).zip(files.iter().zip(&text_starts)) {
                move_file.execute(params![file.id, id, ordinal, first_chunk, *text_start as i64])?;
                first_chunk += file.n_chunks;
            }
            self.connection.execute(
                "UPDATE segments SET n_files = ?2 WHERE id = ?1",
                params![id, files.len() as i64],
            )?;
            for &old in chosen {
                self.connection
                    .prepare_cached("DELETE FROM segments WHERE id = ?1")?
                    .execute([snapshot.segments[old].id])?;
            }
            Ok(())
        })?;
        self.commit()?;
        Ok(true)
    }

    fn copy_columns(
        &mut self,
        snapshot: &Snapshot,
        files: &[&FileRow],
        id: SegmentId,
    ) -> Result<(u32, Box<[i64; DIM]>)> {
        let mut sum = Box::new([0i64; DIM]);
        let (mut lengths, mut kinds, mut vectors) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_chunks = 0u32;
        let mut part = 0;
        let mut columns: HashMap<u32, Arc<Columns>> = HashMap::new();
        for file in files {
            let segment = &snapshot.segments[file.segment as usize];
            let from = match columns.entry(file.segment) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    free.insert(snapshot.columns_of(&self.connection, file.segment)?)
                }
            };
            let first = (file.first_chunk - segment.base) as usize;
            let mut previous = None;
            for chunk in first..first + file.n_chunks as usize {
                let vector = from.vector_of_chunk[chunk];
                let starts_vector = previous != Some(vector);
                previous = Some(vector);
                if starts_vector {
                    add_fixed_point(from.vector(vector), &mut sum, 1);
                    vectors.extend_from_slice(from.vector(vector));
                }
                lengths.push(from.lengths[chunk]);
                kinds.push(from.kinds[chunk] | if starts_vector { STARTS_VECTOR } else { 0 });
                n_chunks += 1;
            }
            if lengths.len() >= PART_CHUNKS {
                let columns = [&mut lengths, &mut kinds, &mut vectors].map(std::mem::take);
                let [lengths, kinds, vectors] = columns;
                self.add_part(id, part, lengths, kinds, vectors)?;
                part += 1;
            }
        }
        if !lengths.is_empty() {
            self.add_part(id, part, lengths, kinds, vectors)?;
        }
        Ok((n_chunks, sum))
    }

    /// Gives where each file's text starts; `None` if `cancel` came first.
    fn copy_text(
        &mut self,
        cancel: &CancelToken,
        snapshot: &Snapshot,
        files: &[&FileRow],
        id: SegmentId,
    ) -> Result<Option<Vec<u64>>> {
        let mut starts = Vec::with_capacity(files.len());
        let mut writer = TextWriter::default();
        let mut rows = Vec::new();
        for file in files {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            starts.push(writer.position());
            // Everything up to the last chunk's end; what follows is blank.
            let records = snapshot.records(&self.connection, file)?;
            let n_bytes = records.iter().map(|record| record.bytes.end).max().unwrap_or(0);
            let range = ByteRange { start: 0, end: n_bytes };
            let text = snapshot.text(&self.connection, file, range)?;
            writer.push(&text, &mut |row, data| -> Result<()> {
                rows.push((row, data));
                Ok(())
            })?;
            for (row, data) in rows.drain(..) {
                self.add_text(id, row, data)?;
            }
        }
        writer.finish(&mut |row, data| self.add_text(id, row, data))?;
        Ok(Some(starts))
    }

    /// Gives the row of the first block and the directory; `None` if `cancel` came first.
    fn merge_dictionaries(
        &mut self,
        cancel: &CancelToken,
        (snapshot, chosen): (&Snapshot, &[usize]),
        renumbering: &Renumbering,
        id: SegmentId,
    ) -> Result<Option<(i64, Vec<u8>)>> {
        let mut cursors = Vec::with_capacity(chosen.len());
        for &segment in chosen {
            let mut cursor = Cursor::new(snapshot.segments[segment].id);
            cursor.advance(self)?;
            cursors.push(cursor);
        }
        let mut merged = DictionaryWriter::default();
        let mut first_block = None;
        let mut postings = Vec::new();
        loop {
            for block in merged.blocks.drain(..) {
                if cancel.is_cancelled() {
                    return Ok(None);
                }
                let row = self.add_block(id, block)?;
                first_block.get_or_insert(row);
            }
            let Some(term) =
                cursors.iter().filter_map(|cursor| cursor.current.as_ref().map(|(t, _)| t)).min()
            else {
                let (blocks, directory) = merged.finish();
                for block in blocks {
                    let row = self.add_block(id, block)?;
                    first_block.get_or_insert(row);
                }
                return Ok(Some((first_block.unwrap_or_default(), directory)));
            };
            let term = term.clone();
            postings.clear();
            let mut previous = None;
            let mut frequency = 0;
            for (at, cursor) in cursors.iter_mut().enumerate() {
                let Some((_, bytes)) = cursor.current.take_if(|(t, _)| *t == term) else {
                    continue;
                };
                let numbers = match term.first() {
                    Some(&PATH_PREFIX) => &renumbering.files[at],
                    _ => &renumbering.chunks[at],
                };
                for posting in Postings::new(&bytes) {
                    let new = numbers.get(posting.document as usize).copied().flatten();
                    if let Some(document) = new {
                        write_posting(previous, Posting { document, ..posting }, &mut postings);
                        previous = Some(document);
                        frequency += 1;
                    }
                }
                cursor.advance(self)?;
            }
            if frequency > 0 {
                merged.add(&term, frequency, &postings);
            }
        }
    }
}

/// Reads the dictionary of one segment, entry by entry.
struct Cursor {
    segment: SegmentId,
    last_block: i64,
    entries: std::vec::IntoIter<(Vec<u8>, Vec<u8>)>,
    /// Term and postings.
    current: Option<(Vec<u8>, Vec<u8>)>,
}

impl Cursor {
    fn new(segment: SegmentId) -> Self {
        Self { segment, last_block: 0, entries: Vec::new().into_iter(), current: None }
    }

    fn advance(&mut self, writer: &Writer) -> Result<()> {
        loop {
            self.current = self.entries.next();
            if self.current.is_some() {
                return Ok(());
            }
            let next: Option<(i64, Vec<u8>)> = writer.database.run(|| {
                use rusqlite::OptionalExtension;
                writer
                    .connection
                    .prepare_cached(
                        "SELECT id, data FROM postings WHERE segment = ?1 AND id > ?2 ORDER BY id LIMIT 1",
                    )?
                    .query_row([self.segment, self.last_block], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()
            })?;
            let Some((id, block)) = next else { return Ok(()) };
            self.last_block = id;
            let block =
                unseal(&block).ok_or_else(|| writer.database.damaged("a dictionary block"))?;
            let mut entries = Entries::new(block);
            let mut list = Vec::new();
            loop {
                match entries.next() {
                    Ok(Some(entry)) => {
                        let postings = entry.postings.to_vec();
                        list.push((entries.term.clone(), postings));
                    }
                    Ok(None) => break,
                    Err(()) => return Err(writer.database.damaged("a dictionary block")),
                }
            }
            self.entries = list.into_iter();
        }
    }
}

impl Snapshot {
    /// Whether [`Writer::compact`] would do anything.
    #[must_use]
    pub fn wants_compaction(&self) -> bool {
        choose(self).is_some()
    }
}

/// The segments to merge, if any: a full tier, or one that is mostly dead.
fn choose(snapshot: &Snapshot) -> Option<Vec<usize>> {
    let mut live = vec![0u32; snapshot.segments.len()];
    for file in &snapshot.files {
        live[file.segment as usize] += file.n_chunks;
    }
    let mut tiers: HashMap<(RootId, u32), Vec<usize>> = HashMap::new();
    for (at, segment) in snapshot.segments.iter().enumerate() {
        let n_dead = segment.n_chunks - live[at];
        let is_mostly_dead = f64::from(n_dead) > MAX_DEAD_SHARE * f64::from(segment.n_chunks);
        if is_mostly_dead || segment.must_rewrite {
            return Some(vec![at]);
        }
        let tier = (live[at] / SMALLEST_TIER_CHUNKS)
            .checked_ilog(MERGE_FACTOR as u32)
            .map_or(0, |t| t + 1);
        tiers.entry((segment.root, tier)).or_default().push(at);
    }
    tiers.into_values().find(|tier| tier.len() >= MERGE_FACTOR)
}

/// New numbers, in the order of `files`. `files` are those of the `chosen` segments, by first chunk.
fn renumber(snapshot: &Snapshot, chosen: &[usize], files: &[&FileRow]) -> Renumbering {
    let of = |n: fn(&super::SegmentRow) -> u32| -> Vec<Vec<Option<u32>>> {
        chosen.iter().map(|&at| vec![None; n(&snapshot.segments[at]) as usize]).collect()
    };
    let mut renumbering = Renumbering { chunks: of(|s| s.n_chunks), files: of(|s| s.n_files) };
    let mut next_chunk = 0;
    for (ordinal, file) in (0u32..).zip(files) {
        let segment = file.segment as usize;
        let Some(at) = chosen.iter().position(|&c| c == segment) else { continue };
        if let Some(number) = renumbering.files[at].get_mut(file.ordinal as usize) {
            *number = Some(ordinal);
        }
        let first = (file.first_chunk - snapshot.segments[segment].base) as usize;
        for number in &mut renumbering.chunks[at][first..first + file.n_chunks as usize] {
            *number = Some(next_chunk);
            next_chunk += 1;
        }
    }
    renumbering
}
