//! An index on a server, with a real server that misbehaves, real repositories and a real git.

mod adapter;
mod answers;
mod server;
mod statuses;
mod time;
mod world;
