//! An index on a server among the ways of searching: what it is asked, and the race between it and the search here.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::answer::Taker;
use super::cascade::{Answer, Search, Tries};
use super::local::Way;
use super::types::{Degradation, Hit, Outcome, SearchRequest};
use super::{Engine, Roots};
use crate::chunk::ChunkKind;
use crate::config::Config;
use crate::error::Error;
use crate::query::filter::Filter;
use crate::remote::{
    self, FileRef, Folder, Found, Gate, IndexedFiles, LocalError, LocalHit, LocalPart, LocalSearch,
    MergedHit, RemoteIndex, RemoteLimits, RemoteQuery,
};
use crate::span::LineRange;
use crate::store::{FileRow, Snapshot};
use crate::task::CancelToken;

use super::question::{self, Question};

/// How often one who waits asks whether it was cancelled.
const INTERVAL: Duration = Duration::from_millis(20);

/// What the server's part of a search came to.
struct Asked {
    answer: Option<Answer>,
    outcome: Outcome,
    reason: String,
    /// What a person should know where there is no answer.
    notices: Vec<Degradation>,
}

impl Asked {
    /// The server was not asked, or did not answer.
    fn without(outcome: Outcome, reason: String) -> Self {
        let mut notices = Vec::new();
        if outcome == Outcome::Failed {
            let message = format!("the index on the server could not be asked: {reason}");
            notices.push(Degradation { code: "REMOTE_INDEX_UNAVAILABLE", message });
        }
        Self { answer: None, outcome, reason, notices }
    }
}

impl Engine {
    /// Asks the server; if it takes longer than the settings say, or does not answer, `here` is asked as well and answers if
    /// it finds anything; the server is then told to stop. If it does not, the server is waited for.
    ///
    /// # Errors
    /// Those of `here`, and [`Error::Cancelled`].
    pub(super) fn race(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        tries: &mut Tries,
        index: &Arc<dyn RemoteIndex>,
        here: impl FnOnce(&mut Tries) -> Result<Answer, Error>,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        tries.ask_server();
        let stop = remote::child(cancel);
        let patience = search.config.settings.cascade.remote_wait;
        let (sender, receiver) = mpsc::channel();
        std::thread::scope(|scope| {
            let asking = stop.clone();
            let spawned = std::thread::Builder::new().name("sextant-remote".into()).spawn_scoped(
                scope,
                move || {
                    // Nobody listens any more once the search here has answered.
                    let _ = sender.send(self.ask_server(&asking, search, index));
                },
            );
            let with = |notices: Vec<Degradation>, answer: Answer| Answer {
                notices: notices.into_iter().chain(answer.notices).collect(),
                ..answer
            };
            // What a server says of an answer without hits is not true of the search here, which answers for all files.
            let note = |asked: Asked, tries: &mut Tries| {
                let Asked { answer, outcome, reason, notices } = asked;
                tries.add("remote", outcome, reason, started);
                let notices = if outcome == Outcome::Failed { notices } else { Vec::new() };
                answer.ok_or(notices)
            };
            if let Err(error) = spawned {
                let reason = format!("the system gives no thread: {error}");
                return match note(Asked::without(Outcome::Failed, reason), tries) {
                    Ok(answer) => Ok(answer),
                    Err(notices) => Ok(with(notices, here(tries)?)),
                };
            }
            let wait = |until: Option<Instant>| loop {
                match receiver.recv_timeout(INTERVAL) {
                    Ok(asked) => return Some(asked),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {
                        let is_due = until.is_some_and(|until| Instant::now() >= until);
                        if is_due || cancel.is_cancelled() {
                            return None;
                        }
                    }
                }
            };
            if let Some(asked) = wait(Some(started + patience)) {
                return match note(asked?, tries) {
                    Ok(answer) => Ok(answer),
                    Err(notices) => Ok(with(notices, here(tries)?)),
                };
            }
            cancel.check()?;
            let mut own = Tries::default();
            let answer = here(&mut own);
            let is_good = answer.as_ref().is_ok_and(|answer| !answer.shown.hits.is_empty());
            if is_good {
                stop.cancel();
                let reason = format!(
                    "it gave no answer within {} ms, and the search here had one first",
                    patience.as_millis()
                );
                tries.add("remote", Outcome::TimedOut, reason, started);
                tries.append(own);
                return answer;
            }
            // Nothing here: what the server still says is better than nothing.
            let late = wait(None);
            cancel.check()?;
            let Some(late) = late.transpose()? else {
                tries.append(own);
                return answer;
            };
            // The last that was tried is the one that answers.
            if late.answer.is_some() {
                tries.append(std::mem::take(&mut own));
            }
            let late = note(late, tries);
            tries.append(own);
            late.or_else(|notices| Ok(with(notices, answer?)))
        })
    }

