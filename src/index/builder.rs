//! Builds one segment in memory, file by file.
//!
//! Text and columns leave as they fill up ([`Output`]); postings stay until [`SegmentBuilder::finish`].

use super::analyzer::{Analyzer, TermId};
use super::embedding::vector_starts;
use crate::chunk::Chunk;
use crate::embed::DIM;
use crate::embed::quantize::{PACKED_BYTES, pack};
use crate::store::codec::{ChunkRecord, Posting, write_posting};
use crate::store::dictionary::{DictionaryWriter, PATH_PREFIX};
use crate::store::text::TextWriter;
use crate::store::{
    FileMeta, PART_CHUNKS, STARTS_VECTOR, SegmentId, SegmentSummary, StagedFile, add_fixed_point,
};

/// Something to be written.
pub enum Output {
    /// A row of text.
    Text {
        /// Number of the row.
        row: u32,
        /// As [`crate::store::text`] makes it.
        data: Vec<u8>,
    },
    /// Columns of some whole files' chunks.
    Part {
        /// Number of the part.
        part: u32,
        /// As in [`crate::store::Columns`].
        lengths: Vec<u8>,
        /// As in [`crate::store::Columns`].
        kinds: Vec<u8>,
        /// As in [`crate::store::Columns`].
        vectors: Vec<u8>,
    },
}

impl Output {
    /// Bytes to be written.
    pub fn n_bytes(&self) -> usize {
        match self {
            Self::Text { data, .. } => data.len(),
            Self::Part { lengths, kinds, vectors, .. } => {
                lengths.len() + kinds.len() + vectors.len()
            }
        }
    }
}

/// Where the vectors of a file came from.
pub enum Vectors {
    /// It has none.
    None,
    /// The model; these they are.
    Computed(Vec<u8>),
    /// The caller knew them.
    Known,
}

/// Postings of one term so far.
#[derive(Default, Clone)]
struct TermPostings {
    bytes: Vec<u8>,
    last: Option<u32>,
    document_frequency: u32,
}

/// Occurrences of one term in the chunk at hand.
#[derive(Clone, Copy, Default)]
struct Count {
    frequency: u32,
    in_symbol: bool,
    in_head: bool,
}

/// Counts terms of one chunk without clearing a table for each.
#[derive(Default)]
struct Counter {
    /// Per term: the round in which it was last seen, and its place in `counts`.
    seen: Vec<(u32, u32)>,
    round: u32,
    counts: Vec<(TermId, Count)>,
}

impl Counter {
    fn start(&mut self) {
        self.round += 1;
        self.counts.clear();
    }

    #[inline]
    fn entry(&mut self, term: TermId) -> &mut Count {
        let term_at = term as usize;
        if term_at >= self.seen.len() {
            self.seen.resize((term_at + 1).next_power_of_two(), (0, 0));
        }
        let (round, at) = self.seen[term_at];
        let at = if round == self.round {
            at as usize
        } else {
            self.seen[term_at] = (self.round, self.counts.len() as u32);
            self.counts.push((term, Count::default()));
            self.counts.len() - 1
        };
        &mut self.counts[at].1
    }
}

/// One segment in the making.
pub struct SegmentBuilder {
    id: SegmentId,
    has_vectors: bool,
    analyzer: Analyzer,
    counter: Counter,
    body: Vec<TermPostings>,
    paths: Vec<TermPostings>,
    files: Vec<StagedFile>,
    n_chunks: u32,
    text: TextWriter,
    lengths: Vec<u8>,
    kinds: Vec<u8>,
    vectors: Vec<u8>,
    n_parts: u32,
    vector_sum: Box<[i64; DIM]>,
    posting_bytes: usize,
    /// Whether `rows` are those of a vector that is not made yet.
    has_open_vector: bool,
    rows: Vec<u32>,
    path_rows: Vec<u32>,
}

