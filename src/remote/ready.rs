//! Which repositories can the server be asked about?
//!
//! In: repositories. Out: for each, the indexed commit, or why it is left out. All are asked at once. A repository that
//! the server does not know yet is indexed *instantly*: the server is asked to index it, then asked every second whether
//! it is ready, for eight seconds. Only `Ready` counts in the end. An index in the making does not: what it does not
//! hold yet would read as "there is no such code". A repository that is being built when it is first asked about is not
//! waited for, as described.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::call::{self, Call};
use super::error::RemoteError;
use super::gate::{Gate, GateReason};
use super::limits::RemoteLimits;
use super::types::{RemoteIndex, RemoteStatus, Repository};
use crate::task::CancelToken;

/// The indexed commit, if the server names it, or why the repository is left out.
pub(super) type Standing = Result<Option<String>, GateReason>;

/// What to do about a status.
enum Step {
    Done(Standing),
    Index,
    Wait,
}

fn step(status: Result<RemoteStatus, RemoteError>) -> Step {
    let left_out = |gate, detail: String| Step::Done(Err(GateReason::new(gate, detail)));
    match status {
        Ok(RemoteStatus::Ready { commit }) => Step::Done(Ok(commit)),
        Ok(RemoteStatus::NotYetIndexed) => Step::Index,
        Ok(RemoteStatus::Building) => Step::Wait,
        Ok(RemoteStatus::NotIndexable { reason }) => left_out(Gate::NoneIndexable, reason),
        Ok(RemoteStatus::NotAuthorized { reason }) => left_out(Gate::NotAuthorized, reason),
        Err(RemoteError::Cancelled) => left_out(Gate::Cancelled, String::new()),
        Err(error) if error.is_about_permission() => {
            left_out(Gate::NotAuthorized, error.to_string())
        }
        Err(error) => left_out(Gate::StatusUnknown, error.to_string()),
    }
}

fn still_building() -> Standing {
    Err(GateReason::new(Gate::StillBuilding, ""))
}

/// Asks how the repositories stand, and has those indexed that are not. Takes at most the limits of a call and of instant
/// indexing together.
pub(super) fn standings(
    cancel: &CancelToken,
    index: &Arc<dyn RemoteIndex>,
    repositories: &[&Repository],
    limits: &RemoteLimits,
) -> Vec<Standing> {
    let ask = |&repository: &&Repository| -> Call<RemoteStatus> {
        let (index, repository) = (Arc::clone(index), repository.clone());
        Box::new(move |cancel| index.status(cancel, &repository))
    };
    let statuses = call::all(cancel, limits.call_ms, repositories.iter().map(ask).collect());
    let mut standings: Vec<Standing> = Vec::new();
    let mut to_index = Vec::new();
    for (at, status) in statuses.into_iter().enumerate() {
        standings.push(match step(status) {
            Step::Done(standing) => standing,
            Step::Wait => still_building(),
            Step::Index => {
                to_index.push(at);
                still_building()
            }
        });
    }
    let begun: Vec<Arc<AtomicBool>> = to_index.iter().map(|_| Arc::default()).collect();
    let have_indexed = |(&at, begun): (&usize, &Arc<AtomicBool>)| -> Call<Standing> {
        let (index, repository) = (Arc::clone(index), repositories[at].clone());
        let (limits, begun) = (limits.clone(), Arc::clone(begun));
        Box::new(move |cancel| Ok(index_instantly(cancel, &*index, &repository, &limits, &begun)))
    };
    let calls = to_index.iter().zip(&begun).map(have_indexed).collect();
    let indexed = call::all(cancel, limits.instant_indexing_ms, calls);
    for ((at, begun), result) in to_index.into_iter().zip(begun).zip(indexed) {
        standings[at] = match result {
            Ok(standing) => standing,
            Err(RemoteError::Cancelled) => Err(GateReason::new(Gate::Cancelled, "")),
            Err(RemoteError::TimedOut { .. }) if begun.load(Ordering::Relaxed) => still_building(),
            Err(error) => Err(GateReason::new(Gate::IndexingFailed, error.to_string())),
        };
    }
    standings
}

/// Asks for an index, and whether it is there, until the time is over. Sets `has_begun` once the server took it on.
fn index_instantly(
    cancel: &CancelToken,
    index: &dyn RemoteIndex,
    repository: &Repository,
    limits: &RemoteLimits,
    has_begun: &AtomicBool,
) -> Standing {
    let begun = Instant::now();
    // A trigger that failed has started nothing: there is no reason to wait for it.
    if let Err(error) = index.trigger(cancel, repository) {
        let gate =
            if error.is_about_permission() { Gate::NotAuthorized } else { Gate::IndexingFailed };
        return Err(GateReason::new(gate, error.to_string()));
    }
    has_begun.store(true, Ordering::Relaxed);
    let limit = Duration::from_millis(limits.instant_indexing_ms);
    poll(cancel, index, repository, limits.poll_interval_ms, || begun.elapsed() < limit)
}

/// Asks every `interval_ms` how a repository stands until it is ready, is out of the question, or `goes_on` ends it. What
/// may pass is asked again.
fn poll(
    cancel: &CancelToken,
    index: &dyn RemoteIndex,
    repository: &Repository,
    interval_ms: u64,
    mut goes_on: impl FnMut() -> bool,
) -> Standing {
    while goes_on() {
        call::wait(cancel, Duration::from_millis(interval_ms));
        if cancel.is_cancelled() {
            return Err(GateReason::new(Gate::Cancelled, ""));
        }
        let status = index.status(cancel, repository);
        if matches!(&status, Err(error) if error.may_pass()) {
            continue;
        }
        // "Not yet indexed" is what a server says that has not noticed yet.
        if let Step::Done(standing) = step(status) {
            return standing;
        }
    }
    still_building()
}