    /// Asks the server and nobody else.
    ///
    /// # Errors
    /// [`Error::StrategyUnavailable`] with the reason.
    pub(super) fn remote_alone(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        tries: &mut Tries,
        index: &Arc<dyn RemoteIndex>,
    ) -> Result<Answer, Error> {
        let started = Instant::now();
        tries.ask_server();
        let Asked { answer, outcome, reason, notices } = self.ask_server(cancel, search, index)?;
        let why = format!("{reason}; use auto");
        tries.add("remote", outcome, reason, started);
        match (answer, outcome) {
            (Some(answer), _) => Ok(answer),
            (None, Outcome::Empty) => {
                Ok(Answer { strategy: "remote", shown: Taker::new(None).finish(), notices })
            }
            (None, _) => Err(Error::StrategyUnavailable { strategy: "remote", why }),
        }
    }

    fn ask_server(
        &self,
        cancel: &CancelToken,
        search: &Search<'_>,
        index: &Arc<dyn RemoteIndex>,
    ) -> Result<Asked, Error> {
        let roots = self.roots();
        let limits = limits(search.config);
        let folders: Vec<Folder> = roots
            .paths
            .iter()
            .zip(&roots.keys)
            .map(|(path, key)| Folder {
                name: name_of(path, key),
                resolution: remote::resolve(cancel, path, limits.diff_ms),
            })
            .collect();
        let files = self.read(|view, _| {
            Ok(Files::new(self, &roots, &view.snapshot, &search.question.filter))
        })?;
        let limit = search.question.limit(search.config, true);
        let query = RemoteQuery::new(&search.question.query.text, limit);
        let question = remote::Question {
            index: Some(index),
            folders: &folders,
            query: &query,
            limits: &limits,
            files: &files,
        };
        let here = Here { engine: self, search, roots: &roots };
        let outcome = match remote::search(cancel, &question, &here) {
            Ok(outcome) => outcome,
            Err(_) if cancel.is_cancelled() => return Err(Error::Cancelled),
            Err(reason) => return Ok(Asked::without(outcome_of(reason.gate), reason.to_string())),
        };
        let report = &outcome.report;
        let local = match &report.local {
            LocalPart::Failed { reason } => format!("failed: {reason}"),
            part => part.name().to_owned(),
        };
        let reason = format!(
            "{} for {}; {} changed files, searched here by: {local}",
            report.index,
            report.searched.join(", "),
            report.n_changed
        );
        let notices = outcome
            .warnings
            .into_iter()
            .map(|warning| Degradation { code: warning.code, message: warning.message })
            .collect();
        if outcome.hits.is_empty() {
            return Ok(Asked { answer: None, outcome: Outcome::Empty, reason, notices });
        }
        let mut taker = Taker::new(search.question.request.token_budget);
        for hit in outcome.hits {
            taker.add(files.hit(&roots, hit));
        }
        let answer = Answer { strategy: "remote", shown: taker.finish(), notices };
        let outcome = Outcome::Answered;
        Ok(Asked { answer: Some(answer), outcome, reason, notices: Vec::new() })
    }
}

/// What it comes to that a gate is closed: whether something is wrong, or all is as it was set.
fn outcome_of(gate: Gate) -> Outcome {
    match gate {
        Gate::NotAuthorized
        | Gate::StatusUnknown
        | Gate::IndexingFailed
        | Gate::DiffUnknown
        | Gate::SearchFailed => Outcome::Failed,
        Gate::Cancelled => Outcome::Cancelled,
        _ => Outcome::Skipped,
    }
}

/// The limits that the settings give.
fn limits(config: &Config) -> RemoteLimits {
    let cascade = &config.settings.cascade;
    let ms = |duration: Duration| duration.as_millis() as u64;
    RemoteLimits {
        max_changed_files: cascade.remote_max_changed_files,
        max_changed_share: f64::from(cascade.remote_max_changed_share),
        max_embedded_changes: cascade.remote_max_embedded_changes,
        local_embeddings_ms: ms(cascade.embeddings_wait),
        local_ms: ms(cascade.remote_local_wait),
        instant_indexing_ms: ms(cascade.instant_index_wait),
        ..RemoteLimits::standard()
    }
}

