//! The one crossing for errors and the one for panics.

use std::any::Any;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Unknown};
use napi::{Env, JsError, JsValue, sys};

use crate::error::Error;

/// Why a call did not succeed.
pub enum Failure {
    /// The engine says no, or an argument is not what it must be.
    Engine(Error),
    /// The caller's own JavaScript threw: a getter, a proxy, a progress callback.
    Thrown(napi::Error),
    /// Sextant itself is wrong.
    Bug(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl Failure {
    /// An argument that is not what it must be.
    pub fn argument(
        name: impl Into<Cow<'static, str>>,
        value: String,
        expected: impl Into<String>,
    ) -> Self {
        let name = name.into();
        Self::Engine(Error::InvalidArgument { name, value, expected: expected.into() })
    }

    /// Takes what the caller's JavaScript threw while `error` came about; `error` itself if it threw nothing.
    pub fn thrown(env: &Env, error: napi::Error) -> Self {
        Self::Thrown(take_exception(env).unwrap_or(error))
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Engine(error) => error.code(),
            Self::Thrown(_) | Self::Bug(_) => "INTERNAL",
        }
    }

    /// The value to reject with: what was thrown, as it was thrown, or an `Error` with `code`.
    pub fn into_js(self, env: &Env) -> napi::Error {
        let code = self.code();
        let message = match self {
            Self::Thrown(error) => return error,
            Self::Engine(error) => error.chain(),
            Self::Bug(message) => {
                format!("sextant hit a bug of its own, please report it: {message}")
            }
        };
        let error = JsError::from(napi::Error::new(code, message)).into_unknown(*env);
        if code == "CANCELLED" {
            // What `AbortSignal` users look for.
            let named = error
                .coerce_to_object()
                .and_then(|mut object| object.set_named_property("name", "AbortError"));
            if let Err(error) = named {
                return error;
            }
        }
        napi::Error::from(error)
    }
}

/// Clears the exception that is pending in `env`, and returns it.
fn take_exception(env: &Env) -> Option<napi::Error> {
    let mut pending = false;
    let mut exception = std::ptr::null_mut();
    // SAFETY: `env` is the environment of the running callback, and the out-pointers are valid.
    unsafe {
        sys::napi_is_exception_pending(env.raw(), &raw mut pending);
        if !pending {
            return None;
        }
        sys::napi_get_and_clear_last_exception(env.raw(), &raw mut exception);
    }
    if exception.is_null() {
        return None;
    }
    // SAFETY: a non-null value that Node just gave for this environment.
    let value = unsafe { Unknown::from_napi_value(env.raw(), exception) };
    Some(match value {
        Ok(value) => napi::Error::from_unknown_without_coercion(value),
        Err(error) => error,
    })
}

/// Hands what a listener threw to the process, as an uncaught exception.
pub fn report_uncaught(env: &Env, error: napi::Error) {
    let error = JsError::from(error).into_unknown(*env);
    // SAFETY: `env` is the environment of the running callback, and `error` a value of it. Node refuses while an
    // environment ends; nobody is left to tell then.
    unsafe { sys::napi_fatal_exception(env.raw(), error.raw()) };
}

/// Runs `work`; a panic inside becomes [`Failure::Bug`].
pub fn guard<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Failure::Bug(panic_message(panic.as_ref()))))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "panic without a message".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::WalkError;

    #[test]
    fn a_panic_becomes_a_bug_with_its_message() {
        let failure = guard::<()>(|| panic!("no {}", "luck")).err().unwrap();
        assert_eq!(failure.code(), "INTERNAL");
        assert!(matches!(failure, Failure::Bug(message) if message == "no luck"));
    }

    #[test]
    fn the_message_names_every_cause() {
        let error = Error::Walk(WalkError::Unreadable {
            path: "/x".into(),
            source: std::io::Error::other("the disk is on fire"),
        });
        assert_eq!(error.chain(), "cannot read the folder /x: the disk is on fire");
    }
}
