//! What a watch tells, from its threads to a JavaScript callback.
//!
//! Events wait in a mailbox, and a wake-up asks the JavaScript thread to take them. Reports and failures are all kept
//! and told at once; of progress only the newest counts, at most every 100 ms, and none that a report has overtaken.
//! What still waits when the watch ends is told just before that promise settles, so nothing is told afterwards.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use napi::Env;
use napi::bindgen_prelude::{Either3, FromNapiValue, Function, FunctionRef, Unknown};

use super::failure::{Failure, report_uncaught};
use super::results::{FailedEvent, ProgressEvent, SyncedEvent};
use super::threads::{self, Length};
use super::wake_up::WakeUp;
use crate::engine::{Engine, WatchEvent, WatchSink};
use crate::task::Progress;

/// Between two reports of progress, at least.
const INTERVAL: Duration = Duration::from_millis(100);

type Event = Either3<ProgressEvent, SyncedEvent, FailedEvent>;
type Callback = FunctionRef<Event, Unknown<'static>>;

/// The watch of one workspace, if there is one.
#[derive(Default)]
pub struct Watching {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Keeps the engine while it is watched, even if JavaScript has let go of its workspace.
    engine: Option<Arc<Engine>>,
    listener: Option<Arc<Listener>>,
    /// Whether the end of the environment ends the watch.
    is_hooked: bool,
}

/// The end of a mailbox that the threads of the watch hold.
struct EventSender {
    mailbox: Arc<Mutex<Mailbox>>,
    wake_up: WakeUp,
}

/// Ignores all events.
struct NoListener;

impl WatchSink for NoListener {
    fn event(&self, _event: WatchEvent) {}
}

/// The end of a mailbox that belongs to the JavaScript thread.
pub struct Listener {
    mailbox: Arc<Mutex<Mailbox>>,
    callback: Callback,
}

#[derive(Default)]
struct Mailbox {
    /// Reports and failures, the oldest first.
    told: VecDeque<WatchEvent>,
    progress: Option<Progress>,
    is_progress_due: bool,
    last_progress: Option<Instant>,
}

impl Mailbox {
    /// Takes an event; whether the JavaScript thread is to be woken.
    fn put(&mut self, event: WatchEvent, now: Instant) -> bool {
        let WatchEvent::Progress(progress) = event else {
            self.progress = None;
            self.is_progress_due = false;
            self.told.push_back(event);
            return true;
        };
        self.progress = Some(progress);
        let is_due = self.last_progress.is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if is_due {
            self.is_progress_due = true;
            self.last_progress = Some(now);
        }
        is_due
    }

    /// What is to be told next.
    fn take(&mut self) -> Option<WatchEvent> {
        self.told.pop_front().or_else(|| {
            let progress = self.progress.take_if(|_| self.is_progress_due)?;
            self.is_progress_due = false;
            Some(WatchEvent::Progress(progress))
        })
    }
}

impl WatchSink for EventSender {
    fn event(&self, event: WatchEvent) {
        if lock(&self.mailbox).put(event, Instant::now()) {
            self.wake_up.send();
        }
    }
}

impl Listener {
    /// Tells all that waits. What the callback throws is what any listener throws: an uncaught exception, and the next
    /// event is told all the same.
    pub fn deliver(&self, env: &Env) {
        loop {
            let Some(event) = lock(&self.mailbox).take() else { return };
            let event = match event {
                WatchEvent::Progress(progress) => Either3::A(ProgressEvent::from(progress)),
                WatchEvent::Synced(report) => Either3::B(SyncedEvent::from(report)),
                WatchEvent::Failed(failure) => Either3::C(FailedEvent::from(failure)),
            };
            let called = self.callback.borrow_back(env).and_then(|callback| callback.call(event));
            if let Err(error) = called {
                report_uncaught(env, error);
            }
        }
    }
}

