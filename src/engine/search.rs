//! One question on one snapshot.

use rusqlite::Connection;

use super::types::{Degradation, Hit, SearchRequest, SearchResponse, Strategy};
use crate::config::Config;
use crate::config::ranking::Constants;
use crate::config::ranking::Weights;
use crate::error::Error;
use crate::present::{Fit, fit, one_based};
use crate::query::filter::{BadFilter, Filter};
use crate::query::{self, Query};
use crate::rank::{self, Facts, Ranked};
use crate::source::Language;
use crate::span::{ByteRange, LineRange};
use crate::store::codec::ChunkRecord;
use crate::store::{FileRow, Snapshot};
use crate::strategy::semantic::Statistics;
use crate::strategy::{self, Candidate, Retrieval};
use crate::task::CancelToken;
use crate::token::TokenCounter;

/// More hits than this are not an answer to a question.
pub const MAX_LIMIT: usize = 1000;

/// A request that was found to make sense.
pub struct Prepared<'a> {
    request: &'a SearchRequest,
    query: Query,
    filter: Filter,
    weights: Weights,
    strategy: &'static str,
}

impl From<BadFilter> for Error {
    fn from(bad: BadFilter) -> Self {
        Self::InvalidArgument { name: bad.name, value: bad.value, expected: bad.expected }
    }
}

impl<'a> Prepared<'a> {
    /// # Errors
    /// An empty query, a limit out of bounds, an unknown filter, a strategy that there is not.
    pub fn new(request: &'a SearchRequest, config: &Config) -> Result<Self, Error> {
        let query = query::parse(&request.query, &request.keywords);
        if query.is_blank() {
            return Err(Error::EmptyQuery);
        }
        if request.limit == 0 || request.limit > MAX_LIMIT {
            return Err(Error::InvalidArgument {
                name: "limit",
                value: request.limit.to_string(),
                expected: format!("1 to {MAX_LIMIT}"),
            });
        }
        let (strategy, weights) = match request.strategy {
            Strategy::Embeddings if !config.use_vectors => {
                return Err(Error::StrategyUnavailable {
                    strategy: "embeddings",
                    why: "the index is made without vectors; use tfidf",
                });
            }
            Strategy::Auto | Strategy::Hybrid if config.use_vectors => {
                ("hybrid", hybrid_weights(config))
            }
            Strategy::Auto | Strategy::Hybrid => ("tfidf", Weights { vector: 0.0, text: 1.0 }),
            Strategy::Tfidf => ("tfidf", Weights { vector: 0.0, text: 1.0 }),
            Strategy::Embeddings => ("embeddings", Weights { vector: 1.0, text: 0.0 }),
            Strategy::Full => {
                return Err(Error::StrategyUnavailable {
                    strategy: "full",
                    why: "whole workspaces are not answered yet; use auto",
                });
            }
            Strategy::Remote => {
                return Err(Error::StrategyUnavailable {
                    strategy: "remote",
                    why: "no remote index is configured; use auto",
                });
            }
        };
        let filter = Filter::new(&request.paths, &request.languages, &request.kinds)?;
        Ok(Self { request, query, filter, weights, strategy })
    }

    /// # Errors
    /// [`Error::Store`], [`Error::Cancelled`].
    pub fn answer(
        &self,
        cancel: &CancelToken,
        (snapshot, connection): (&Snapshot, &Connection),
        statistics: &Statistics,
        constants: &Constants,
    ) -> Result<SearchResponse, Error> {
        let retrieval = Retrieval {
            index: (snapshot, connection),
            statistics,
            query: &self.query,
            filter: &self.filter,
            weights: self.weights,
            limit: self.request.limit,
            constants,
        };
        let found = strategy::retrieve(cancel, &retrieval)?.ok_or(Error::Cancelled)?;
        let has_terms = self.weights.text > 0.0 && !self.query.terms.is_empty();
        let mut strategy = self.strategy;
        let mut list = found.list;
        // Also where the words are known but nowhere: names of one letter are indexed only where they are defined.
        if list.is_empty() && self.weights.text > 0.0 {
            strategy = "text";
            let limit = constants.candidates.max(self.request.limit);
            let at = (snapshot, connection);
            list = strategy::literal::find(cancel, at, &self.query.text, &self.filter, limit)?
                .ok_or(Error::Cancelled)?;
        }
        let mut degraded = self.notices(has_terms, found.has_vector);
        let (facts, records) = facts(snapshot, connection, &list)?;
        let ranked = rank::rank(&self.query, &facts, self.weights, self.request.limit, constants);
        let hits = self.present(snapshot, connection, (&facts, &records), &ranked)?;
        if hits.is_empty() && !ranked.is_empty() {
            degraded.push(Degradation {
                code: "BUDGET_TOO_SMALL",
                message: "there are hits, but not a line of the best fits into tokenBudget".into(),
            });
        }
        Ok(SearchResponse {
            query: self.request.query.clone(),
            strategy,
            took_ms: 0.0,
            degraded,
            hits,
        })
    }

