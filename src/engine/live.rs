//! What a watched workspace knows of its roots between two runs.
//!
//! A root is *sound* once its folders are watched and a sweep came after that; from then on a run looks only at what the
//! watcher says has changed. Whatever casts doubt on that (events that were lost, a run that failed, a change of what
//! decides which files are ours) makes the next run sweep the root.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::lock;
use super::types::Degradation;
use crate::config::WalkConfig;
use crate::error::Error;
use crate::index::{self, Look, WalkedRoot};
use crate::task::CancelToken;
use crate::walk::{Outside, Scope};
use crate::watch::{Blind, Changes, Watcher};

/// How long to wait for the events of what has happened already. They come within a millisecond where they come at all;
/// a sweep of 25,000 files takes about 200.
const SETTLE: Duration = Duration::from_millis(150);

/// A watched workspace.
pub struct Live {
    /// `None` if the system has no watching to give: then `blind` says why.
    watcher: Option<Watcher>,
    blind: Option<Blind>,
    roots: Mutex<HashMap<PathBuf, Known>>,
    signal: Arc<Signal>,
    /// Ends what the watch itself runs.
    pub(super) cancel: CancelToken,
    pub(super) thread: Mutex<Option<JoinHandle<()>>>,
    /// What has vectors made beside it.
    pub(super) embedding: Mutex<Option<JoinHandle<()>>>,
}

/// What is known of a root.
#[derive(Default)]
struct Known {
    folders: BTreeSet<String>,
    outside: Outside,
    /// Of `outside`, before the last sweep.
    fingerprint: u128,
    /// The rules of the last sweep: under others it says nothing.
    rules: Option<WalkConfig>,
    is_sound: bool,
}

impl Known {
    fn sweep(&mut self, rules: &WalkConfig) -> Look {
        self.is_sound = false;
        self.rules = Some(rules.clone());
        self.fingerprint = self.outside.fingerprint();
        Look::Whole
    }
}

/// What a waiting watch is woken by.
#[derive(Default)]
struct Signal {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    last_event: Option<Instant>,
    is_ended: bool,
}

impl Signal {
    fn note(&self) {
        lock(&self.state).last_event = Some(Instant::now());
        self.changed.notify_all();
    }
}

/// Why a wait is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Something happened, last at this time.
    Event(Instant),
    /// The time has come.
    Due,
    /// The watch is over.
    Ended,
}

impl Live {
    /// Begins to listen. A system without watching is no error: every run is then a sweep.
    pub fn start(storage: &Path) -> Self {
        let signal = Arc::new(Signal::default());
        let woken = Arc::clone(&signal);
        let (watcher, blind) = match Watcher::start(storage, Arc::new(move || woken.note())) {
            Ok(watcher) => (Some(watcher), None),
            Err(blind) => (None, Some(blind)),
        };
        Self {
            watcher,
            blind,
            roots: Mutex::default(),
            signal,
            cancel: CancelToken::new(),
            thread: Mutex::default(),
            embedding: Mutex::default(),
        }
    }

    /// What a run is to look at, root by root. What is taken from the watcher here counts as done once
    /// [`Live::applied`] is called; if the run fails, [`Live::give_back`] must be.
    ///
    /// # Errors
    /// [`Error::Walk`] of a root that is not known yet.
    pub fn looks(
        &self,
        cancel: &CancelToken,
        roots: &[PathBuf],
        config: &WalkConfig,
    ) -> Result<Vec<Look>, Error> {
        let Some(watcher) = &self.watcher else { return Ok(vec![Look::Whole; roots.len()]) };
        let mut known = lock(&self.roots);
        known.retain(|root, _| {
            let stays = roots.contains(root);
            if !stays {
                watcher.uncover(root);
            }
            stays
        });
        for root in roots {
            if !known.contains_key(root) {
                // Folders are watched before the sweep, so that nothing falls in between.
                let walk = index::walk_root(cancel, root, roots, config)?;
                // What is wrong, if anything is, the watcher remembers.
                let _ = watcher.cover(root, &walk.folders, walk.outside.folders());
                let known_root = Known {
                    folders: walk.folders.into_iter().collect(),
                    outside: walk.outside,
                    ..Known::default()
                };
                known.insert(root.clone(), known_root);
            }
        }
        let is_settled = watcher.settle(SETTLE);
        let look = |root: &PathBuf| {
            let taken = watcher.take(root);
            let Some(known) = known.get_mut(root) else { return Look::Whole };
            let is_sound = is_settled && known.is_sound && known.rules.as_ref() == Some(config);
            if is_sound && !taken.outside && taken.changes.is_none() {
                return Look::Nothing;
            }
            let is_as_before = !taken.outside || known.outside.fingerprint() == known.fingerprint;
            match taken.changes {
                None if is_sound && is_as_before => Look::Nothing,
                Some(Changes::Paths(paths)) if is_sound && is_as_before => {
                    let mut scope = Scope::default();
                    paths.iter().for_each(|path| scope.add(path));
                    if known.outside.needs_whole(&scope) {
                        known.sweep(config)
                    } else {
                        Look::Within(scope)
                    }
                }
                _ => known.sweep(config),
            }
        };
        Ok(roots.iter().map(look).collect())
    }