/// Connects a watch with the caller's callback.
///
/// # Errors
/// Node refuses.
pub fn connect(
    env: &Env,
    callback: Unknown<'_>,
) -> Result<(Arc<dyn WatchSink>, Arc<Listener>), Failure> {
    let thrown = |error| Failure::thrown(env, error);
    let callback: Function<'_, Event, Unknown<'static>> =
        Function::from_unknown(callback).map_err(thrown)?;
    let mailbox = Arc::new(Mutex::new(Mailbox::default()));
    let callback = callback.create_ref().map_err(thrown)?;
    let listener = Arc::new(Listener { mailbox: Arc::clone(&mailbox), callback });
    let woken = Arc::clone(&listener);
    let wake_up = WakeUp::new(env, "onEvent", move |env| woken.deliver(env))?;
    Ok((Arc::new(EventSender { mailbox, wake_up }), listener))
}

/// For a watch that nobody listens to.
#[must_use]
pub fn nobody() -> Arc<dyn WatchSink> {
    Arc::new(NoListener)
}

impl Watching {
    /// A watch of `engine` begins. It ends with the environment at the latest.
    ///
    /// # Errors
    /// Node refuses.
    pub fn begin(
        self: &Arc<Self>,
        env: &Env,
        engine: &Arc<Engine>,
        listener: Option<Arc<Listener>>,
    ) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        if !state.is_hooked {
            // Stays until the environment ends, which costs nothing but these fields.
            env.add_env_cleanup_hook(Arc::clone(self), |watching| watching.abandon())
                .map_err(|error| Failure::thrown(env, error))?;
            state.is_hooked = true;
        }
        state.engine = Some(Arc::clone(engine));
        state.listener = listener;
        Ok(())
    }

    /// The watch is about to end. Gives who listened, for [`Listener::deliver`] once it has.
    #[must_use]
    pub fn end(&self) -> Option<Arc<Listener>> {
        let mut state = lock(&self.state);
        state.engine = None;
        state.listener.take()
    }

    /// Ends the watch without waiting for it: the JavaScript thread is about to go.
    fn abandon(&self) {
        let State { engine, listener, .. } = std::mem::take(&mut *lock(&self.state));
        drop(listener);
        if let Some(engine) = engine {
            // Without a thread the job is dropped here and now, and the watch ends with the engine.
            let _ = threads::spawn(Length::Long, Box::new(move || engine.unwatch()));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Degradation;
    use crate::task::Phase;

    fn progress(files_done: u64) -> WatchEvent {
        let (files_total, current_file, remaining_ms) = (9, None, None);
        let phase = Phase::Index;
        WatchEvent::Progress(Progress {
            phase,
            files_done,
            files_total,
            current_file,
            remaining_ms,
            location: crate::config::settings::ProgressLocation::Notification,
        })
    }

    fn failed(message: &str) -> WatchEvent {
        WatchEvent::Failed(Degradation { code: "DISK_FULL", message: message.to_owned() })
    }

    fn take_all(mailbox: &mut Mailbox) -> Vec<String> {
        std::iter::from_fn(|| mailbox.take())
            .map(|event| match event {
                WatchEvent::Progress(progress) => progress.files_done.to_string(),
                WatchEvent::Failed(failure) => failure.message,
                WatchEvent::Synced(_) => "synced".to_owned(),
            })
            .collect()
    }

    #[test]
    fn of_progress_the_newest_counts_and_comes_seldom() {
        let mut mailbox = Mailbox::default();
        let start = Instant::now();
        assert!(mailbox.put(progress(1), start));
        assert!(!mailbox.put(progress(2), start + INTERVAL / 2));
        assert_eq!(take_all(&mut mailbox), ["2"]);
        assert!(!mailbox.put(progress(3), start + INTERVAL / 2));
        assert!(take_all(&mut mailbox).is_empty());
        assert!(mailbox.put(progress(4), start + INTERVAL));
        assert_eq!(take_all(&mut mailbox), ["4"]);
    }

    #[test]
    fn nothing_else_is_lost_and_progress_that_is_overtaken_is() {
        let mut mailbox = Mailbox::default();
        let start = Instant::now();
        mailbox.put(progress(1), start);
        assert!(mailbox.put(failed("a"), start) && mailbox.put(failed("b"), start));
        mailbox.put(progress(2), start + INTERVAL);
        assert_eq!(take_all(&mut mailbox), ["a", "b", "2"]);
    }
}
