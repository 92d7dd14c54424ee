//! An index on a server, with a real server that misbehaves, real repositories and a real git.

pub mod adapter;
mod answers;
pub mod server;
mod statuses;
mod time;
pub mod world;