impl SegmentBuilder {
    /// An empty segment; without vectors, they are all zero.
    pub fn new(id: SegmentId, has_vectors: bool) -> Self {
        Self {
            id,
            has_vectors,
            analyzer: Analyzer::new(),
            counter: Counter::default(),
            body: Vec::new(),
            paths: Vec::new(),
            files: Vec::new(),
            n_chunks: 0,
            text: TextWriter::default(),
            lengths: Vec::new(),
            kinds: Vec::new(),
            vectors: Vec::new(),
            n_parts: 0,
            vector_sum: Box::new([0; DIM]),
            posting_bytes: 0,
            has_open_vector: false,
            rows: Vec::new(),
            path_rows: Vec::new(),
        }
    }

    /// Whether no file was added.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of memory that grow with the segment.
    pub fn n_bytes(&self) -> usize {
        self.analyzer.n_bytes()
            + (self.body.capacity() + self.paths.capacity()) * size_of::<TermPostings>()
            + self.counter.seen.capacity() * 8
            + self.posting_bytes * 3 / 2
    }

    /// Adds a file and its chunks; `emit` receives what is ready to be written. `known` are its packed vectors, if they
    /// were made before; they are ignored if they are not as many as the chunks need.
    pub fn add(
        &mut self,
        meta: FileMeta,
        text: &str,
        chunks: &[Chunk],
        known: Option<&[u8]>,
        emit: &mut impl FnMut(Output),
    ) -> Vectors {
        let ordinal = self.files.len() as u32;
        let text_start = self.text.position();
        let first_chunk = self.n_chunks;
        let starts = vector_starts(chunks);
        let n_vectors = starts.iter().filter(|&&starts| starts).count();
        let known = known
            .filter(|_| self.has_vectors)
            .map(|known| known.as_chunks().0)
            .filter(|known| known.len() == n_vectors);
        let is_embedded = self.has_vectors && known.is_none();
        let first_vector = self.vectors.len();
        self.add_path(&meta.path, ordinal, is_embedded);
        let mut records = Vec::with_capacity(chunks.len());
        for (chunk, starts_vector) in chunks.iter().zip(starts) {
            if starts_vector && known.is_none() {
                self.close_vector();
                self.rows.extend_from_slice(&self.path_rows);
                self.has_open_vector = true;
            }
            self.add_chunk(text, chunk, starts_vector, is_embedded);
            records.push(ChunkRecord {
                bytes: chunk.bytes,
                lines: chunk.lines,
                kind: chunk.kind,
                name: chunk.name.clone(),
                symbols: chunk.symbols.clone(),
            });
        }
        self.close_vector();
        for vector in known.into_iter().flatten() {
            add_fixed_point(vector, &mut self.vector_sum, 1);
            self.vectors.extend_from_slice(vector);
        }
        let vectors = match known {
            _ if n_vectors == 0 || !self.has_vectors => Vectors::None,
            Some(_) => Vectors::Known,
            None => Vectors::Computed(self.vectors[first_vector..].to_vec()),
        };
        if self.lengths.len() >= PART_CHUNKS {
            emit(self.take_part());
        }
        let Ok(()) = self.text.push(text, &mut as_output(emit));
        self.files.push(StagedFile { meta, ordinal, first_chunk, text_start, records });
        vectors
    }

    fn add_path(&mut self, path: &str, ordinal: u32, with_rows: bool) {
        self.counter.start();
        self.path_rows.clear();
        let Self { analyzer, counter, path_rows, .. } = self;
        analyzer.analyze(path, with_rows, |_, terms, rows| {
            for &term in terms {
                counter.entry(term).frequency += 1;
            }
            path_rows.extend_from_slice(rows);
        });
        self.posting_bytes += write_counts(&self.counter.counts, ordinal, &mut self.paths);
    }

    fn add_chunk(&mut self, text: &str, chunk: &Chunk, starts_vector: bool, with_rows: bool) {
        self.counter.start();
        let Self { analyzer, counter, rows, .. } = self;
        let start = chunk.bytes.start as usize;
        let head = chunk.head.as_range();
        let mut n_terms = 0u32;
        analyzer.analyze(&text[chunk.bytes.as_range()], with_rows, |at, terms, run_rows| {
            let in_head = head.contains(&(start + at));
            for &term in terms {
                let count = counter.entry(term);
                count.frequency += 1;
                count.in_head |= in_head;
            }
            n_terms += terms.len() as u32;
            rows.extend_from_slice(run_rows);
        });
        for symbol in &chunk.symbols {
            analyzer.analyze_name(symbol, |term| counter.entry(term).in_symbol = true);
        }
        self.posting_bytes += write_counts(&self.counter.counts, self.n_chunks, &mut self.body);

        self.kinds.push(chunk.kind as u8 | if starts_vector { STARTS_VECTOR } else { 0 });
        self.lengths.push((n_terms / 2).min(255) as u8);
        self.n_chunks += 1;
    }

