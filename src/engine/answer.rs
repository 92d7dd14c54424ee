//! Hits with their text, under a budget of tokens.

use rusqlite::Connection;

use super::local::Found;
use super::question::Question;
use super::types::Hit;
use crate::error::Error;
use crate::present::budget::Budget;
use crate::present::{Fit, one_based};
use crate::rank::Ranked;
use crate::span::{ByteRange, LineRange};
use crate::store::codec::ChunkRecord;
use crate::store::{FileRow, Snapshot};

/// What is shown.
#[derive(Default)]
pub struct Shown {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Tokens of their texts.
    pub tokens: u64,
    /// Hits without room.
    pub omitted_hits: u64,
    /// Lines of the last hit without room.
    pub omitted_lines: u64,
}

/// Takes hits until the tokens are used up.
pub struct Taker {
    budget: Budget,
    shown: Shown,
}

impl Taker {
    /// A budget of so many tokens, or of any number.
    pub fn new(tokens: Option<usize>) -> Self {
        Self { budget: Budget::new(tokens), shown: Shown::default() }
    }

    /// Adds a hit: whole, or its first lines, or not at all.
    pub fn add(&mut self, mut hit: Hit) {
        match self.budget.take(&hit.text) {
            Fit::Whole(_) => {}
            Fit::Cut { n_bytes, n_lines } => {
                hit.text.truncate(n_bytes);
                hit.end_line = hit.start_line + n_lines as u32 - 1;
            }
            Fit::Nothing => return,
        }
        self.shown.hits.push(hit);
    }

    /// What was taken.
    pub fn finish(mut self) -> Shown {
        let report = self.budget.report();
        self.shown.tokens = report.tokens as u64;
        self.shown.omitted_hits = report.n_omitted as u64;
        self.shown.omitted_lines = report.n_cut_lines as u64;
        self.shown
    }
}

/// The hits of `found` with their texts.
///
/// # Errors
/// [`Error::Store`].
pub fn show(
    (snapshot, connection): (&Snapshot, &Connection),
    question: &Question<'_>,
    found: &Found,
) -> Result<Shown, Error> {
    let mut taker = Taker::new(question.request.token_budget);
    for hit in &found.ranked {
        let record = &found.records[hit.candidate];
        let (bytes, lines) = hit.merged.iter().map(|&at| &found.records[at]).fold(
            (record.bytes, record.lines),
            |(bytes, lines), other| {
                (union_bytes(bytes, other.bytes), union_lines(lines, other.lines))
            },
        );
        let file = &snapshot.files[found.facts[hit.candidate].file as usize];
        let mut text = snapshot.text(connection, file, bytes)?;
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
        let explain = question.request.explain;
        taker.add(hit_of(snapshot, file, record, hit, one_based(lines), text, explain));
    }
    Ok(taker.finish())
}

fn hit_of(
    snapshot: &Snapshot,
    file: &FileRow,
    record: &ChunkRecord,
    ranked: &Ranked,
    (start_line, end_line): (u32, u32),
    text: String,
    explain: bool,
) -> Hit {
    Hit {
        root: snapshot.root_path(file.root).to_owned(),
        path: file.meta.path.clone(),
        start_line,
        end_line,
        kind: record.kind.name(),
        name: record.name.clone(),
        language: file.meta.language,
        score: f64::from(ranked.score),
        text,
        explanation: if explain { ranked.parts.clone() } else { Vec::new() },
    }
}

fn union_bytes(a: ByteRange, b: ByteRange) -> ByteRange {
    ByteRange { start: a.start.min(b.start), end: a.end.max(b.end) }
}

fn union_lines(a: LineRange, b: LineRange) -> LineRange {
    LineRange { start: a.start.min(b.start), end: a.end.max(b.end) }
}
