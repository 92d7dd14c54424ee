//! The only room that knows Node.
//!
//! In: JavaScript values. Out: promises. Every call is checked, handed to a thread that is neither the JavaScript
//! thread nor one of libuv's, run inside one panic guard, and settled back on the JavaScript thread.
//!
//! Invariants: nothing throws and nothing aborts (every failure is a rejection with a stable `code`); text is copied,
//! never shared (Electron forbids outside memory); a pending call keeps the process alive, nothing else does, a watch
//! neither;
//! each environment (main thread, worker) can come and go without the others noticing.

mod abort;
mod arguments;
mod ask;
mod call;
mod failure;
mod log;
mod models;
mod options;
mod order;
mod progress;
#[cfg_attr(test, allow(dead_code, reason = "Node registers no free functions in tests"))]
mod render;
mod results;
mod running;
mod settings;
mod threads;
mod wake_up;
mod watch;
mod workspace;
