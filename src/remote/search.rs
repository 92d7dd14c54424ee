//! One question, asked of the server and of what has changed here.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::call::{self, Call, TICK};
use super::diff::{Diff, DiffError, diff};
use super::error::RemoteError;
use super::gate::{Gate, GateReason, LeftOut, furthest, resolved};
use super::limits::RemoteLimits;
use super::local::{self, LocalAnswer, LocalPart, LocalSearch};
use super::merge::{MergedHit, PlacedHit, Rejected, merge, place};
use super::ready::standings;
use super::types::{
    FileRef, Folder, IndexedFiles, RemoteAnswer, RemoteIndex, RemoteQuery, Repository, Warning,
};
use crate::task::CancelToken;

/// What is asked, and of what.
pub struct Question<'a> {
    /// The index on the server; `None` if it is switched off.
    pub index: Option<&'a Arc<dyn RemoteIndex>>,
    /// The folders of the workspace. Every file of the local index belongs to one.
    pub folders: &'a [Folder],
    /// The question.
    pub query: &'a RemoteQuery,
    /// What it may cost.
    pub limits: &'a RemoteLimits,
    /// The local index.
    pub files: &'a dyn IndexedFiles,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Outcome<H> {
    /// Best first, at most as many as were asked for. May be empty.
    pub hits: Vec<MergedHit<H>>,
    /// What a person should know about it.
    pub warnings: Vec<Warning>,
    /// What was done.
    pub report: Report,
}

/// What was done for an answer.
#[derive(Clone, Debug)]
pub struct Report {
    /// [`RemoteIndex::name`].
    pub index: String,
    /// [`Repository::key`] of those that the server answered for.
    pub searched: Vec<String>,
    /// Folders that it did not answer for, and why.
    pub left_out: Vec<LeftOut>,
    /// Files of the index that are not as in the indexed commits.
    pub n_changed: usize,
    /// Files of other folders that were searched here, because they are few.
    pub n_others: usize,
    /// How the changed files and those were searched.
    pub local: LocalPart,
    /// Hits of the server that were dropped.
    pub rejected: Rejected,
    /// Wall time of all, in milliseconds.
    pub took_ms: f64,
    /// Of it, until the server had answered the question, from when it was asked.
    pub remote_ms: f64,
    /// Of it, until the changed files were searched, from when that began; `None` if it did not end well.
    pub local_ms: Option<f64>,
}

/// A repository that the server can be asked about, and what has changed in it.
struct Source<'a> {
    folder: usize,
    repository: &'a Repository,
    commit: Option<String>,
    diff: Diff,
}

