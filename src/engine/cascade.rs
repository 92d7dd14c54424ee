//! Which way of searching answers a question?
//!
//! `auto` takes the first of: the whole workspace if it is small and there is a budget for it, an index on a server,
//! vectors and words as one (or vectors, if so set), words. Source of the order, the gates and the waits: VS Code Copilot
//! Chat 0.34; of what follows when nothing was found (vectors alone, characters, common files): CodeBuddy. Whatever was
//! tried is told, with its reason.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use super::answer::{self, Shown};
use super::full::{self, Whole};
use super::local::{self, Place, Way};
use super::provider::{NoVector, Provider};
use super::question::Question;
use super::types::{Attempt, Degradation, Outcome, SearchResponse, Strategy};
use super::{Engine, milliseconds};
use crate::config::Config;
use crate::error::Error;
use crate::query::rewrite::{Rewritten, SearchIntent};
use crate::strategy::Vectors;
use crate::task::CancelToken;

/// What was tried so far.
#[derive(Default)]
pub struct Tries {
    list: Vec<Attempt>,
    /// Whether a server was asked, whose answers may change without our knowing.
    has_asked_server: bool,
}

impl Tries {
    /// Notes one.
    pub fn add(
        &mut self,
        strategy: &'static str,
        outcome: Outcome,
        reason: impl Into<String>,
        since: Instant,
    ) {
        let reason = reason.into();
        self.list.push(Attempt { strategy, outcome, reason, took_ms: milliseconds(since) });
    }

    /// Notes what another search has tried.
    pub fn append(&mut self, mut other: Self) {
        self.list.append(&mut other.list);
    }

    /// Notes that a server is asked.
    pub fn ask_server(&mut self) {
        self.has_asked_server = true;
    }

    /// The reason of the first that neither answered nor looked in vain.
    #[must_use]
    pub fn first_not_searched(&self) -> Option<&str> {
        let is_searched = |outcome| matches!(outcome, Outcome::Answered | Outcome::Empty);
        let not = self.list.iter().find(|attempt| !is_searched(attempt.outcome));
        not.map(|attempt| attempt.reason.as_str())
    }

    fn has_failed(&self) -> bool {
        self.list.iter().any(|attempt| {
            matches!(attempt.outcome, Outcome::Failed | Outcome::TimedOut | Outcome::Cancelled)
        })
    }
}

/// An answer in the making.
pub struct Answer {
    /// Who gave it.
    pub strategy: &'static str,
    /// Its hits.
    pub shown: Shown,
    /// What makes it less than complete.
    pub notices: Vec<Degradation>,
}

/// The vectors that a search may use.
pub enum Source {
    /// None, for this reason.
    Off(String),
    /// Those of the embedded model.
    Embedded,
    /// Those of a provider, and the query's.
    Provided(Arc<Provider>, Arc<Vec<f32>>),
    /// A provider's, but it gave none for the query.
    Failed(NoVector),
}

/// What is searched, and how.
pub struct Search<'a> {
    /// The question.
    pub question: &'a Question<'a>,
    /// Settings.
    pub config: &'a Config,
    /// Paths of the only files that may have hits, each with its root; `None` for any.
    pub only: Option<&'a HashSet<(String, String)>>,
}

impl Engine {
    /// Answers as the request says.
    ///
    /// # Errors
    /// Those of [`Engine::search`].
    pub(super) fn decide(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        tries: &mut Tries,
    ) -> Result<Answer, Error> {
        match search.question.request.strategy {
            Strategy::Auto => self.cascade(cancel, search, tries),
            Strategy::Full => self.full(cancel, search, tries)?.map_err(|why| {
                Error::StrategyUnavailable { strategy: "full", why: format!("{why}; use auto") }
            }),
            Strategy::Remote => match &self.remote_index() {
                Some(_) if search.question.filter.has_kinds() => Err(Error::StrategyUnavailable {
                    strategy: "remote",
                    why: format!("{SERVER_KNOWS_NO_KINDS}; use auto"),
                }),
                Some(index) => self.remote_alone(cancel, search, tries, index),
                None => Err(Error::StrategyUnavailable {
                    strategy: "remote",
                    why: "no index on a server is configured; use auto".into(),
                }),
            },
            Strategy::Embeddings => match no_vectors(search.config) {
                Some(why) => Err(Error::StrategyUnavailable {
                    strategy: "embeddings",
                    why: format!("{why}; use auto"),
                }),
                None => self.local(cancel, search, tries, &[Way::Embeddings]),
            },
            Strategy::Tfidf => self.local(cancel, search, tries, &[Way::Words, Way::Text]),
            Strategy::Hybrid => self.local(cancel, search, tries, &ALL),
        }
    }

