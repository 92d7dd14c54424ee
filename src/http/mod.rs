//! How is a server on the network asked, politely and without surprises?
//!
//! In: an [`Address`], headers, a body, and a time limit that covers the whole exchange. Out: a [`Response`] of any
//! status, or a [`Failure`] that says what went wrong on the way. Beside it, pure parts: [`Limiter`] says when the next
//! request may leave, [`retry`] whether and when one is repeated. Both are told the time and never sleep.
//!
//! Always: a key is a [`Secret`], which no error, address or `Debug` shows; it leaves the machine only for the origin
//! that it was given for. Certificates are checked unless the caller says otherwise in so many words. What a server
//! sends is bounded. Blocking; a caller that may be stopped runs it on a thread of its own and [`Client::abandon`]s it.
//!
//! Why own code for TLS: `ureq` neither adds a certificate to those of the platform nor says who issued a refused one.

mod address;
mod authorities;
mod client;
mod date;
mod issuer;
mod limiter;
mod proxy;
pub mod retry;
mod secret;
mod tls;

pub use address::{Address, AddressError};
pub use client::{
    Client, Connections, Failure, FailureKind, Lane, MAX_REDIRECTS, Network, NetworkError, Request,
    Response,
};
pub use limiter::{Limiter, Limits, Note};
pub use secret::Secret;

/// The environment, as far as the room asks it: the value of a variable, if it is set.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;