    /// What made the answer less than the strategy promises.
    fn notices(&self, has_terms: bool, has_vector: bool) -> Vec<Degradation> {
        let mut notices = Vec::new();
        if self.query.is_cut {
            notices.push(Degradation {
                code: "QUERY_CUT",
                message: "the query is very long; words beyond its first part were left out".into(),
            });
        }
        if self.weights.vector > 0.0 && !has_vector {
            let instead = match (has_terms, self.weights.text > 0.0) {
                (true, _) => "it was answered by its terms alone",
                (false, true) => "it was answered by its characters alone",
                (false, false) => "ask with another strategy",
            };
            notices.push(Degradation {
                code: "QUERY_NOT_EMBEDDED",
                message: format!("the embedding model knows no word of the query; {instead}"),
            });
        }
        notices
    }

    fn present(
        &self,
        snapshot: &Snapshot,
        connection: &Connection,
        (facts, records): (&[Facts], &[ChunkRecord]),
        ranked: &[Ranked],
    ) -> Result<Vec<Hit>, Error> {
        let counter = TokenCounter::new();
        let mut left = self.request.token_budget;
        let mut hits = Vec::with_capacity(ranked.len());
        for hit in ranked {
            let record = &records[hit.candidate];
            let (bytes, lines) = hit.merged.iter().map(|&at| &records[at]).fold(
                (record.bytes, record.lines),
                |(bytes, lines), other| {
                    (union_bytes(bytes, other.bytes), union_lines(lines, other.lines))
                },
            );
            let file = &snapshot.files[facts[hit.candidate].file as usize];
            let mut text = snapshot.text(connection, file, bytes)?;
            text.truncate(text.trim_end_matches(['\n', '\r']).len());
            let (start_line, mut end_line) = one_based(lines);
            let mut is_last = false;
            if let Some(budget) = &mut left {
                match fit(&text, *budget, &counter) {
                    Fit::Whole(n) => *budget -= n,
                    Fit::Cut { n_bytes, n_lines } => {
                        text.truncate(n_bytes);
                        end_line = start_line + n_lines as u32 - 1;
                        is_last = true;
                    }
                    Fit::Nothing => break,
                }
            }
            hits.push(hit_of(
                snapshot,
                file,
                record,
                hit,
                (start_line, end_line),
                text,
                self.request.explain,
            ));
            if is_last {
                break;
            }
        }
        Ok(hits)
    }
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

/// The weights of the settings, rescaled to sum 1; both 0 are the standard ones.
fn hybrid_weights(config: &Config) -> Weights {
    let vector = config.vector_weight.max(0.0);
    let text = config.text_weight.max(0.0);
    let sum = vector + text;
    if sum > 0.0 {
        Weights { vector: vector / sum, text: text / sum }
    } else {
        let vector = config.ranking.vector_weight;
        Weights { vector, text: 1.0 - vector }
    }
}

/// What the rules need to know of each candidate, and its record. Candidates are ordered by chunk.
fn facts(
    snapshot: &Snapshot,
    connection: &Connection,
    candidates: &[Candidate],
) -> Result<(Vec<Facts>, Vec<ChunkRecord>), Error> {
    let mut facts = Vec::with_capacity(candidates.len());
    let mut records = Vec::with_capacity(candidates.len());
    let mut numbers = Vec::new();
    for of_file in candidates.chunk_by(|a, b| a.file == b.file) {
        let file = &snapshot.files[of_file[0].file as usize];
        let language = Language::from_name(file.meta.language).unwrap_or(Language::PLAIN);
        numbers.clear();
        numbers.extend(of_file.iter().map(|candidate| candidate.chunk - file.first_chunk));
        let of_file_records = snapshot.records_at(connection, file, &numbers)?;
        for (candidate, record) in of_file.iter().zip(of_file_records) {
            facts.push(Facts {
                file: candidate.file,
                path: file.meta.path.clone(),
                language,
                is_generated: file.meta.is_generated,
                kind: record.kind,
                symbols: record.symbols.clone(),
                bytes: record.bytes,
                lines: record.lines,
                lexical: candidate.lexical,
                semantic: candidate.semantic,
            });
            records.push(record);
        }
    }
    Ok((facts, records))
}

fn union_bytes(a: ByteRange, b: ByteRange) -> ByteRange {
    ByteRange { start: a.start.min(b.start), end: a.end.max(b.end) }
}

fn union_lines(a: LineRange, b: LineRange) -> LineRange {
    LineRange { start: a.start.min(b.start), end: a.end.max(b.end) }
}
