//! What changed on disk since I last asked?
//!
//! In: the folders that a walk listed, root by root. Out: the paths that may have changed below each root, when asked.
//! It knows nothing of files that are ours, nor of an index: a path is a hint to look, never what is there.
//!
//! How nothing gets lost:
//! 1. [`Watcher::cover`] the folders that are known, at the very first of a walk just made. This makes nothing pending.
//! 2. Sweep: walk the whole root, compare all stats, and cover the folders of that walk.
//! 3. When woken, [`Watcher::take`], walk what was taken, and cover all folders that the root then has. What cannot be
//!    applied is put back. Before a search, [`Watcher::settle`] first.
//!
//! A folder that becomes covered is pending itself, once: something may have been written into it between the walk and
//! the watch. Only the first cover of a root makes nothing pending, as a sweep follows it. The same folders once more
//! make nothing pending either, so 3 comes to rest.
//!
//! Invariants: what is taken is a superset of what changed in covered folders since the last taking, if the root is not
//! blind; a folder that was moved or removed is not covered until it is covered anew; memory is bounded by the folders
//! covered and 4,096 paths a root; reading files wakes nobody; links are not followed; after an
//! overflow of the system's queue everything counts as changed, and all watches are made anew before it is taken.
//!
//! What it does not do: look at file contents or stats, wait for the end of a burst ([`Debounce`] says when), or see
//! what the system does not tell: writing through a memory map until the file is closed, or through another name of a
//! file (hard link) outside of what is covered, and a root that is unmounted.
//!
//! Fails with [`Blind`]. Then a root is not watched at all, rather than in part.

mod barrier;
mod blind;
mod debounce;
mod intake;
mod mounts;
mod native;
mod pending;
mod root;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use blind::Blind;
pub use debounce::Debounce;
use intake::{Intake, Shared};
use mounts::Probe;
use native::{Native, Refusal};
use notify::RecursiveMode;
pub use pending::Changes;
use root::Difference;

/// Watches roots, and the storage folder of their index. May be used from any thread.
pub struct Watcher {
    shared: Arc<Shared>,
    /// The system's watches. Locked before the shared state, never after: the thread that takes events in needs the
    /// state, and answers calls of this only between events.
    native: Mutex<Box<dyn Native>>,
    probe: Probe,
}

/// What was pending for a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What may have changed; none if nothing did.
    pub changes: Option<Changes>,
    /// Whether something changed in one of the folders outside.
    pub outside: bool,
    /// Whether a marker was put into the storage folder, or removed from it.
    pub storage: bool,
}

