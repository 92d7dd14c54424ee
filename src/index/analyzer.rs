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

/// Looks runs up, and takes new ones apart.
pub struct Analyzer {
    /// Terms of the segment.
    pub terms: Interner,
    runs: Interner,
    /// For each run, where its terms and rows end in `ids`: terms first.
    spans: Vec<(u32, u32)>,
    ids: Vec<u32>,
    splitter: TermSplitter,
    has_rows: bool,
    model: &'static StaticModel,
}

impl Analyzer {
    /// An analyzer that knows nothing yet; it gives embedding rows only if asked to.
    pub fn new(has_rows: bool) -> Self {
        Self {
            terms: Interner::default(),
            runs: Interner::default(),
            spans: Vec::new(),
            ids: Vec::new(),
            splitter: TermSplitter::new(),
            has_rows,
            model: static_model(),
        }
    }

    /// Calls `visit` with the position of each run of `text`, its terms and its embedding rows.
    pub fn analyze(&mut self, text: &str, mut visit: impl FnMut(usize, &[TermId], &[u32])) {
        runs(text, |at, run| {
            let (terms, rows) = self.run(run);
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

    fn run(&mut self, run: &str) -> (&[TermId], &[u32]) {
        let n_known = self.runs.len();
        let is_kept = run.len() <= MAX_CACHED_RUN_BYTES;
        if is_kept {
            let id = self.runs.intern(run.as_bytes()) as usize;
            if id < n_known {
                let start = if id == 0 { 0 } else { self.spans[id - 1].1 } as usize;
                let (terms_end, rows_end) = self.spans[id];
                return (
                    &self.ids[start..terms_end as usize],
                    &self.ids[terms_end as usize..rows_end as usize],
                );
            }
        }
        let start = self.spans.last().map_or(0, |span| span.1) as usize;
        // What a long run left behind its last known span is dropped here.
        self.ids.truncate(start);
        let Self { terms, ids, splitter, .. } = self;
        splitter.split(run, |term| ids.push(terms.intern(term.as_bytes())));
        let terms_end = self.ids.len();
        if self.has_rows {
            self.model.vocabulary().rows(run, &mut self.ids);
        }
        if is_kept {
            self.spans.push((terms_end as u32, self.ids.len() as u32));
        }
        (&self.ids[start..terms_end], &self.ids[terms_end..])
    }

    /// The embedding model.
    pub fn model(&self) -> &'static StaticModel {
        self.model
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        self.terms.n_bytes()
            + self.runs.n_bytes()
            + self.spans.capacity() * 8
            + self.ids.capacity() * 4
    }
}
