//! A thread that keeps the index current: it waits for changes, lets a burst pass, and runs.

use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::embedding::{Stage, into_report};
use super::live::{Live, Woken};
use super::run::Wanted;
use super::types::{Degradation, IndexReport};
use super::{Engine, lock};
use crate::error::Error;
use crate::index;
use crate::store::Writer;
use crate::task::{CancelToken, Progress, ProgressSink};
use crate::watch::Debounce;

/// A run waits for the end of a burst of events no longer than so many times the delay, and no less than
/// [`LEAST_BURST`]: a file that changes all the time must not keep others from being found. Unmeasured.
const BURST_DELAYS: u32 = 10;
const LEAST_BURST: Duration = Duration::from_secs(5);

/// After a failure the next run waits at least this long, then twice as long, up to the longest.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Where the system tells of no changes, sweeps take a hundredth of the time, and come no more often than this.
const LEAST_SWEEP_INTERVAL: Duration = Duration::from_secs(10);
const SWEEP_SHARE: u32 = 100;

/// Deeply nested sources recurse deeply; address space is cheap, and only what is touched is used.
const STACK_BYTES: usize = 16 << 20;

/// How to watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchOptions {
    /// Quiet time after the last change before the index is brought up to date; `None` for that of the settings.
    pub debounce: Option<Duration>,
}

/// What happens during a watch.
#[derive(Clone, Debug)]
pub enum WatchEvent {
    /// How far a run is.
    Progress(Progress),
    /// A run is done that found something to do, or the first one.
    Synced(IndexReport),
    /// A run failed. Another follows by itself; a pause and a cleared index end by being ended.
    Failed(Degradation),
}

/// Receives what happens, on the thread of the watch or those of its runs.
pub trait WatchSink: Send + Sync {
    /// Takes one event. Must return quickly.
    fn event(&self, event: WatchEvent);
}

impl<F: Fn(WatchEvent) + Send + Sync> WatchSink for F {
    fn event(&self, event: WatchEvent) {
        self(event);
    }
}

struct AsProgress(Arc<dyn WatchSink>);

impl ProgressSink for AsProgress {
    fn report(&self, progress: Progress) {
        self.0.event(WatchEvent::Progress(progress));
    }
}

impl Engine {
    /// Keeps the index current from now on, in the background, until [`Engine::unwatch`]. The first run begins at once.
    /// While it lasts, [`Engine::sync_and_search`] looks only at what has changed. A watch that goes on already is
    /// replaced.
    ///
    /// # Errors
    /// [`Error::Closed`], or no thread from the system. That changes are not told by the system is none: the status says
    /// it, and sweeps take the place of events.
    pub fn watch(
        self: &Arc<Self>,
        options: WatchOptions,
        sink: Arc<dyn WatchSink>,
    ) -> Result<(), Error> {
        self.unwatch();
        if lock(&self.reader).is_closed() {
            return Err(Error::Closed);
        }
        let live = Arc::new(Live::start(self.database.folder()));
        let (engine, watched) = (Arc::downgrade(self), Arc::clone(&live));
        // Held until the watch is known: its first run asks for it.
        let mut current = lock(&self.live);
        let thread = thread::Builder::new()
            .name("sextant-watch".into())
            .stack_size(STACK_BYTES)
            .spawn(move || keep_current(&engine, &watched, options, &sink))
            .map_err(Error::NoThread)?;
        *lock(&live.thread) = Some(thread);
        let replaced = current.replace(live);
        drop(current);
        if let Some(replaced) = replaced {
            end(&replaced);
        }
        if lock(&self.reader).is_closed() {
            self.unwatch();
            return Err(Error::Closed);
        }
        Ok(())
    }

    /// Ends a watch and waits until nothing of it runs. What a run had finished is kept as a checkpoint.
    pub fn unwatch(&self) {
        let live = lock(&self.live).take();
        if let Some(live) = live {
            end(&live);
        }
    }

    /// Merges segments if that is worth while; gives way to whoever wants to run.
    fn tidy(&self, cancel: &CancelToken) -> Result<(), Error> {
        let view = self.read(|view, _| Ok(Arc::clone(view)))?;
        if !view.snapshot.wants_compaction() {
            return Ok(());
        }
        let Some(_turn) = self.turns.wait(cancel) else { return Ok(()) };
        let turns = Arc::clone(&self.turns);
        let cancel = cancel.or_when(move || turns.is_wanted());
        let Some(lock) = self.database.lock(&cancel, index::PATIENCE)? else { return Ok(()) };
        Writer::open(&self.database, lock)?.compact(&cancel, &view.snapshot)?;
        Ok(())
    }
}