    fn cascade(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        tries: &mut Tries,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        let cascade = &search.config.settings.cascade;
        if !cascade.full_workspace {
            tries.add("full", Outcome::Skipped, "cascade.fullWorkspace is off", started);
        } else if search.question.request.token_budget.is_none() {
            let reason = "the search has no token budget, which whole files are for";
            tries.add("full", Outcome::Skipped, reason, started);
        } else if let Ok(answer) = self.full(cancel, search, tries)? {
            return Ok(answer);
        }
        let first = if cascade.hybrid { Way::Hybrid } else { Way::Embeddings };
        let ways = [first, Way::Words, Way::Embeddings, Way::Text, Way::CommonFiles];
        let here = |tries: &mut Tries| self.local(cancel, search, tries, &ways);
        let started = Instant::now();
        match &self.remote_index() {
            None => {
                let reason = "no index on a server is configured";
                tries.add("remote", Outcome::Skipped, reason, started);
                here(tries)
            }
            Some(_) if !cascade.remote => {
                tries.add("remote", Outcome::Skipped, "cascade.remote is off", started);
                here(tries)
            }
            Some(_) if search.question.filter.has_kinds() => {
                tries.add("remote", Outcome::Skipped, SERVER_KNOWS_NO_KINDS, started);
                here(tries)
            }
            Some(index) => self.race(cancel, search, tries, index, here),
        }
    }

    /// The whole workspace, or why it is no answer.
    fn full(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        tries: &mut Tries,
    ) -> Result<Result<Answer, String>, Error> {
        let started = Instant::now();
        let whole = self.read(|view, connection| {
            full::whole(cancel, view, connection, search.question, search.config)
        })?;
        Ok(match whole {
            Whole::Shown(shown) => {
                let n = shown.hits.len();
                let tokens = shown.tokens;
                let reason = format!("{n} files with {tokens} tokens: all of it");
                tries.add("full", Outcome::Answered, reason, started);
                Ok(Answer { strategy: "full", shown, notices: Vec::new() })
            }
            Whole::TooLarge(reason) => {
                let why = format!("the workspace is too large for it ({reason})");
                tries.add("full", Outcome::Skipped, reason, started);
                Err(why)
            }
            Whole::Not(reason) => {
                tries.add("full", Outcome::Skipped, reason.clone(), started);
                Err(reason)
            }
        })
    }