    /// The index is as `walked` says.
    pub fn applied(&self, walked: &[WalkedRoot<'_>]) {
        let Some(watcher) = &self.watcher else { return };
        let mut known = lock(&self.roots);
        for root in walked {
            let Some(known) = known.get_mut(root.path) else { continue };
            let (was, folders) = (known.folders.len(), &root.walk.folders);
            match &root.look {
                Look::Nothing => continue,
                Look::Whole => {
                    known.folders = folders.iter().cloned().collect();
                    known.outside = root.walk.outside.clone();
                    known.is_sound = true;
                }
                Look::Within(scope) => {
                    known.folders.retain(|folder| !scope.covers(folder));
                    if known.folders.len() == was && folders.is_empty() {
                        continue;
                    }
                    known.folders.extend(folders.iter().cloned());
                }
            }
            if watcher.blindness(root.path).is_none() {
                let folders: Vec<String> = known.folders.iter().cloned().collect();
                let _ = watcher.cover(root.path, &folders, known.outside.folders());
            }
        }
    }

    /// What [`Live::looks`] gave was not applied: it is to be looked at again.
    pub fn give_back(&self, roots: &[PathBuf], looks: &[Look]) {
        let Some(watcher) = &self.watcher else { return };
        for (root, look) in roots.iter().zip(looks) {
            if let Look::Within(scope) = look {
                watcher.put_back(root, Changes::Paths(scope.paths()));
            }
        }
    }

    /// The next run sweeps every root.
    pub fn distrust(&self) {
        for known in lock(&self.roots).values_mut() {
            known.is_sound = false;
        }
    }

    /// Paths that are known to have changed.
    pub fn n_pending(&self) -> u64 {
        self.watcher.as_ref().map_or(0, |watcher| watcher.n_pending() as u64)
    }

    /// Why changes are not told by the system, for each root where that is so.
    pub fn blindness(&self) -> Vec<Degradation> {
        let of_root = |root: &PathBuf| self.watcher.as_ref()?.blindness(root);
        let blind: Vec<Blind> = match &self.blind {
            Some(blind) => vec![blind.clone()],
            None => lock(&self.roots).keys().filter_map(of_root).collect(),
        };
        let said = |blind: &Blind| Degradation { code: blind.code(), message: blind.to_string() };
        let mut said: Vec<Degradation> = blind.iter().map(said).collect();
        said.sort_by(|a, b| a.message.cmp(&b.message));
        said.dedup();
        said
    }

    /// As if something had happened.
    pub fn wake(&self) {
        self.signal.note();
    }

    /// Waits for the end, for an event later than `seen`, or until `due`.
    pub fn wait(&self, seen: Option<Instant>, due: Option<Instant>) -> Woken {
        let mut state = lock(&self.signal.state);
        loop {
            if state.is_ended {
                return Woken::Ended;
            }
            if let Some(event) = state.last_event.filter(|event| seen.is_none_or(|s| *event > s)) {
                return Woken::Event(event);
            }
            let now = Instant::now();
            state = match due {
                Some(due) if due <= now => return Woken::Due,
                Some(due) => {
                    let waited = self.signal.changed.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.signal.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Ends the watch; what it runs is cancelled.
    pub fn end(&self) {
        self.cancel.cancel();
        lock(&self.signal.state).is_ended = true;
        self.signal.changed.notify_all();
    }
}