/// Has missing vectors made in the background, and tells what comes of it: as a report, with the failure if there is one.
fn embed(engine: &Arc<Engine>, live: &Live, sink: &Arc<dyn WatchSink>, report: IndexReport) {
    let told = Arc::clone(sink);
    let tell = move |stage: Stage| {
        // What the run did that this follows was told when it was done.
        let mut report = IndexReport { added: 0, changed: 0, removed: 0, ..report.clone() };
        into_report(stage, &mut report);
        told.event(WatchEvent::Synced(report));
    };
    let progress = Arc::new(AsProgress(Arc::clone(sink)));
    if let Some(thread) = engine.background.want(engine, &live.cancel, progress, tell) {
        lock(&live.embedding).replace(thread);
    }
}

fn end(live: &Live) {
    live.end();
    let thread = lock(&live.thread).take();
    join(thread);
    // The watch may have begun one before it ended.
    join(lock(&live.embedding).take());
}

fn join(thread: Option<thread::JoinHandle<()>>) {
    // The last owner of the engine may be the thread itself.
    if let Some(thread) = thread.filter(|t| t.thread().id() != thread::current().id()) {
        let _ = thread.join();
    }
}

/// Waits for the end of bursts, with this quiet time.
fn bursts(delay: Duration) -> Debounce {
    Debounce::new(delay, LEAST_BURST.max(delay * BURST_DELAYS))
}

fn keep_current(
    engine: &Weak<Engine>,
    live: &Live,
    options: WatchOptions,
    sink: &Arc<dyn WatchSink>,
) {
    let settings = || Some(engine.upgrade()?.config().settings.vector_db.clone());
    let Some(mut now) = settings() else { return };
    let mut debounce = bursts(options.debounce.unwrap_or(now.debounce_delay));
    let mut due = now.enable_background_processing.then(Instant::now);
    let mut seen = None;
    let mut retry = FIRST_RETRY;
    let mut is_first = true;
    loop {
        match live.wait(seen, due) {
            Woken::Ended => return,
            Woken::Event(at) => {
                seen = Some(at);
                let Some(newest) = settings() else { return };
                if newest.debounce_delay != now.debounce_delay && options.debounce.is_none() {
                    debounce = bursts(newest.debounce_delay);
                }
                now = newest;
                if !now.enable_background_processing {
                    debounce.clear();
                    due = None;
                    continue;
                }
                debounce.note(at);
                // A run that is due anyway, such as the first, is not put off.
                due = due.filter(|_| is_first).or_else(|| debounce.due());
                continue;
            }
            Woken::Due => debounce.clear(),
        }
        let Some(engine) = engine.upgrade() else { return };
        let (started, roots) = (Instant::now(), engine.roots());
        let progress = AsProgress(Arc::clone(sink));
        let result = engine.run(&live.cancel, &progress, &roots, Wanted::ByItself);
        if matches!(&result, Err(error) if error.code() == "CANCELLED") && roots.is_left() {
            // Not for the new ones.
            due = Some(Instant::now());
            continue;
        }
        due = match &result {
            Ok(_) => {
                retry = FIRST_RETRY;
                let interval = LEAST_SWEEP_INTERVAL.max(started.elapsed() * SWEEP_SHARE);
                (!live.blindness().is_empty()).then(|| Instant::now() + interval)
            }
            Err(Error::Paused | Error::Stopped) => None,
            Err(_) => {
                let after = Instant::now() + retry;
                retry = (retry * 2).min(LONGEST_RETRY);
                Some(after)
            }
        };
        match result {
            Ok(report) => {
                if is_first || report.added + report.changed + report.removed > 0 {
                    sink.event(WatchEvent::Synced(report.clone()));
                }
                is_first = false;
                embed(&engine, live, sink, report);
                // A merge that fails costs speed; the next run meets what is wrong and says so.
                let _ = engine.tidy(&live.cancel);
            }
            Err(_) if live.cancel.is_cancelled() => return,
            Err(error) => {
                let message = error.chain();
                sink.event(WatchEvent::Failed(Degradation { code: error.code(), message }));
            }
        }
    }
}