    /// The first of `ways` that finds something.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::Cancelled`].
    pub(super) fn local(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        tries: &mut Tries,
        ways: &[Way],
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        let mut notices = Vec::new();
        let wants_vectors = ways.iter().any(|way| matches!(way, Way::Hybrid | Way::Embeddings));
        let source = if wants_vectors {
            self.source(cancel, search, &mut notices)?
        } else {
            // Words are ranked again by what costs nothing.
            no_vectors(search.config).map_or(Source::Embedded, |why| Source::Off(why.into()))
        };
        self.read(|view, connection| {
            let snapshot = &view.snapshot;
            let only = search.only.map(|only| {
                let is_wanted = |file: &crate::store::FileRow| {
                    let root = snapshot.root_path(file.root).to_owned();
                    only.contains(&(root, file.meta.path.clone()))
                };
                let files = (0u32..).zip(&snapshot.files);
                files.filter(|(_, file)| is_wanted(file)).map(|(at, _)| at).collect()
            });
            let statistics = view.statistics(connection, search.config)?;
            let place = Place {
                snapshot,
                connection,
                statistics,
                config: search.config,
                only: only.as_ref(),
            };
            let dense = match &source {
                Source::Provided(provider, _) => Some(provider.index(view, connection)?),
                _ => None,
            };
            let vectors = match (&source, &dense) {
                (Source::Provided(_, query), Some(index)) => Vectors::Provided(index, query),
                (Source::Off(_), _) => Vectors::None,
                _ => Vectors::Embedded,
            };
            if let Some(index) = dense.as_ref().filter(|index| index.n_missing > 0) {
                notices.push(incomplete(index.n_missing as u64, index.n_texts as u64));
            }
            let mut walk = Walk { search, source: &source, tries, notices, has_failed: None };
            let mut since = started;
            for &way in ways {
                cancel.check()?;
                let n_files = only.as_ref().map_or(snapshot.files.len(), HashSet::len);
                if !walk.may(way, n_files, since) {
                    continue;
                }
                let found = local::find(cancel, place, search.question, way, vectors)?;
                let shown = answer::show((snapshot, connection), search.question, &found)?;
                let n_ranked = found.ranked.len();
                if walk.answers(way, found.has_vector, n_ranked, since) {
                    walk.notices.extend(found.notice.map(Degradation::from));
                    let notices = walk.finish(Some(way), n_ranked > 0 && shown.hits.is_empty());
                    return Ok(Answer { strategy: way.name(), shown, notices });
                }
                since = Instant::now();
            }
            let strategy = ways.first().map_or("hybrid", |way| way.name());
            let notices = walk.finish(None, false);
            Ok(Answer { strategy, shown: Shown::default(), notices })
        })
    }

    /// The vectors that a search may use, and those of the query; waits for a provider as the settings say.
    fn source(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        notices: &mut Vec<Degradation>,
    ) -> Result<Source, Error> {
        let settings = &search.config.settings;
        if let Some(why) = no_vectors(search.config) {
            return Ok(Source::Off(why.into()));
        }
        let serving = self.serving();
        notices.extend(serving.notice);
        let Some(provider) = serving.provider else { return Ok(Source::Embedded) };
        let patience = settings.embedding.query_timeout.min(settings.cascade.embeddings_wait);
        match provider.query(cancel, &search.question.query.text, patience) {
            Ok(vector) => Ok(Source::Provided(provider, vector)),
            Err(_) if cancel.is_cancelled() => Err(Error::Cancelled),
            Err(no_vector) => {
                // What answers instead is added once it is known.
                let model = provider.embedder().model().id();
                let message = format!("{model}: {}", no_vector.reason);
                notices.push(Degradation { code: "EMBEDDINGS_UNAVAILABLE", message });
                Ok(Source::Failed(no_vector))
            }
        }
    }
}

/// Why a server is not asked for chunks of some kinds.
const SERVER_KNOWS_NO_KINDS: &str = "the server knows no kinds; a kind was asked for";

/// Why there are no vectors to search, if so.
fn no_vectors(config: &Config) -> Option<&'static str> {
    if !config.use_vectors {
        return Some("the index is made without vectors");
    }
    (!config.settings.vector_db.enabled).then_some("vectorDb.enabled is off")
}

/// A notice that some texts have no vector yet.
pub fn incomplete(n_missing: u64, n_texts: u64) -> Degradation {
    let message = format!(
        "{n_missing} of {n_texts} texts have no vector yet and are found by words alone; they are embedded by the next run"
    );
    Degradation { code: "EMBEDDINGS_INCOMPLETE", message }
}

/// Every way, best first.
const ALL: [Way; 5] = [Way::Hybrid, Way::Words, Way::Embeddings, Way::Text, Way::CommonFiles];

/// The way through the ways.
struct Walk<'a, 'b> {
    search: &'a Search<'b>,
    source: &'a Source,
    tries: &'a mut Tries,
    notices: Vec<Degradation>,
    /// The first way by vectors, if it did not find anything, and whether vectors took part.
    has_failed: Option<bool>,
}

