//! Asking a JavaScript function from a thread of ours, and waiting for what its promise gives.
//!
//! Questions wait in a mailbox; a wake-up asks the JavaScript thread to take them and call the function with the question
//! and an `AbortSignal`. The signal aborts once nobody waits any more. What the function throws or rejects with is the
//! answer as well: a failure with its message. A question does not keep the process alive.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::bindgen_prelude::{
    CallbackContext, FnArgs, FromNapiValue, Function, FunctionRef, JsObjectValue, Object,
    PromiseRaw, Unknown,
};
use napi::{Env, JsValue};

use super::arguments::describe;
use super::failure::Failure;
use super::wake_up::WakeUp;

/// The method `abort`, bound to its controller.
type Abort = FunctionRef<(), Unknown<'static>>;
type Callback = FunctionRef<FnArgs<(Unknown<'static>, Object<'static>)>, Unknown<'static>>;

/// What a question is made into, and an answer out of.
pub trait Crossing: 'static {
    /// What is asked.
    type Question: Send + 'static;
    /// What is answered.
    type Answer: Send + 'static;

    /// The argument of the function.
    ///
    /// # Errors
    /// Node refuses.
    fn ask<'env>(env: &'env Env, question: Self::Question) -> napi::Result<Unknown<'env>>;

    /// What the function gave, or what is wrong with it.
    ///
    /// # Errors
    /// For a person.
    fn answer(env: &Env, value: Unknown<'_>) -> Result<Self::Answer, String>;
}

type Reply<C> = Box<dyn FnOnce(Result<<C as Crossing>::Answer, String>) + Send>;

enum Message<C: Crossing> {
    Ask { number: u64, question: C::Question, reply: Reply<C> },
    Stop { number: u64 },
}

/// The end that our threads hold.
pub struct Asker<C: Crossing> {
    mailbox: Arc<Mutex<VecDeque<Message<C>>>>,
    wake_up: WakeUp,
    next: AtomicU64,
}

/// The end that lives on the JavaScript thread.
struct Desk<C: Crossing> {
    mailbox: Arc<Mutex<VecDeque<Message<C>>>>,
    callback: Callback,
    /// How to abort the signal of each open question.
    aborts: Rc<RefCell<HashMap<u64, Abort>>>,
}

impl<C: Crossing> Asker<C> {
    /// Connects with the caller's function. `name` is what a stack trace shows.
    ///
    /// # Errors
    /// Node refuses.
    pub fn new(env: &Env, name: &str, callback: Unknown<'_>) -> Result<Self, Failure> {
        let thrown = |error| Failure::thrown(env, error);
        let callback: Function<'_, FnArgs<(Unknown<'static>, Object<'static>)>, Unknown<'static>> =
            Function::from_unknown(callback).map_err(thrown)?;
        let mailbox = Arc::new(Mutex::new(VecDeque::new()));
        let desk = Desk::<C> {
            mailbox: Arc::clone(&mailbox),
            callback: callback.create_ref().map_err(thrown)?,
            aborts: Rc::default(),
        };
        let wake_up = WakeUp::new(env, name, move |env| desk.work(env))?;
        Ok(Self { mailbox, wake_up, next: AtomicU64::new(0) })
    }

    /// Asks. `reply` is called on the JavaScript thread, at most once. Gives the number of the question.
    pub fn ask(&self, question: C::Question, reply: Reply<C>) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.mailbox).push_back(Message::Ask { number, question, reply });
        self.wake_up.send();
        number
    }

    /// Nobody waits for the answer any more.
    pub fn stop(&self, number: u64) {
        let is_it = |message: &Message<C>| matches!(message, Message::Ask { number: it, .. } if *it == number);
        let mut mailbox = lock(&self.mailbox);
        // What the JavaScript thread has not come to yet is never asked: the call may cost money.
        if let Some(at) = mailbox.iter().position(is_it) {
            let waiting = mailbox.remove(at);
            drop(mailbox);
            drop(waiting);
            return;
        }
        mailbox.push_back(Message::Stop { number });
        drop(mailbox);
        self.wake_up.send();
    }
}

