//! Taking events in: on the system's own thread, quickly, and without anything that could wait for that thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, MetadataKind, ModifyKind};
use notify::{Event, EventHandler, EventKind};

use super::barrier::Barrier;
use super::root::Root;

/// How names of files begin by which processes tell each other to stop or to pause.
const MARKERS: [&str; 2] = ["pause-", "stop-"];

/// How often someone is woken for more of what is pending already. It only serves to measure quiet time.
const WAKE_AGAIN: Duration = Duration::from_millis(20);

/// What the thread that takes events in shares with callers.
pub(super) struct Shared {
    pub(super) storage: PathBuf,
    pub(super) barrier: Barrier,
    wake: Arc<dyn Fn() + Send + Sync>,
    state: Mutex<State>,
}

/// All that events change.
#[derive(Default)]
pub(super) struct State {
    pub(super) roots: Vec<Root>,
    /// The storage folder was removed or moved: no event of it will come.
    pub(super) is_storage_lost: bool,
    /// Someone was woken and has not taken anything since.
    pub(super) is_woken: bool,
    woken_at: Option<Instant>,
}

impl State {
    pub(super) fn find_mut(&mut self, path: &Path) -> Option<&mut Root> {
        self.roots.iter_mut().find(|root| root.path() == path)
    }

    /// The root of this path, new if it was not known.
    pub(super) fn root_mut(&mut self, path: &Path) -> &mut Root {
        let idx = self.roots.iter().position(|root| root.path() == path).unwrap_or_else(|| {
            self.roots.push(Root::new(path));
            self.roots.len() - 1
        });
        &mut self.roots[idx]
    }

    pub(super) fn remove(&mut self, path: &Path) -> Option<Root> {
        let idx = self.roots.iter().position(|root| root.path() == path)?;
        Some(self.roots.swap_remove(idx))
    }
}

impl Shared {
    pub(super) fn new(storage: PathBuf, wake: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self { storage, barrier: Barrier::new(), wake, state: Mutex::default() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes whoever waits, unless that was done just now and nothing was taken since.
    pub(super) fn wake(&self) {
        let now = Instant::now();
        {
            let mut state = self.state();
            let is_recent = state.woken_at.is_some_and(|at| now < at + WAKE_AGAIN);
            if state.is_woken && is_recent {
                return;
            }
            state.is_woken = true;
            state.woken_at = Some(now);
        }
        (self.wake)();
    }

    fn take_in(&self, event: notify::Result<Event>) {
        let is_news = match event {
            Ok(event) if event.need_rescan() => self.lose(),
            Ok(event) if !changes_something(event.kind) => false,
            Ok(event) => self.take_in_paths(&event),
            // What it was about is not known.
            Err(_) => self.lose(),
        };
        if is_news {
            self.wake();
        }
    }

    /// Events were lost. Whoever waits for the barrier need not any more: everything counts as changed.
    fn lose(&self) -> bool {
        self.state().roots.iter_mut().for_each(Root::lose);
        self.barrier.open();
        true
    }

    fn take_in_paths(&self, event: &Event) -> bool {
        let mut is_news = false;
        for path in &event.paths {
            is_news |= self.take_in_path(path, event.kind);
        }
        is_news
    }

    fn take_in_path(&self, path: &Path, kind: EventKind) -> bool {
        if path.parent() == Some(&self.storage) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            return self.take_in_storage(name);
        }
        let mut state = self.state();
        if path == self.storage && is_gone(kind) {
            state.is_storage_lost = true;
        }
        let mut is_news = false;
        for root in &mut state.roots {
            is_news |= root.note(path, kind);
        }
        is_news
    }

    fn take_in_storage(&self, name: &str) -> bool {
        if Barrier::is_name(name) {
            self.barrier.note(name);
            return false;
        }
        let is_marker = MARKERS.iter().any(|start| name.starts_with(start));
        if is_marker {
            self.state().roots.iter_mut().for_each(|root| root.is_storage_changed = true);
        }
        is_marker
    }
}

/// Hands events over to the shared state.
pub(super) struct Intake(pub(super) Arc<Shared>);

impl EventHandler for Intake {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        self.0.take_in(event);
    }
}

/// Whether something may be different after such an event. Opening and reading is none of our business, whereas closing
/// what was open for writing is the only sign of a write through a memory map.
fn changes_something(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(kind)) => kind != MetadataKind::AccessTime,
        _ => true,
    }
}

fn is_gone(kind: EventKind) -> bool {
    matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
}
