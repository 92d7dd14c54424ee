//! How a thread of ours asks the JavaScript thread to look into a mailbox.

use napi::bindgen_prelude::Function;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Env, Status};

use super::failure::Failure;

/// Weak, so that it does not keep the process alive; a queue of one, because a wake-up carries nothing.
pub struct WakeUp(ThreadsafeFunction<(), (), (), Status, false, true, 1>);

impl WakeUp {
    /// Calls `deliver` on the JavaScript thread after each [`WakeUp::send`]. `name` is what a stack trace shows.
    ///
    /// # Errors
    /// Node refuses.
    pub fn new(env: &Env, name: &str, deliver: impl Fn(&Env) + 'static) -> Result<Self, Failure> {
        let thrown = |error| Failure::thrown(env, error);
        let woken: Function<'_, (), ()> = env
            .create_function_from_closure(name, move |context| {
                deliver(context.env);
                Ok(())
            })
            .map_err(thrown)?;
        woken
            .build_threadsafe_function::<()>()
            .weak::<true>()
            .max_queue_size::<1>()
            .build()
            .map(Self)
            .map_err(thrown)
    }

    /// Wakes, from any thread. A full queue means that a wake-up is already on its way; a closed one, that nobody listens
    /// any more.
    pub fn send(&self) {
        self.0.call((), ThreadsafeFunctionCallMode::NonBlocking);
    }
}
