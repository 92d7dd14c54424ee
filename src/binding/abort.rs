//! `AbortSignal` to [`CancelToken`].
//!
//! napi's own `AbortSignal` overwrites `signal.onabort`, overlooks a signal that is already aborted and cannot stop
//! work that runs. This one listens, and stops listening when the call is over.

use napi::bindgen_prelude::{
    FnArgs, FromNapiValue, Function, FunctionRef, JsObjectValue, Object, Unknown,
};
use napi::{Env, JsValue, ValueType};

use super::arguments::describe;
use super::failure::Failure;
use crate::task::CancelToken;

type ListenerArgs = FnArgs<(&'static str, Function<'static, (), ()>)>;
/// `addEventListener` or `removeEventListener`, bound to its signal.
type Method = FunctionRef<ListenerArgs, Unknown<'static>>;

struct Listener {
    function: FunctionRef<(), ()>,
}

/// A listener on a signal; lives on the JavaScript thread.
pub struct AbortListener {
    remove: Method,
    listener: Listener,
}

/// Cancels `token` once `signal` aborts. `None` if it already has: the token is then cancelled.
///
/// # Errors
/// `signal` is not an `AbortSignal`, or throws.
pub fn listen(
    env: &Env,
    signal: Unknown<'_>,
    token: &CancelToken,
) -> Result<Option<AbortListener>, Failure> {
    let wrong = || Failure::argument("signal", describe(&signal), "an AbortSignal");
    if signal.get_type().ok() != Some(ValueType::Object) {
        return Err(wrong());
    }
    let thrown = |error| Failure::thrown(env, error);
    let object = signal.coerce_to_object().map_err(thrown)?;
    let aborted = property(env, &object, "aborted")?;
    if aborted.get_type().ok() != Some(ValueType::Boolean) {
        return Err(wrong());
    }
    if aborted.coerce_to_bool().map_err(thrown)? {
        token.cancel();
        return Ok(None);
    }
    let add = method(env, &object, "addEventListener")?.ok_or_else(wrong)?;
    let remove = method(env, &object, "removeEventListener")?.ok_or_else(wrong)?;
    let token = token.clone();
    let listener: Function<'_, (), ()> = env
        .create_function_from_closure("onAbort", move |_| {
            token.cancel();
            Ok(())
        })
        .map_err(thrown)?;
    let listener = Listener { function: listener.create_ref().map_err(thrown)? };
    listener.pass_to(env, &add).map_err(thrown)?;
    Ok(Some(AbortListener { remove, listener }))
}

impl Listener {
    fn pass_to(&self, env: &Env, method: &Method) -> napi::Result<()> {
        let function = self.function.borrow_back(env)?;
        method.borrow_back(env)?.call(("abort", function).into()).map(drop)
    }
}

impl AbortListener {
    /// Stops listening.
    pub fn remove(&self, env: &Env) {
        // A signal that throws here changes nothing about how the call went.
        let _ = self.listener.pass_to(env, &self.remove);
    }
}

fn property<'env>(
    env: &Env,
    object: &Object<'env>,
    name: &'static str,
) -> Result<Unknown<'env>, Failure> {
    object.get_named_property(name).map_err(|error| Failure::thrown(env, error))
}

/// The method `name`, bound to its object; `None` if there is no such method.
fn method(env: &Env, object: &Object<'_>, name: &'static str) -> Result<Option<Method>, Failure> {
    let thrown = |error| Failure::thrown(env, error);
    let method = property(env, object, name)?;
    if method.get_type().ok() != Some(ValueType::Function) {
        return Ok(None);
    }
    let method: Function<'_, ListenerArgs, Unknown<'static>> =
        Function::from_unknown(method).map_err(thrown)?;
    let bound = method.bind(object).map_err(thrown)?;
    bound.create_ref().map(Some).map_err(thrown)
}