impl Walk<'_, '_> {
    /// Whether `way` may be gone; notes why not.
    fn may(&mut self, way: Way, n_files: usize, since: Instant) -> bool {
        let settings = &self.search.config.settings;
        let cascade = &settings.cascade;
        let is_auto = self.search.question.request.strategy == Strategy::Auto;
        let is_chain =
            matches!(self.search.question.request.strategy, Strategy::Auto | Strategy::Hybrid);
        let words = cascade.tfidf_max_files;
        let not = match way {
            Way::Hybrid | Way::Embeddings if is_chain && self.has_failed.is_none() => {
                match self.source {
                    Source::Off(reason) => Some((Outcome::Skipped, reason.clone())),
                    _ if is_auto && !cascade.embeddings => {
                        Some((Outcome::Skipped, "cascade.embeddings is off".into()))
                    }
                    Source::Failed(NoVector { reason, is_late: true }) => {
                        Some((Outcome::TimedOut, reason.clone()))
                    }
                    Source::Failed(NoVector { reason, .. }) => {
                        Some((Outcome::Failed, reason.clone()))
                    }
                    _ => None,
                }
            }
            Way::Hybrid | Way::Embeddings if is_chain => {
                // The last resort of vectors: where words have failed and vectors have not been asked.
                match (self.has_failed, self.source) {
                    (Some(true), _) | (_, Source::Off(_)) => return false,
                    _ if !cascade.fallback_vectors => {
                        Some((Outcome::Skipped, "cascade.fallbackVectors is off".into()))
                    }
                    _ => None,
                }
            }
            Way::Hybrid | Way::Embeddings => match self.source {
                Source::Off(reason) => Some((Outcome::Skipped, reason.clone())),
                Source::Failed(no) => Some((Outcome::Failed, no.reason.clone())),
                _ => None,
            },
            Way::Words if is_auto && !cascade.tfidf => {
                Some((Outcome::Skipped, "cascade.tfidf is off".into()))
            }
            Way::Words
                if is_chain
                    && self.has_failed.is_some()
                    && !settings.vector_db.fallback_to_keyword_search =>
            {
                Some((Outcome::Skipped, "vectorDb.fallbackToKeywordSearch is off".into()))
            }
            Way::Words if words > 0 && n_files > words => Some((
                Outcome::Skipped,
                format!("{n_files} files; at most {words} are searched by words"),
            )),
            Way::Text if is_chain && !cascade.fallback_text => {
                Some((Outcome::Skipped, "cascade.fallbackText is off".into()))
            }
            Way::CommonFiles if !cascade.fallback_common_files => {
                Some((Outcome::Skipped, "cascade.fallbackCommonFiles is off".into()))
            }
            Way::CommonFiles
                if self.search.question.query.is_symbol
                    || !self.search.question.filter.is_open()
                    || self.search.only.is_some() =>
            {
                return false;
            }
            _ => None,
        };
        let Some((outcome, reason)) = not else { return true };
        if matches!(way, Way::Hybrid | Way::Embeddings) && outcome != Outcome::Skipped {
            self.has_failed = Some(false);
        }
        self.tries.add(way.name(), outcome, reason, since);
        false
    }

