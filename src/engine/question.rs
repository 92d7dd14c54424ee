//! A request that was found to make sense.

use std::path::Path;

use super::storage::real_path;
use super::types::SearchRequest;
use crate::config::Config;
use crate::error::Error;
use crate::query::filter::{BadFilter, Filter, is_absolute};
use crate::query::{self, Keyword, Query};

/// More hits than this are not an answer to a question.
pub const MAX_LIMIT: usize = 1000;
/// Tokens that a hit is reckoned with where a budget says how many are wanted. Source: the chunk size of VS Code Copilot
/// Chat 0.34, whose searches ask for a budget's worth of them.
const HIT_TOKENS: usize = 250;
/// Most hits that a budget stands for. Source: 32,000 tokens of the same.
const MOST_FOR_BUDGET: usize = 128;

/// A question.
pub struct Question<'a> {
    /// As it was asked.
    pub request: &'a SearchRequest,
    /// Understood.
    pub query: Query,
    /// Which chunks may be hits.
    pub filter: Filter,
}

impl From<BadFilter> for Error {
    fn from(bad: BadFilter) -> Self {
        Self::InvalidArgument { name: bad.name.into(), value: bad.value, expected: bad.expected }
    }
}

impl<'a> Question<'a> {
    /// # Errors
    /// An empty query, a limit out of bounds, an unknown filter.
    pub fn new(request: &'a SearchRequest) -> Result<Self, Error> {
        Self::understood(request, &request.query, &[])
    }

    /// As [`Question::new`], with the question and keywords of a language model.
    ///
    /// # Errors
    /// The same.
    pub fn understood(
        request: &'a SearchRequest,
        question: &str,
        keywords: &[Keyword],
    ) -> Result<Self, Error> {
        let of_caller = request.keywords.iter();
        let mut all: Vec<Keyword> =
            of_caller.map(|word| Keyword { word: word.clone(), variations: Vec::new() }).collect();
        all.extend_from_slice(keywords);
        let query = query::parse_keywords(question, &all);
        if query.is_blank() {
            return Err(Error::EmptyQuery);
        }
        if let Some(limit) = request.limit.filter(|limit| !(1..=MAX_LIMIT).contains(limit)) {
            return Err(Error::InvalidArgument {
                name: "limit".into(),
                value: limit.to_string(),
                expected: format!("1 to {MAX_LIMIT}"),
            });
        }
        let filter = filter(request)?;
        Ok(Self { request, query, filter })
    }

    /// Hits wanted: of the request, of its token budget, or of the settings.
    #[must_use]
    pub fn limit(&self, config: &Config, is_hybrid: bool) -> usize {
        let of_settings = match is_hybrid {
            true => config.settings.hybrid_search.top_k,
            false => config.settings.vector_db.search_result_limit,
        };
        let of_budget =
            self.request.token_budget.map(|budget| (budget / HIT_TOKENS).clamp(1, MOST_FOR_BUDGET));
        self.request.limit.or(of_budget).unwrap_or(of_settings)
    }
}

/// The filter of a request. Roots are real paths, so an absolute path that leads there over a link is taken as both.
///
/// # Errors
/// A glob, language or kind that does not exist.
pub fn filter(request: &SearchRequest) -> Result<Filter, Error> {
    let mut paths = request.paths.clone();
    for path in request.paths.iter().map(|path| path.trim()).filter(|path| is_absolute(path)) {
        paths.push(real_path(Path::new(path)).to_string_lossy().into_owned());
    }
    Ok(Filter::new(&paths, &request.languages, &request.kinds)?)
}
