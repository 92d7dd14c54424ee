//! Progress from the run's threads to a JavaScript callback.
//!
//! The newest report waits in a mailbox; at most every 100 ms a wake-up is sent to the JavaScript thread, which takes
//! the report and calls back. What still waits when the call is over is delivered just before the promise settles, so
//! the last report is never lost and none comes afterwards.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use napi::bindgen_prelude::{FromNapiValue, Function, FunctionRef, Unknown};
use napi::{Env, ValueType};

use super::arguments::describe;
use super::failure::Failure;
use super::results::Progress;
use super::wake_up::WakeUp;
use crate::task::{self, CancelToken, ProgressSink};

/// Between two reports, at least.
const INTERVAL: Duration = Duration::from_millis(100);

type Callback = FunctionRef<Progress, Unknown<'static>>;

#[derive(Default)]
struct Mailbox {
    waiting: Option<task::Progress>,
    last_wake_up: Option<Instant>,
}

/// The end that the run holds.
pub struct ProgressSender {
    mailbox: Arc<Mutex<Mailbox>>,
    wake_up: WakeUp,
}

/// The end that lives on the JavaScript thread.
pub struct ProgressReceiver(Rc<Receiver>);

struct Receiver {
    mailbox: Arc<Mutex<Mailbox>>,
    callback: Callback,
    cancel: CancelToken,
    thrown: RefCell<Option<napi::Error>>,
}

/// Connects a run with the caller's `onProgress`. What the callback throws stops the run through `cancel`.
///
/// # Errors
/// `callback` is no function.
pub fn connect(
    env: &Env,
    callback: Unknown<'_>,
    cancel: &CancelToken,
) -> Result<(ProgressSender, ProgressReceiver), Failure> {
    if callback.get_type().ok() != Some(ValueType::Function) {
        return Err(Failure::argument("onProgress", describe(&callback), "a function"));
    }
    let thrown = |error| Failure::thrown(env, error);
    let callback: Function<'_, Progress, Unknown<'static>> =
        Function::from_unknown(callback).map_err(thrown)?;
    let mailbox = Arc::new(Mutex::new(Mailbox::default()));
    let receiver = Rc::new(Receiver {
        mailbox: Arc::clone(&mailbox),
        callback: callback.create_ref().map_err(thrown)?,
        cancel: cancel.clone(),
        thrown: RefCell::new(None),
    });
    let woken = Rc::clone(&receiver);
    let wake_up = WakeUp::new(env, "onProgress", move |env| woken.deliver(env))?;
    Ok((ProgressSender { mailbox, wake_up }, ProgressReceiver(receiver)))
}

impl ProgressSink for ProgressSender {
    fn report(&self, progress: task::Progress) {
        let now = Instant::now();
        let mut mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        mailbox.waiting = Some(progress);
        if mailbox.last_wake_up.is_none_or(|last| now.duration_since(last) >= INTERVAL) {
            mailbox.last_wake_up = Some(now);
            drop(mailbox);
            self.wake_up.send();
        }
    }
}

impl Receiver {
    fn deliver(&self, env: &Env) {
        let waiting = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner).waiting.take();
        let Some(progress) = waiting else { return };
        if self.thrown.borrow().is_some() {
            return;
        }
        let called =
            self.callback.borrow_back(env).and_then(|callback| callback.call(progress.into()));
        if let Err(error) = called {
            self.cancel.cancel();
            self.thrown.replace(Some(error));
        }
    }
}

impl ProgressReceiver {
    /// Delivers what still waits.
    ///
    /// # Errors
    /// What the callback threw, now or before.
    pub fn finish(&self, env: &Env) -> napi::Result<()> {
        self.0.deliver(env);
        match self.0.thrown.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}