fn name_of(path: &Path, key: &str) -> String {
    path.file_name().map_or_else(|| key.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The files of the index, as the room `remote` asks for them.
struct Files<'a> {
    engine: &'a Engine,
    keys: &'a [String],
    /// For each root, path to language, and whether the filters allow it.
    roots: Vec<HashMap<String, (&'static str, bool)>>,
}

impl<'a> Files<'a> {
    fn new(engine: &'a Engine, roots: &'a Roots, snapshot: &Snapshot, filter: &Filter) -> Self {
        let mut maps = vec![HashMap::new(); roots.keys.len()];
        for file in &snapshot.files {
            let root = snapshot.root_path(file.root);
            let Some(at) = roots.keys.iter().position(|key| key == root) else { continue };
            let is_wanted = filter.allows_file(root, &file.meta.path, file.meta.language);
            maps[at].insert(file.meta.path.clone(), (file.meta.language, is_wanted));
        }
        Self { engine, keys: &roots.keys, roots: maps }
    }

    fn of(&self, file: &FileRef) -> Option<&(&'static str, bool)> {
        self.roots.get(file.folder)?.get(&file.path)
    }

    /// The last line of a file's chunks.
    fn last_line(&self, file: &FileRef) -> Result<Option<u32>, Error> {
        let Some(key) = self.keys.get(file.folder) else { return Ok(None) };
        self.engine.read(|view, connection| {
            let snapshot = &view.snapshot;
            let is_it =
                |row: &&FileRow| row.meta.path == file.path && snapshot.root_path(row.root) == key;
            let Some(row) = snapshot.files.iter().find(is_it) else { return Ok(None) };
            let records = snapshot.records(connection, row)?;
            Ok(records.iter().map(|record| record.lines.end).max())
        })
    }

    fn hit(&self, roots: &Roots, merged: MergedHit<Hit>) -> Hit {
        match merged.found {
            Found::Local(hit) => Hit { score: merged.score, ..hit },
            Found::Remote { text } => Hit {
                root: roots.keys.get(merged.file.folder).cloned().unwrap_or_default(),
                language: self.of(&merged.file).map_or("plaintext", |(language, _)| language),
                path: merged.file.path,
                start_line: merged.lines.start + 1,
                end_line: merged.lines.end.max(merged.lines.start + 1),
                kind: ChunkKind::Block.name(),
                name: None,
                score: merged.score,
                text,
                explanation: Vec::new(),
            },
        }
    }
}

impl IndexedFiles for Files<'_> {
    fn count(&self) -> usize {
        self.roots.iter().map(HashMap::len).sum()
    }

    fn is_indexed(&self, file: &FileRef) -> bool {
        self.of(file).is_some()
    }

    fn is_wanted(&self, file: &FileRef) -> bool {
        self.of(file).is_some_and(|(_, is_wanted)| *is_wanted)
    }

    fn n_lines(&self, file: &FileRef) -> Option<u32> {
        // A file that cannot be read is one whose lines are not known.
        self.last_line(file).ok().flatten()
    }

    fn wanted_in(&self, folder: usize, at_most: usize) -> Option<Vec<String>> {
        let mut wanted: Vec<String> = self
            .roots
            .get(folder)?
            .iter()
            .filter(|(_, (_, is_wanted))| *is_wanted)
            .map(|(path, _)| path.clone())
            .take(at_most + 1)
            .collect();
        wanted.sort();
        (wanted.len() <= at_most).then_some(wanted)
    }
}

/// The search of changed files.
struct Here<'a> {
    engine: &'a Engine,
    search: &'a Search<'a>,
    roots: &'a Roots,
}

impl Here<'_> {
    fn find(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        limit: usize,
        way: Way,
    ) -> Result<Vec<LocalHit<Hit>>, LocalError> {
        cancel.check()?;
        let failed = |error: Error| match error {
            Error::Cancelled => LocalError::Cancelled,
            error => LocalError::Failed { reason: error.chain() },
        };
        let only: HashSet<(String, String)> = files
            .iter()
            .filter_map(|file| Some((self.roots.keys.get(file.folder)?.clone(), file.path.clone())))
            .collect();
        let asked = &self.search.question;
        let request = SearchRequest {
            limit: Some(limit.max(1)),
            token_budget: None,
            ..asked.request.clone()
        };
        let question = Question {
            request: &request,
            query: asked.query.clone(),
            filter: question::filter(&request).map_err(failed)?,
        };
        let search = Search { question: &question, config: self.search.config, only: Some(&only) };
        let mut tries = Tries::default();
        let answer = self.engine.local(cancel, &search, &mut tries, &[way]).map_err(failed)?;
        // Files that were not looked at must not pass for files without hits.
        if let Some(reason) = tries.first_not_searched() {
            return Err(LocalError::Failed { reason: reason.to_owned() });
        }
        if let Some(notice) =
            answer.notices.iter().find(|notice| notice.code == "EMBEDDINGS_UNAVAILABLE")
        {
            return Err(LocalError::Failed { reason: notice.message.clone() });
        }
        let place = |hit: &Hit| self.roots.keys.iter().position(|key| *key == hit.root);
        Ok(answer
            .shown
            .hits
            .into_iter()
            .filter_map(|hit| {
                let file = FileRef { folder: place(&hit)?, path: hit.path.clone() };
                let lines = LineRange { start: hit.start_line - 1, end: hit.end_line };
                Some(LocalHit { file, lines, score: hit.score, hit })
            })
            .collect())
    }
}

impl LocalSearch<Hit> for Here<'_> {
    fn by_vectors(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        limit: usize,
    ) -> Result<Vec<LocalHit<Hit>>, LocalError> {
        let is_hybrid = self.search.config.settings.cascade.hybrid;
        let way = if is_hybrid { Way::Hybrid } else { Way::Embeddings };
        self.find(cancel, files, limit, way)
    }

    fn by_words(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        limit: usize,
    ) -> Result<Vec<LocalHit<Hit>>, LocalError> {
        self.find(cancel, files, limit, Way::Words)
    }
}
