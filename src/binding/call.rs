//! One call from its arguments to its settled promise.

use std::io;
use std::sync::Arc;

use napi::bindgen_prelude::{PromiseRaw, ToNapiValue, Unknown};
use napi::{Env, JsValue};

use super::abort::{self, AbortListener};
use super::failure::{Failure, guard};
use super::options::CallOptions;
use super::progress::{self, ProgressReceiver, ProgressSender};
use super::running::Running;
use super::threads::{self, Length};
use crate::error::Error;
use crate::task::{CancelToken, NoProgress, ProgressSink};

/// Turns a result into the value of a promise, on the JavaScript thread.
type Settle<T> = Box<dyn FnOnce(Env) -> napi::Result<T> + Send>;

/// What a running call is given.
pub struct Task {
    /// Asks the call to stop.
    pub cancel: CancelToken,
    progress: Option<ProgressSender>,
}

impl Task {
    /// Where the call reports how far it is.
    pub fn progress(&self) -> &dyn ProgressSink {
        match &self.progress {
            Some(sender) => sender,
            None => &NoProgress,
        }
    }
}

/// A promise for what `work` answers, on a thread of its kind. Refused arguments reject it at once.
///
/// # Errors
/// Node does not give us a promise.
pub fn start<'env, A, T>(
    env: &'env Env,
    running: &Arc<Running>,
    length: Length,
    call: impl FnOnce() -> Result<(A, CallOptions<'env>), Failure>,
    work: impl FnOnce(&Task, A) -> Result<T, Error> + Send + 'static,
) -> napi::Result<PromiseRaw<'env, T>>
where
    A: Send + 'static,
    T: ToNapiValue + Send + 'static,
{
    let cancel = CancelToken::new();
    let prepared = guard(|| {
        let (arguments, options) = call()?;
        let (task, listeners) = connect(env, &options, &cancel)?;
        Ok((arguments, task, listeners))
    });
    let (arguments, task, listeners) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => return PromiseRaw::reject(env, failure.into_js(env)),
    };
    let registered = running.enter(&cancel);
    let promise = run(env, length, move || {
        let result = guard(|| {
            task.cancel.check().map_err(Error::from)?;
            work(&task, arguments).map_err(Failure::from)
        });
        drop(registered);
        result
    })?;
    listeners.leave_when_settled(env, &promise, cancel)
}

/// A promise for what `work` answers, which nothing can stop.
///
/// # Errors
/// Node does not give us a promise.
pub fn run<'env, T>(
    env: &'env Env,
    length: Length,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> napi::Result<PromiseRaw<'env, T>>
where
    T: ToNapiValue + Send + 'static,
{
    let (deferred, promise) = env.create_deferred::<T, Settle<T>>()?;
    let spare = deferred.clone();
    let started = threads::spawn(
        length,
        Box::new(move || {
            let result = guard(work);
            deferred.resolve(Box::new(move |env| result.map_err(|failure| failure.into_js(&env))));
        }),
    );
    if let Err(error) = started {
        spare.resolve(Box::new(move |env| Err(no_thread(&error).into_js(&env))));
    }
    Ok(PromiseRaw::new(env.raw(), promise.raw()))
}

fn no_thread(error: &io::Error) -> Failure {
    Failure::Bug(format!("the system gives us no thread: {error}"))
}

/// What a call leaves on the JavaScript thread.
struct Listeners {
    abort: Option<AbortListener>,
    progress: Option<ProgressReceiver>,
}

fn connect(
    env: &Env,
    options: &CallOptions<'_>,
    cancel: &CancelToken,
) -> Result<(Task, Listeners), Failure> {
    let (sender, progress) = match &options.on_progress {
        Some(callback) => {
            let (sender, receiver) = progress::connect(env, *callback, cancel)?;
            (Some(sender), Some(receiver))
        }
        None => (None, None),
    };
    let abort = match options.signal {
        Some(signal) => abort::listen(env, signal, cancel)?,
        None => None,
    };
    cancel.check().map_err(Error::from)?;
    Ok((Task { cancel: cancel.clone(), progress: sender }, Listeners { abort, progress }))
}

impl Listeners {
    /// A promise like `promise`, which settles once the last progress is delivered and nobody listens any more. If the
    /// environment ends first, the call is cancelled.
    fn leave_when_settled<'env, T>(
        self,
        env: &Env,
        promise: &PromiseRaw<'env, T>,
        cancel: CancelToken,
    ) -> napi::Result<PromiseRaw<'env, T>> {
        let at_the_end = env.add_env_cleanup_hook(cancel, |cancel| cancel.cancel())?;
        let Self { abort, progress } = self;
        let settled = PromiseRaw::<Unknown<'_>>::new(env.raw(), promise.raw()).finally(
            move |env| -> napi::Result<Option<PromiseRaw<'_, ()>>> {
                env.remove_env_cleanup_hook(at_the_end)?;
                if let Some(listener) = &abort {
                    listener.remove(&env);
                }
                match progress.as_ref().map(|receiver| receiver.finish(&env)) {
                    // Rejecting passes on the very value that was thrown; an `Err` would wrap it.
                    Some(Err(thrown)) => PromiseRaw::reject(&env, thrown).map(Some),
                    _ => Ok(None),
                }
            },
        )?;
        Ok(PromiseRaw::new(env.raw(), settled.raw()))
    }
}