    /// Notes what came of `way`; whether it answers.
    fn answers(&mut self, way: Way, has_vector: bool, n_hits: usize, since: Instant) -> bool {
        let by_vectors = matches!(way, Way::Hybrid | Way::Embeddings);
        let is_chain =
            matches!(self.search.question.request.strategy, Strategy::Auto | Strategy::Hybrid);
        let has_terms = !self.search.question.query.terms.is_empty();
        if by_vectors && !has_vector {
            let reason = match self.source {
                Source::Provided(provider, _) => {
                    let model = provider.embedder().model().id();
                    format!("there is no vector of {model} that the query's can be compared with")
                }
                _ => "the embedded model knows no word of the query".to_owned(),
            };
            self.has_failed = Some(true);
            let instead = match (is_chain, has_terms) {
                (true, true) => "it was answered by its terms alone",
                (true, false) => "it was answered by its characters alone",
                (false, _) => "ask with another strategy",
            };
            let message = format!("{reason}; {instead}");
            self.notices.push(Degradation { code: "QUERY_NOT_EMBEDDED", message });
            self.tries.add(way.name(), Outcome::Failed, reason, since);
            return false;
        }
        if n_hits == 0 {
            if by_vectors {
                self.has_failed = Some(true);
            }
            self.tries.add(way.name(), Outcome::Empty, "nothing was found", since);
            return false;
        }
        let n = if n_hits == 1 { "1 hit".to_owned() } else { format!("{n_hits} hits") };
        let with = match (by_vectors, self.source) {
            (true, Source::Provided(provider, _)) => {
                format!(", vectors of {}", provider.embedder().model().id())
            }
            _ => String::new(),
        };
        self.tries.add(way.name(), Outcome::Answered, format!("{n}{with}"), since);
        true
    }

    /// Says what answers in place of a provider that failed; `None` if nothing does.
    fn note_what_answers(&mut self, way: Option<Way>) {
        if !matches!(self.source, Source::Failed(_)) {
            return;
        }
        let notices = &mut self.notices;
        let Some(notice) = notices.iter_mut().rfind(|it| it.code == "EMBEDDINGS_UNAVAILABLE")
        else {
            return;
        };
        let instead = match way {
            Some(Way::Words) => "it is answered by words, ranked by the embedded model",
            Some(Way::Hybrid | Way::Embeddings) => {
                "it is answered by the vectors of the embedded model"
            }
            Some(Way::Text) => "it is answered by its characters alone",
            None if self.search.question.request.strategy == Strategy::Embeddings => {
                "ask again later or with another strategy"
            }
            Some(Way::CommonFiles) | None => "nothing else found anything",
        };
        let settings = &self.search.config.settings;
        let is_chain =
            matches!(self.search.question.request.strategy, Strategy::Auto | Strategy::Hybrid);
        if is_chain && !settings.vector_db.fallback_to_keyword_search {
            notice.message += "; vectorDb.fallbackToKeywordSearch is off, so words are not asked";
        }
        notice.message += "; ";
        notice.message += instead;
    }

    fn finish(mut self, way: Option<Way>, is_cut_to_nothing: bool) -> Vec<Degradation> {
        self.note_what_answers(way);
        if way == Some(Way::CommonFiles) {
            let message = "nothing was found; these files tell what the project is".to_owned();
            self.notices.push(Degradation { code: "NOTHING_FOUND", message });
        }
        if is_cut_to_nothing {
            let message =
                "there are hits, but not a line of the best fits into tokenBudget".to_owned();
            self.notices.push(Degradation { code: "BUDGET_TOO_SMALL", message });
        }
        self.notices
    }
}

impl Answer {
    /// The whole response.
    pub fn into_response(
        self,
        question: &Question<'_>,
        understood: &Rewritten,
        tries: Tries,
        started: Instant,
    ) -> (SearchResponse, bool) {
        let may_be_kept = !tries.has_asked_server
            && !tries.has_failed()
            && self.notices.is_empty()
            && understood.notices.is_empty();
        let mut degraded: Vec<Degradation> =
            understood.notices.iter().cloned().map(Degradation::from).collect();
        if question.query.is_cut {
            degraded.push(Degradation {
                code: "QUERY_CUT",
                message: "the query is very long; words beyond its first part were left out".into(),
            });
        }
        degraded.extend(self.notices);
        let response = SearchResponse {
            query: question.request.query.clone(),
            question: question.query.text.clone(),
            keywords: understood.keywords.clone(),
            intent: understood.intent.map(SearchIntent::name),
            strategy: self.strategy,
            tried: tries.list,
            took_ms: milliseconds(started),
            degraded,
            hits: self.shown.hits,
            tokens: self.shown.tokens,
            omitted_hits: self.shown.omitted_hits,
            omitted_lines: self.shown.omitted_lines,
            is_cached: false,
        };
        (response, may_be_kept)
    }
}
