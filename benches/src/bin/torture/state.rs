//! All that an index says, and the comparison with one that was built anew.

use std::fmt::Debug;
use std::fs;
use std::path::Path;

use sextant::engine::{Degradation, Engine, Hit, SkippedPath, Strategy};
use sextant::task::{CancelToken, NoProgress};
use sextant_benches::workspace::request;

use crate::code::QUERIES;
use crate::database::Bytes;
use crate::failure::{Context, Failure, Result};
use crate::place::open;

const STRATEGIES: [Strategy; 3] = [Strategy::Hybrid, Strategy::Tfidf, Strategy::Embeddings];
const LIMIT: usize = 20;

/// A hit, comparable bit for bit.
#[derive(Debug, PartialEq)]
struct Row {
    place: (String, u32, u32),
    what: (&'static str, Option<String>, &'static str),
    score_bits: u64,
    text: String,
}

impl From<Hit> for Row {
    fn from(hit: Hit) -> Self {
        Self {
            place: (hit.path, hit.start_line, hit.end_line),
            what: (hit.kind, hit.name, hit.language),
            score_bits: hit.score.to_bits(),
            text: hit.text,
        }
    }
}

#[derive(Debug)]
struct Answer {
    question: String,
    rows: Vec<Row>,
    degraded: Vec<Degradation>,
}

/// Files, skips, number of chunks, and the answers to all questions in three strategies.
pub struct State {
    files: Vec<(String, &'static str, u64, u32)>,
    skipped: Vec<SkippedPath>,
    n_chunks: u64,
    answers: Vec<Answer>,
}

impl State {
    /// Asks an engine. It must not fail.
    pub fn of(engine: &Engine) -> Result<Self> {
        let mut answers = Vec::new();
        for query in QUERIES {
            for strategy in STRATEGIES {
                let question = format!("{query:?} by {strategy:?}");
                let response = engine
                    .search(&CancelToken::new(), &request(query, LIMIT, strategy))
                    .finding(format_args!("searching {question}"))?;
                answers.push(Answer {
                    question,
                    rows: response.hits.into_iter().map(Row::from).collect(),
                    degraded: response.degraded,
                });
            }
        }
        let files = engine.files().finding("listing the indexed files")?;
        Ok(Self {
            files: files.into_iter().map(|f| (f.path, f.language, f.size, f.chunks)).collect(),
            skipped: engine.skipped().finding("listing what was left out")?,
            n_chunks: engine.status().finding("asking for the status")?.chunks,
            answers,
        })
    }

    /// Number of files.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// A finding at the first difference.
    pub fn check_equals(&self, expected: &Self, what: &str) -> Result<()> {
        let of_answers = || {
            self.answers.iter().zip(&expected.answers).find_map(|(ours, theirs)| {
                let name = &ours.question;
                difference(&format!("hit of {name}"), &ours.rows, &theirs.rows).or_else(|| {
                    difference(&format!("notice of {name}"), &ours.degraded, &theirs.degraded)
                })
            })
        };
        let found = difference("file", &self.files, &expected.files)
            .or_else(|| difference("skip", &self.skipped, &expected.skipped))
            .or_else(|| difference("chunks", &[self.n_chunks], &[expected.n_chunks]))
            .or_else(of_answers);
        match found {
            Some(difference) => Err(Failure::Finding(format!("{what}: {difference}"))),
            None => Ok(()),
        }
    }
}

fn difference<T: PartialEq + Debug>(name: &str, ours: &[T], expected: &[T]) -> Option<String> {
    let n = ours.len().max(expected.len());
    let at = (0..n).find(|&at| ours.get(at) != expected.get(at))?;
    Some(format!(
        "{name} {at} of {} and {}:\n{:#?}\nexpected:\n{:#?}",
        ours.len(),
        expected.len(),
        ours.get(at),
        expected.get(at)
    ))
}

/// A new index of `root`: what it says, and its bytes. It is made in `storage`, which is removed again.
pub fn fresh(root: &Path, storage: &Path) -> Result<(State, u64)> {
    let engine = open(root, storage).finding("opening a fresh index")?;
    engine.sync(&CancelToken::new(), &NoProgress).finding("building a fresh index")?;
    let state = State::of(&engine)?;
    engine.close();
    drop(engine);
    let bytes = Bytes::of(storage)?.sum();
    fs::remove_dir_all(storage).machine(format_args!("removing {}", storage.display()))?;
    Ok((state, bytes))
}
