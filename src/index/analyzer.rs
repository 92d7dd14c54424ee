//! One pass over a text for terms and embedding rows at once.
//!
//! Both depend on a run of identifier characters alone (see [`crate::term`] and [`crate::embed::pieces`]), and code
//! repeats its runs: what a run gives is computed once per segment and looked up afterwards.

use hashbrown::HashTable;

use crate::embed::model::{StaticModel, static_model};
use crate::term::{TermSplitter, runs};

/// Longer runs are mostly data; they are analysed each time instead of kept.
const MAX_CACHED_RUN_BYTES: usize = 64;

/// Number of a term within one segment, in order of appearance.
pub type TermId = u32;

/// Gives terms numbers.
#[derive(Default)]
pub struct Interner {
    table: HashTable<TermId>,
    hasher: foldhash::fast::FixedState,
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Interner {
    fn hash(&self, key: &[u8]) -> u64 {
        use std::hash::BuildHasher;
        self.hasher.hash_one(key)
    }

    /// The bytes of a term.
    pub fn get(&self, id: TermId) -> &[u8] {
        slice_of(&self.bytes, &self.ends, id)
    }

    /// Number of terms.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The number of `key`, new or known.
    pub fn intern(&mut self, key: &[u8]) -> TermId {
        let hash = self.hash(key);
        let Self { table, bytes, ends, hasher } = self;
        let found = table.find(hash, |&id| slice_of(bytes, ends, id) == key);
        if let Some(&id) = found {
            return id;
        }
        let id = ends.len() as TermId;
        bytes.extend_from_slice(key);
        ends.push(bytes.len() as u32);
        table.insert_unique(hash, id, |&id| {
            use std::hash::BuildHasher;
            hasher.hash_one(slice_of(bytes, ends, id))
        });
        id
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.table.capacity() * 5
    }
}

fn slice_of<'a>(bytes: &'a [u8], ends: &[u32], id: u32) -> &'a [u8] {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] as usize };
    &bytes[start..ends[id as usize] as usize]
}

/// Where the terms and the embedding rows of a run are.
#[derive(Clone, Copy)]
struct Span {
    terms: (u32, u32),
    /// [`NO_ROWS`] until somebody asks for them.
    rows: (u32, u32),
}

const NO_ROWS: (u32, u32) = (u32::MAX, u32::MAX);

/// Looks runs up, and takes new ones apart.
pub struct Analyzer {
    /// Terms of the segment.
    pub terms: Interner,
    runs: Interner,
    spans: Vec<Span>,
    /// Terms and rows, of long runs too at its end.
    ids: Vec<u32>,
    /// Where those of long runs begin.
    kept: usize,
    splitter: TermSplitter,
    model: &'static StaticModel,
}

impl Analyzer {
    /// An analyzer that knows nothing yet.
    pub fn new() -> Self {
        Self {
            terms: Interner::default(),
            runs: Interner::default(),
            spans: Vec::new(),
            ids: Vec::new(),
            kept: 0,
            splitter: TermSplitter::new(),
            model: static_model(),
        }
    }

    /// Calls `visit` with the position of each run of `text`, its terms and, if asked for, its embedding rows.
    pub fn analyze(
        &mut self,
        text: &str,
        with_rows: bool,
        mut visit: impl FnMut(usize, &[TermId], &[u32]),
    ) {
        runs(text, |at, run| {
            let (terms, rows) = self.run(run, with_rows);
            visit(at, terms, rows);
        });
    }

    /// Calls `visit` with each term of a defined name.
    pub fn analyze_name(&mut self, name: &str, mut visit: impl FnMut(TermId)) {
        let Self { terms, splitter, .. } = self;
        runs(name, |_, run| {
            splitter.split_name(run, |term| visit(terms.intern(term.as_bytes())));
        });
    }

    fn run(&mut self, run: &str, with_rows: bool) -> (&[TermId], &[u32]) {
        let n_known = self.runs.len();
        // What a long run left behind is dropped here.
        self.ids.truncate(self.kept);
        let mut span = Span { terms: NO_ROWS, rows: NO_ROWS };
        let mut known = None;
        let is_kept = run.len() <= MAX_CACHED_RUN_BYTES;
        if is_kept {
            let id = self.runs.intern(run.as_bytes()) as usize;
            if id < n_known {
                span = self.spans[id];
                known = Some(id);
            }
        }
        if known.is_none() {
            let Self { terms, ids, splitter, .. } = self;
            let start = ids.len() as u32;
            splitter.split(run, |term| ids.push(terms.intern(term.as_bytes())));
            span.terms = (start, ids.len() as u32);
        }
        let lacks_rows = with_rows && span.rows == NO_ROWS;
        if lacks_rows {
            let start = self.ids.len() as u32;
            self.model.vocabulary().rows(run, &mut self.ids);
            span.rows = (start, self.ids.len() as u32);
        }
        if is_kept {
            match known {
                None => self.spans.push(span),
                Some(id) if lacks_rows => self.spans[id] = span,
                Some(_) => {}
            }
            self.kept = self.ids.len();
        }
        let slice = |(start, end): (u32, u32)| &self.ids[start as usize..end as usize];
        let rows = if with_rows { slice(span.rows) } else { &[] };
        (slice(span.terms), rows)
    }

    /// The embedding model.
    pub fn model(&self) -> &'static StaticModel {
        self.model
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        self.terms.n_bytes()
            + self.runs.n_bytes()
            + self.spans.capacity() * size_of::<Span>()
            + self.ids.capacity() * 4
    }
}
