//! Tests of the room. Those that need a server are in `tests/it/remote`.

mod call;
mod diff;
mod gate;
mod local;
mod merge;
mod ready;
mod repo;
mod resolve;

use std::path::Path;

use super::types::Repository;

/// A repository on a server that does not exist.
fn repository(top: &Path) -> Repository {
    Repository {
        top: top.to_owned(),
        prefix: String::new(),
        remote_url: "https://git.example/acme/app.git".into(),
        host: "git.example".into(),
        owner: "acme".into(),
        name: "app".into(),
    }
}