impl Watcher {
    /// Begins to watch the folder of the index, `storage`, but none of its folders: other processes put markers there,
    /// files whose names begin with `pause-` or `stop-`, and [`Watcher::settle`] a file for a moment.
    ///
    /// `wake` is called when something new is pending, at most every 20 ms while nobody takes it. It is called on the
    /// thread that takes events in, or by [`Watcher::cover`] and [`Watcher::take`]; it must return at once, must not
    /// panic and must not call the watcher.
    ///
    /// # Errors
    /// [`Blind`] if the system has no watching to give, or the folder cannot be watched.
    pub fn start(storage: &Path, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Self, Blind> {
        Self::start_with(storage, wake, native::open, mounts::file_system_without_events)
    }

    /// As [`Watcher::start`], with another system.
    fn start_with(
        storage: &Path,
        wake: Arc<dyn Fn() + Send + Sync>,
        open: impl FnOnce(Intake, &Path) -> Result<Box<dyn Native>, Blind>,
        probe: Probe,
    ) -> Result<Self, Blind> {
        // Some systems tell of real paths only.
        let storage = std::fs::canonicalize(storage)
            .map_err(|error| Blind::Failed { path: storage.into(), reason: error.to_string() })?;
        barrier::remove_leftovers(&storage);
        let shared = Arc::new(Shared::new(storage, wake));
        let mut native = open(Intake(Arc::clone(&shared)), &shared.storage)?;
        watch_storage(native.as_mut(), &shared.storage)?;
        Ok(Self { shared, native: Mutex::new(native), probe })
    }

    /// Watches exactly these folders of a root: adds new ones and drops those no longer listed.
    ///
    /// `root`: its real path. `folders`: relative to the root, with `/` between the parts, `""` the root itself, which
    /// is watched in any case. `outside`: absolute real paths, watched without the folders in them. Folders that are not
    /// there, or cannot be read, are passed over.
    ///
    /// # Errors
    /// [`Blind`] if not all can be watched; then none of this root is, and other roots are as they were.
    pub fn cover(&self, root: &Path, folders: &[String], outside: &[PathBuf]) -> Result<(), Blind> {
        let mut native = self.native();
        let difference = {
            let mut state = self.shared.state();
            state.root_mut(root).cover(folders, outside)
        };
        for folder in &difference.dropped {
            self.unwatch_unneeded(native.as_mut(), folder, None);
        }
        for folder in &difference.stale {
            self.unwatch_unneeded(native.as_mut(), folder, Some(root));
        }
        let (folders, outside) = (&difference.folders, &difference.outside);
        match self.watch_all(native.as_mut(), root, folders, outside) {
            Ok(missing) => {
                self.covered(root, &difference, &missing);
                Ok(())
            }
            Err(blind) => {
                self.go_blind(native.as_mut(), root, blind.clone());
                Err(blind)
            }
        }
    }

    /// Stops watching a root and forgets its changes.
    pub fn uncover(&self, root: &Path) {
        let mut native = self.native();
        let Some(mut root) = self.shared.state().remove(root) else { return };
        for folder in root.uncover() {
            self.unwatch_unneeded(native.as_mut(), &folder, None);
        }
    }

    /// Waits until every event of what happened before this call has been taken in. False if that cannot be known
    /// within `patience`; then the caller must sweep. Always false where the system promises no order of events.
    #[must_use]
    pub fn settle(&self, patience: Duration) -> bool {
        if !native::IN_ORDER || !self.is_storage_watched() {
            return false;
        }
        self.shared.barrier.wait(&self.shared.storage, patience)
    }

    /// Takes what is pending for a root. Everything, if the root is not covered or is blind.
    #[must_use]
    pub fn take(&self, root: &Path) -> Taken {
        self.repair(root);
        let mut state = self.shared.state();
        state.is_woken = false;
        let unknown = Taken { changes: Some(Changes::Everything), outside: true, storage: false };
        let Some(root) = state.find_mut(root) else { return unknown };
        let storage = std::mem::take(&mut root.is_storage_changed);
        if root.blind.is_some() {
            return Taken { storage, ..unknown };
        }
        let outside = std::mem::take(&mut root.is_outside_changed);
        let changes = root.pending.take();
        let is_lost_again = root.is_lost;
        if is_lost_again {
            // More was lost since the watches were made anew: the next taking has to begin with that.
            root.pending.insert_everything();
        }
        drop(state);
        if is_lost_again {
            self.shared.wake();
        }
        Taken { changes, outside, storage }
    }

    /// Puts changes back that could not be applied. Wakes nobody.
    pub fn put_back(&self, root: &Path, changes: Changes) {
        if let Some(root) = self.shared.state().find_mut(root) {
            root.pending.insert_all(changes);
        }
    }

    /// Number of paths that are pending, over all roots; everything counts as one.
    #[must_use]
    pub fn n_pending(&self) -> usize {
        self.shared.state().roots.iter().map(|root| root.pending.len()).sum()
    }

    /// Why a root is not watched, if its last cover failed.
    #[must_use]
    pub fn blindness(&self, root: &Path) -> Option<Blind> {
        self.shared.state().find_mut(root).and_then(|root| root.blind.clone())
    }

    fn native(&self) -> MutexGuard<'_, Box<dyn Native>> {
        self.native.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches folders of a root and outside of it. Answers which of them are not there.
    fn watch_all(
        &self,
        native: &mut dyn Native,
        root: &Path,
        folders: &[String],
        outside: &[PathBuf],
    ) -> Result<Missing, Blind> {
        let without_events = |folder: &Path| match (self.probe)(folder) {
            Some(name) => Err(Blind::NoEvents { path: folder.into(), file_system: name }),
            None => Ok(()),
        };
        without_events(root)?;
        let mut missing = Missing::default();
        let mut known_device = None;
        for folder in folders {
            let Some(path) = native::watched_for(root, folder) else { continue };
            match native::watch(native, &path, native::mode_of_roots()) {
                Ok(stat) => {
                    let device = native::device(&stat);
                    if known_device.is_some_and(|known| known != device) {
                        without_events(&path)?;
                    }
                    known_device = Some(device);
                }
                Err(Refusal::NoFolder) if folder.is_empty() => {
                    let reason = "there is no folder that can be read".into();
                    return Err(Blind::Failed { path, reason });
                }
                Err(Refusal::NoFolder) => missing.folders.push(folder.clone()),
                Err(Refusal::Blind(blind)) => return Err(blind),
            }
        }
        for folder in outside {
            match native::watch(native, folder, RecursiveMode::NonRecursive) {
                Ok(_) => {}
                Err(Refusal::NoFolder) => missing.outside.push(folder.clone()),
                Err(Refusal::Blind(blind)) => return Err(blind),
            }
        }
        Ok(missing)
    }

    /// Makes newly covered folders pending, now that nothing in them goes unseen any more.
    fn covered(&self, root: &Path, added: &Difference, missing: &Missing) {
        let mut state = self.shared.state();
        let root = state.root_mut(root);
        root.forget(&missing.folders, &missing.outside);
        let was_blind = root.blind.take().is_some();
        let is_first = std::mem::take(&mut root.is_new);
        let mut is_pending = false;
        if was_blind {
            // What happened meanwhile is not known.
            root.pending.insert_everything();
            root.is_outside_changed = true;
            is_pending = true;
        } else if !is_first {
            let folders = added.folders.iter().filter(|folder| !missing.folders.contains(folder));
            for folder in folders {
                root.pending.insert(folder);
                is_pending = true;
            }
            if added.outside.iter().any(|folder| !missing.outside.contains(folder)) {
                root.is_outside_changed = true;
                is_pending = true;
            }
        }
        drop(state);
        if is_pending {
            self.shared.wake();
        }
    }

    /// Watches nothing of a root any more: half of it would look whole.
    fn go_blind(&self, native: &mut dyn Native, root: &Path, blind: Blind) {
        let dropped = {
            let mut state = self.shared.state();
            let root = state.root_mut(root);
            root.pending.take();
            root.is_lost = false;
            root.is_new = false;
            root.blind = Some(blind);
            root.uncover()
        };
        for folder in dropped {
            self.unwatch_unneeded(native, &folder, None);
        }
    }

    /// Makes all watches of a root anew if events were lost, as any of them may be at a folder that was moved.
    fn repair(&self, root: &Path) {
        if !self.shared.state().find_mut(root).is_some_and(|root| root.is_lost) {
            return;
        }
        let mut native = self.native();
        let (folders, outside) = {
            let mut state = self.shared.state();
            let Some(root) = state.find_mut(root) else { return };
            root.is_lost = false;
            root.covered()
        };
        let inside = folders.iter().filter_map(|folder| native::watched_for(root, folder));
        for folder in inside.chain(outside.iter().cloned()) {
            native.unwatch(&folder);
        }
        match self.watch_all(native.as_mut(), root, &folders, &outside) {
            Ok(missing) => {
                self.shared.state().root_mut(root).forget(&missing.folders, &missing.outside);
            }
            Err(blind) => self.go_blind(native.as_mut(), root, blind),
        }
    }

    /// Unwatches a folder unless a root, other than `but`, needs it. One that needs it has seen it go, too, and has
    /// watched it anew since.
    fn unwatch_unneeded(&self, native: &mut dyn Native, folder: &Path, but: Option<&Path>) {
        let is_needed = {
            let state = self.shared.state();
            let mut others = state.roots.iter().filter(|root| Some(root.path()) != but);
            folder == self.shared.storage || others.any(|root| root.needs(folder))
        };
        if !is_needed {
            native.unwatch(folder);
        }
    }

    /// Whether the storage folder is watched, after trying again if it was replaced.
    fn is_storage_watched(&self) -> bool {
        if !self.shared.state().is_storage_lost {
            return true;
        }
        let mut native = self.native();
        self.shared.state().is_storage_lost = false;
        native.unwatch(&self.shared.storage);
        let is_watched = watch_storage(native.as_mut(), &self.shared.storage).is_ok();
        self.shared.state().is_storage_lost |= !is_watched;
        is_watched
    }
}

/// Folders that could not be watched because they are not there.
#[derive(Default)]
struct Missing {
    folders: Vec<String>,
    outside: Vec<PathBuf>,
}

fn watch_storage(native: &mut dyn Native, storage: &Path) -> Result<(), Blind> {
    match native::watch(native, storage, RecursiveMode::NonRecursive) {
        Ok(_) => Ok(()),
        Err(Refusal::Blind(blind)) => Err(blind),
        Err(Refusal::NoFolder) => Err(Blind::Failed {
            path: storage.into(),
            reason: "there is no folder that can be read".into(),
        }),
    }
}
