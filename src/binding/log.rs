//! What a workspace logs, from any thread to a JavaScript callback.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::Env;
use napi::bindgen_prelude::{FnArgs, FromNapiValue, Function, FunctionRef, Unknown};

use super::failure::{Failure, report_uncaught};
use super::wake_up::WakeUp;
use crate::config::settings::LogLevel;
use crate::log::LogSink;

/// Sentences that wait, at most; the oldest go first. A host that is busy for so long reads none of them.
const MAX_WAITING: usize = 10_000;

type Waiting = Arc<Mutex<VecDeque<(LogLevel, String)>>>;
type Callback = FunctionRef<FnArgs<(&'static str, String)>, Unknown<'static>>;

struct JsLog {
    waiting: Waiting,
    wake_up: WakeUp,
}

impl LogSink for JsLog {
    fn log(&self, level: LogLevel, message: &str) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() == MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back((level, message.to_owned()));
        drop(waiting);
        self.wake_up.send();
    }
}

/// Connects with the caller's `onLog`. What it throws is an uncaught exception, as with any listener.
///
/// # Errors
/// Node refuses.
pub fn connect(env: &Env, callback: Unknown<'_>) -> Result<Arc<dyn LogSink>, Failure> {
    let thrown = |error| Failure::thrown(env, error);
    let callback: Function<'_, FnArgs<(&'static str, String)>, Unknown<'static>> =
        Function::from_unknown(callback).map_err(thrown)?;
    let callback: Callback = callback.create_ref().map_err(thrown)?;
    let waiting = Waiting::default();
    let told = Arc::clone(&waiting);
    let wake_up = WakeUp::new(env, "onLog", move |env| {
        loop {
            let Some((level, message)) = lock(&told).pop_front() else { return };
            let called = callback
                .borrow_back(env)
                .and_then(|callback| callback.call((level.name(), message).into()));
            if let Err(error) = called {
                report_uncaught(env, error);
            }
        }
    })?;
    Ok(Arc::new(JsLog { waiting, wake_up }))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
