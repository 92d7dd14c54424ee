//! The only room that knows Node.
