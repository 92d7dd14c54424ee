//! Repositories that get an index at once, later or never.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::super::error::RemoteError;
use super::super::gate::Gate;
use super::super::limits::RemoteLimits;
use super::super::ready::standings;
use super::super::types::{RemoteAnswer, RemoteIndex, RemoteQuery, RemoteStatus, Repository};
use super::repository;
use crate::task::CancelToken;

type Status = Result<RemoteStatus, RemoteError>;

/// Says one status after another; the last for ever.
#[derive(Debug)]
struct Scripted {
    statuses: Mutex<VecDeque<Status>>,
    trigger: Result<(), RemoteError>,
    n_triggers: Mutex<usize>,
}

impl RemoteIndex for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn status(&self, _: &CancelToken, _: &Repository) -> Status {
        let mut statuses = self.statuses.lock().unwrap();
        if statuses.len() > 1 { statuses.pop_front().unwrap() } else { statuses[0].clone() }
    }

    fn trigger(&self, _: &CancelToken, _: &Repository) -> Result<(), RemoteError> {
        *self.n_triggers.lock().unwrap() += 1;
        self.trigger.clone()
    }

    fn search(
        &self,
        _: &CancelToken,
        _: &Repository,
        _: &RemoteQuery,
    ) -> Result<RemoteAnswer, RemoteError> {
        unreachable!()
    }
}

fn scripted(statuses: &[Status], trigger: Result<(), RemoteError>) -> Arc<Scripted> {
    let statuses = Mutex::new(statuses.iter().cloned().collect());
    Arc::new(Scripted { statuses, trigger, n_triggers: Mutex::new(0) })
}

fn limits() -> RemoteLimits {
    RemoteLimits { instant_indexing_ms: 60_000, poll_interval_ms: 1, ..RemoteLimits::standard() }
}

fn ready(commit: &str) -> Status {
    Ok(RemoteStatus::Ready { commit: Some(commit.into()) })
}

fn refused(status: u16) -> RemoteError {
    RemoteError::Refused { status, reason: "no".into() }
}

/// The commit or the gate, and how often an index was asked for.
fn standing(index: &Arc<Scripted>, limits: &RemoteLimits) -> (Result<Option<String>, Gate>, usize) {
    let dynamic: Arc<dyn RemoteIndex> = Arc::clone(index) as Arc<dyn RemoteIndex>;
    let ours = repository(Path::new("/work/app"));
    let mut all = standings(&CancelToken::new(), &dynamic, &[&ours], limits);
    let standing = all.pop().unwrap().map_err(|reason| reason.gate);
    (standing, *index.n_triggers.lock().unwrap())
}

#[test]
fn each_status_leads_to_its_gate() {
    let reason = || "why".to_owned();
    let cases = [
        (ready("c"), Ok(Some("c".to_owned()))),
        (Ok(RemoteStatus::Building), Err(Gate::StillBuilding)),
        (Ok(RemoteStatus::NotIndexable { reason: reason() }), Err(Gate::NoneIndexable)),
        (Ok(RemoteStatus::NotAuthorized { reason: reason() }), Err(Gate::NotAuthorized)),
        (Err(refused(401)), Err(Gate::NotAuthorized)),
        (Err(refused(500)), Err(Gate::StatusUnknown)),
        (Err(RemoteError::Unreachable { reason: reason() }), Err(Gate::StatusUnknown)),
        (Err(RemoteError::BadAnswer { reason: reason() }), Err(Gate::StatusUnknown)),
    ];
    for (status, expected) in cases {
        let index = scripted(std::slice::from_ref(&status), Ok(()));
        assert_eq!(standing(&index, &limits()), (expected, 0), "{status:?}");
    }
}

#[test]
fn an_index_that_is_there_in_time_is_used() {
    let new = Ok(RemoteStatus::NotYetIndexed);
    let building = Ok(RemoteStatus::Building);
    let busy = Err(refused(503));
    let index = scripted(&[new.clone(), new, building, busy, ready("c")], Ok(()));
    assert_eq!(standing(&index, &limits()), (Ok(Some("c".into())), 1));
}

#[test]
fn a_half_built_index_is_not_used() {
    let index = scripted(&[Ok(RemoteStatus::NotYetIndexed), Ok(RemoteStatus::Building)], Ok(()));
    let short = RemoteLimits { instant_indexing_ms: 500, ..limits() };
    assert_eq!(standing(&index, &short), (Err(Gate::StillBuilding), 1));
}

#[test]
fn a_failed_trigger_is_not_waited_for() {
    for (error, gate) in [(500, Gate::IndexingFailed), (403, Gate::NotAuthorized)] {
        let statuses = [Ok(RemoteStatus::NotYetIndexed), Ok(RemoteStatus::Building), ready("c")];
        let index = scripted(&statuses, Err(refused(error)));
        assert_eq!(standing(&index, &limits()), (Err(gate), 1));
        assert_eq!(index.statuses.lock().unwrap().len(), 2, "asked once");
    }
}