impl<C: Crossing> Desk<C> {
    fn work(&self, env: &Env) {
        loop {
            let Some(message) = lock(&self.mailbox).pop_front() else { return };
            match message {
                Message::Ask { number, question, reply } => {
                    let reply = Arc::new(Mutex::new(Some(reply)));
                    if let Err(error) = self.call(env, number, question, &reply) {
                        // What the function threw waits in the environment.
                        let Failure::Thrown(error) = Failure::thrown(env, error) else { continue };
                        self.aborts.borrow_mut().remove(&number);
                        give::<C>(&reply, Err(said(env, error)));
                    }
                }
                Message::Stop { number } => {
                    let abort = self.aborts.borrow_mut().remove(&number);
                    // Listeners of the signal may throw; nobody waits for them.
                    let _ =
                        abort.map(|abort| abort.borrow_back(env).and_then(|abort| abort.call(())));
                }
            }
        }
    }

    fn call(
        &self,
        env: &Env,
        number: u64,
        question: C::Question,
        reply: &Arc<Mutex<Option<Reply<C>>>>,
    ) -> napi::Result<()> {
        let constructor: Function<'_, (), Unknown<'_>> =
            env.get_global()?.get_named_property("AbortController")?;
        let controller = constructor.new_instance(())?.coerce_to_object()?;
        let signal: Unknown<'_> = controller.get_named_property("signal")?;
        let mut options = Object::new(env)?;
        options.set_named_property("signal", signal)?;
        let abort: Function<'_, (), Unknown<'static>> = controller.get_named_property("abort")?;
        self.aborts.borrow_mut().insert(number, abort.bind(controller)?.create_ref()?);

        let question = C::ask(env, question)?;
        // SAFETY: both values live as long as this callback, in which the function is called.
        let (question, options) = unsafe {
            (
                Unknown::from_napi_value(env.raw(), question.raw())?,
                Object::from_napi_value(env.raw(), options.raw())?,
            )
        };
        let value = self.callback.borrow_back(env)?.call((question, options).into())?;
        let promise = PromiseRaw::<Unknown<'_>>::resolve(env, value)?;
        let (done, failed) = (Arc::clone(reply), Arc::clone(reply));
        let (answered, rejected) = (Rc::clone(&self.aborts), Rc::clone(&self.aborts));
        promise
            .then(move |context| {
                answered.borrow_mut().remove(&number);
                give::<C>(&done, C::answer(&context.env, context.value));
                Ok(())
            })?
            .catch(move |context: CallbackContext<Unknown<'_>>| {
                rejected.borrow_mut().remove(&number);
                give::<C>(&failed, Err(message_of(&context.value)));
                Ok(())
            })?;
        Ok(())
    }
}

fn give<C: Crossing>(reply: &Mutex<Option<Reply<C>>>, answer: Result<C::Answer, String>) {
    if let Some(reply) = lock(reply).take() {
        reply(answer);
    }
}

/// What was thrown, in words.
fn said(env: &Env, error: napi::Error) -> String {
    let reason = error.reason.clone();
    // SAFETY: the error is turned into a value of the environment that runs.
    let value = unsafe {
        napi::bindgen_prelude::ToNapiValue::to_napi_value(env.raw(), error)
            .and_then(|raw| Unknown::from_napi_value(env.raw(), raw))
    };
    value.map_or(reason, |value| message_of(&value))
}

/// The message of an error, or what else was thrown.
fn message_of(value: &Unknown<'_>) -> String {
    let message = value.coerce_to_object().ok().and_then(|object| {
        let message: Unknown<'_> = object.get_named_property("message").ok()?;
        String::from_unknown(message).ok()
    });
    message.filter(|message| !message.is_empty()).unwrap_or_else(|| describe(value))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