/// Asks the server, and searches here what the server does not have as it is now.
///
/// The server is decisive: without an answer for at least one repository there is none, and the local search stops. A
/// repository that fails does not cost the answers of the others; its files are searched here if they, and the changed
/// ones, are at most [`RemoteLimits::max_embedded_changes`], and else a warning says that they were not.
///
/// Takes at most [`RemoteLimits::call_ms`] for asking how things stand, then as much as is allowed for instant indexing, the
/// diff and one more call, and returns soon after `cancel`.
///
/// # Errors
/// Why the server was not asked or did not answer.
pub fn search<H: Send>(
    cancel: &CancelToken,
    question: &Question<'_>,
    local: &dyn LocalSearch<H>,
) -> Result<Outcome<H>, GateReason> {
    let begun = Instant::now();
    let Some(index) = question.index else {
        return Err(GateReason::new(Gate::SettingOff, ""));
    };
    let mut left_out = Vec::new();
    let sources = sources(cancel, index, question, &mut left_out);
    if cancel.is_cancelled() {
        return Err(GateReason::new(Gate::Cancelled, ""));
    }
    if sources.is_empty() {
        return Err(furthest(&left_out));
    }
    let n_changed = check_size(&sources, question)?;
    let others = few_others(question, &left_out, n_changed);
    let to_search = to_search_here(question, &sources, &others);
    let answers = ask_both(cancel, index, question, &sources, &to_search, local, begun)?;

    let mut warnings = Vec::new();
    let (mut placed, mut rejected) = (Vec::new(), Rejected::default());
    let (mut searched, mut last_error) = (Vec::new(), None);
    for (source, answer) in sources.iter().zip(answers.remote) {
        match answer {
            Ok(answer) => {
                warnings.extend(about_commit(question, source, &answer));
                placed.extend(placed_hits(source, answer, question, &mut rejected));
                searched.push(source.repository.key());
            }
            Err(error) => {
                left_out.push(left(question, source.folder, failed(&error)));
                last_error = Some(error);
            }
        }
    }
    if searched.is_empty() {
        return Err(match last_error {
            Some(RemoteError::Cancelled) => GateReason::new(Gate::Cancelled, ""),
            _ => furthest(&left_out),
        });
    }
    let is_uncovered = |left: &&LeftOut| {
        answers.local.is_err() || others.iter().all(|(folder, _)| *folder != left.folder)
    };
    warnings.extend(about_left_out(&left_out.iter().filter(is_uncovered).collect::<Vec<_>>()));
    let (part, hits) = match answers.local {
        Ok((part, hits)) => (part, Some(hits)),
        Err(part) => {
            warnings.push(Warning {
                code: "REMOTE_INDEX_BEHIND",
                message: "the index of the server is still behind; only it was asked, so the \
                          answer may be less accurate"
                    .into(),
            });
            (part, None)
        }
    };
    let searched_here: HashSet<FileRef> = to_search.into_iter().collect();
    let gone: HashSet<FileRef> = sources
        .iter()
        .flat_map(|source| {
            let file = |path: &String| FileRef { folder: source.folder, path: path.clone() };
            source.diff.gone.iter().map(file)
        })
        .collect();
    Ok(Outcome {
        hits: merge(placed, hits, &searched_here, &gone, question.query.limit()),
        warnings,
        report: Report {
            index: index.name().to_owned(),
            searched,
            left_out,
            n_changed,
            n_others: others.iter().map(|(_, paths)| paths.len()).sum(),
            local: part,
            rejected,
            took_ms: milliseconds(begun),
            remote_ms: answers.remote_ms,
            local_ms: answers.local_ms,
        },
    })
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

fn left(question: &Question<'_>, folder: usize, reason: GateReason) -> LeftOut {
    LeftOut { folder, name: question.folders[folder].name.clone(), reason }
}

fn failed(error: &RemoteError) -> GateReason {
    let gate = match error {
        RemoteError::Cancelled => Gate::Cancelled,
        error if error.is_about_permission() => Gate::NotAuthorized,
        _ => Gate::SearchFailed,
    };
    GateReason::new(gate, error.to_string())
}

/// The repositories that are ready and whose changes are known; the other folders are added to `left_out`.
fn sources<'a>(
    cancel: &CancelToken,
    index: &Arc<dyn RemoteIndex>,
    question: &Question<'a>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Source<'a>> {
    let (repositories, unresolved) = resolved(question.folders);
    left_out.extend(unresolved);
    let only: Vec<&Repository> = repositories.iter().map(|&(_, repository)| repository).collect();
    let mut ready = Vec::new();
    let standings = standings(cancel, index, &only, question.limits);
    for ((folder, repository), standing) in repositories.into_iter().zip(standings) {
        match standing {
            Ok(commit) => ready.push((folder, repository, commit)),
            Err(reason) => left_out.push(left(question, folder, reason)),
        }
    }
    let diffs: Vec<Result<Diff, DiffError>> = thread::scope(|scope| {
        let threads: Vec<_> = ready
            .iter()
            .map(|(folder, repository, commit)| {
                let is_indexed = |path: &str| {
                    question.files.is_indexed(&FileRef { folder: *folder, path: path.to_owned() })
                };
                let run = move || {
                    diff(cancel, repository, commit.as_deref(), question.limits, is_indexed)
                };
                thread::Builder::new().name("sextant-remote-diff".into()).spawn_scoped(scope, run)
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| match thread.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(diff)) => diff,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => Err(DiffError::Unknown {
                    reason: format!("the system gives no thread: {error}"),
                }),
            })
            .collect()
    });
    let mut sources = Vec::new();
    for ((folder, repository, commit), diff) in ready.into_iter().zip(diffs) {
        let gate = match &diff {
            Ok(_) => Gate::DiffUnknown,
            Err(DiffError::Cancelled) => Gate::Cancelled,
            Err(DiffError::Unknown { .. }) => Gate::DiffUnknown,
            Err(DiffError::TooLarge { .. }) => Gate::DiffTooLarge,
        };
        match diff {
            Ok(diff) => sources.push(Source { folder, repository, commit, diff }),
            Err(error) => {
                let reason = GateReason::new(gate, error.to_string());
                left_out.push(left(question, folder, reason));
            }
        }
    }
    sources
}