    /// Makes the vector of the chunks since the last one; zero where the model knows no word.
    fn close_vector(&mut self) {
        if !std::mem::take(&mut self.has_open_vector) {
            return;
        }
        let mut packed = [0u8; PACKED_BYTES];
        if self.has_vectors
            && let Some(vector) = self.analyzer.model().document(&mut self.rows)
        {
            pack(&vector, &mut packed);
            add_fixed_point(&packed, &mut self.vector_sum, 1);
        }
        self.rows.clear();
        self.vectors.extend_from_slice(&packed);
    }

    fn take_part(&mut self) -> Output {
        self.n_parts += 1;
        Output::Part {
            part: self.n_parts - 1,
            lengths: std::mem::take(&mut self.lengths),
            kinds: std::mem::take(&mut self.kinds),
            vectors: std::mem::take(&mut self.vectors),
        }
    }

    /// Emits what is left and gives the rest of the segment.
    pub fn finish(mut self, emit: &mut impl FnMut(Output)) -> SegmentSummary {
        if !self.lengths.is_empty() {
            emit(self.take_part());
        }
        let Ok(()) = self.text.finish(&mut as_output(emit));
        let terms = &self.analyzer.terms;
        let mut order: Vec<TermId> = (0..terms.len() as TermId).collect();
        order.sort_unstable_by(|&a, &b| terms.get(a).cmp(terms.get(b)));
        let mut dictionary = DictionaryWriter::default();
        let mut key = Vec::new();
        let with_postings = |list: &[TermPostings], id: TermId| {
            list.get(id as usize).filter(|postings| postings.document_frequency > 0).cloned()
        };
        // PATH_PREFIX sorts before every byte that a term can begin with.
        for &id in &order {
            if let Some(postings) = with_postings(&self.paths, id) {
                key.clear();
                key.push(PATH_PREFIX);
                key.extend_from_slice(terms.get(id));
                dictionary.add(&key, postings.document_frequency, &postings.bytes);
            }
        }
        for &id in &order {
            if let Some(postings) = self.body.get(id as usize)
                && postings.document_frequency > 0
            {
                dictionary.add(terms.get(id), postings.document_frequency, &postings.bytes);
            }
        }
        let (blocks, directory) = dictionary.finish();
        SegmentSummary {
            id: self.id,
            n_chunks: self.n_chunks,
            blocks,
            directory,
            vector_sum: self.vector_sum,
            files: self.files,
        }
    }
}

/// Hands rows of text on; writing happens elsewhere, so nothing can fail here.
fn as_output(
    emit: &mut impl FnMut(Output),
) -> impl FnMut(u32, Vec<u8>) -> Result<(), std::convert::Infallible> {
    |row, data| {
        emit(Output::Text { row, data });
        Ok(())
    }
}

/// Appends the counted terms of `document` to their postings; gives the bytes added.
fn write_counts(
    counts: &[(TermId, Count)],
    document: u32,
    postings: &mut Vec<TermPostings>,
) -> usize {
    let mut n_bytes = 0;
    for &(term, count) in counts {
        let at = term as usize;
        if at >= postings.len() {
            postings.resize((at + 1).next_power_of_two(), TermPostings::default());
        }
        let list = &mut postings[at];
        let before = list.bytes.len();
        let posting = Posting {
            document,
            frequency: count.frequency.min(255) as u8,
            in_symbol: count.in_symbol,
            in_head: count.in_head,
        };
        write_posting(list.last, posting, &mut list.bytes);
        list.last = Some(document);
        list.document_frequency += 1;
        n_bytes += list.bytes.len() - before;
    }
    n_bytes
}
