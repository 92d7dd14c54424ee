//! Of the room as a whole, on the real file system. Only Linux promises the order that lets a test know when an event
//! must have come.
#![cfg(target_os = "linux")]

mod files;
mod folders;
mod limits;
mod support;