/// The number of changed files, if it is not too large.
fn check_size(sources: &[Source<'_>], question: &Question<'_>) -> Result<usize, GateReason> {
    let limits = question.limits;
    let n_changed: usize = sources.iter().map(|source| source.diff.changed.len()).sum();
    if n_changed > limits.max_changed_files {
        let detail = format!("{n_changed} files, at most {}", limits.max_changed_files);
        return Err(GateReason::new(Gate::DiffTooLarge, detail));
    }
    let n_files = question.files.count();
    if n_changed as f64 > limits.max_changed_share * n_files as f64 {
        let detail = format!(
            "{n_changed} of {n_files} files, at most {:.0} %",
            limits.max_changed_share * 100.0
        );
        return Err(GateReason::new(Gate::DiffTooLarge, detail));
    }
    Ok(n_changed)
}

/// The files of folders that are left out, as far as they are few enough to be searched like changed ones.
fn few_others(
    question: &Question<'_>,
    left_out: &[LeftOut],
    n_changed: usize,
) -> Vec<(usize, Vec<String>)> {
    let mut room = question.limits.max_embedded_changes.saturating_sub(n_changed);
    let mut others = Vec::new();
    for left in left_out {
        if let Some(paths) = question.files.wanted_in(left.folder, room)
            && paths.len() <= room
        {
            room -= paths.len();
            others.push((left.folder, paths));
        }
    }
    others
}

/// The files to be searched here, in order.
fn to_search_here(
    question: &Question<'_>,
    sources: &[Source<'_>],
    others: &[(usize, Vec<String>)],
) -> Vec<FileRef> {
    let changed = sources.iter().map(|source| (source.folder, &source.diff.changed));
    let others = others.iter().map(|(folder, paths)| (*folder, paths));
    let mut files: Vec<FileRef> = changed
        .chain(others)
        .flat_map(|(folder, paths)| {
            paths.iter().map(move |path| FileRef { folder, path: path.clone() })
        })
        .filter(|file| question.files.is_wanted(file))
        .collect();
    files.sort();
    files.dedup();
    files
}

struct Answers<H> {
    remote: Vec<Result<RemoteAnswer, RemoteError>>,
    remote_ms: f64,
    local: LocalAnswer<H>,
    local_ms: Option<f64>,
}

/// Asks the server about all sources while the files are searched here. The local search does not outlast the server's
/// failure.
fn ask_both<H: Send>(
    cancel: &CancelToken,
    index: &Arc<dyn RemoteIndex>,
    question: &Question<'_>,
    sources: &[Source<'_>],
    to_search: &[FileRef],
    local: &dyn LocalSearch<H>,
    begun: Instant,
) -> Result<Answers<H>, GateReason> {
    let limits = question.limits;
    let query = question.query;
    let calls: Vec<Call<RemoteAnswer>> = sources
        .iter()
        .map(|source| -> Call<RemoteAnswer> {
            let (index, query) = (Arc::clone(index), query.clone());
            let repository = source.repository.clone();
            Box::new(move |cancel| index.search(cancel, &repository, &query))
        })
        .collect();
    let of_local = call::child(cancel);
    let (sender, receiver) = mpsc::channel();
    let asked = Instant::now();
    thread::scope(|scope| {
        let search_here = || {
            local::search(&of_local, to_search, query.limit(), limits, local, |answer| {
                let local_ms = answer.is_ok().then(|| milliseconds(asked));
                // The receiver is gone once nobody waits any more.
                drop(sender.send((answer, local_ms)));
            });
        };
        thread::Builder::new()
            .name("sextant-remote-changed".into())
            .spawn_scoped(scope, search_here)
            .map_err(|error| {
                let detail = format!("the system gives no thread: {error}");
                GateReason::new(Gate::SearchFailed, detail)
            })?;
        let remote = call::all(cancel, limits.call_ms, calls);
        let remote_ms = milliseconds(asked);
        let mut answers =
            Answers { remote, remote_ms, local: Err(LocalPart::TimedOut), local_ms: None };
        if answers.remote.iter().any(Result::is_ok) {
            let latest = asked + Duration::from_millis(limits.local_ms);
            let latest = latest.min(begun + Duration::from_millis(limits.answer_ms));
            while !cancel.is_cancelled() {
                let left = latest.saturating_duration_since(Instant::now());
                match receiver.recv_timeout(left.min(TICK)) {
                    Ok((local, local_ms)) => {
                        (answers.local, answers.local_ms) = (local, local_ms);
                        break;
                    }
                    Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                    Err(_) => break,
                }
            }
        }
        of_local.cancel();
        if cancel.is_cancelled() {
            return Err(GateReason::new(Gate::Cancelled, ""));
        }
        Ok(answers)
    })
}

/// The hits of one answer that can be true.
fn placed_hits(
    source: &Source<'_>,
    answer: RemoteAnswer,
    question: &Question<'_>,
    rejected: &mut Rejected,
) -> Vec<PlacedHit> {
    place(answer.hits, source.folder, source.repository, question.files, rejected)
}

/// Whether the lines of an answer may be off, because it is from another commit than the changes are counted from.
fn about_commit(
    question: &Question<'_>,
    source: &Source<'_>,
    answer: &RemoteAnswer,
) -> Option<Warning> {
    let name = &question.folders[source.folder].name;
    if source.diff.maybe_outdated {
        return Some(Warning {
            code: "REMOTE_COMMIT_UNKNOWN",
            message: format!(
                "the indexed commit of {name} is not here, so changes were counted from the \
                 upstream branch and some lines may be off; run git fetch"
            ),
        });
    }
    let is_same = match (&source.commit, &answer.commit) {
        (Some(expected), Some(found)) => expected.eq_ignore_ascii_case(found),
        _ => true,
    };
    (!is_same).then(|| Warning {
        code: "REMOTE_INDEX_MOVED",
        message: format!(
            "the server answered for {name} from another commit than it said it has, so some \
             lines may be off; ask again"
        ),
    })
}

/// Which folders no part of the answer is from.
fn about_left_out(left_out: &[&LeftOut]) -> Option<Warning> {
    if left_out.is_empty() {
        return None;
    }
    let named: Vec<String> =
        left_out.iter().map(|left| format!("{}: {}", left.name, left.reason)).collect();
    Some(Warning {
        code: "REMOTE_INDEX_PARTIAL",
        message: format!(
            "the server was not asked, or did not answer, for a part of the workspace, which was \
             not searched ({})",
            named.join("; ")
        ),
    })
}
