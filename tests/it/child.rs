//! This binary run again as another process, to be killed or to have fewer rights.
//!
//! `SEXTANT_IT_CHILD` holds the work to do, the root, and the storage, a line each. The work is `sync`, `ask`, or
//! `threads` and a performance mode.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sextant::config::keys::{self, Value};
use sextant::engine::Engine;
use sextant::task::{CancelToken, Progress};

use crate::support::{options, sync_and_search};
use crate::threads;

const VARIABLE: &str = "SEXTANT_IT_CHILD";
/// Begins every line that a child says.
pub const SAYS: &str = "child: ";

/// A command that runs `work` in a process of its own. Its words come line by line on its standard output.
pub fn command(work: &str, root: &Path, storage: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child::works_when_told_to", "--nocapture", "--test-threads=1"])
        .env(VARIABLE, format!("{work}\n{}\n{}", root.display(), storage.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// The words of a line, if the child said it.
pub fn words(line: &str) -> Option<&str> {
    line.find(SAYS).map(|at| &line[at + SAYS.len()..])
}

fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{SAYS}{words}").unwrap();
    out.flush().unwrap();
}

/// Does nothing in a plain run.
#[test]
fn works_when_told_to() {
    let Ok(work) = std::env::var(VARIABLE) else { return };
    let parts: Vec<&str> = work.lines().collect();
    let &[work, root, storage] = parts.as_slice() else { panic!("three lines, not {work:?}") };
    let mut options = options(&[PathBuf::from(root)], Path::new(storage));
    if let Some(mode) = work.strip_prefix("threads ") {
        let mode = Value::Text(mode.to_owned());
        keys::set(&mut options.config.settings, "vectorDb.performanceMode", &mode).unwrap();
    }
    let engine = match Engine::open(options) {
        Ok(engine) => engine,
        Err(error) => return say(error.code()),
    };
    let result = match work {
        "sync" => {
            let progress = |report: Progress| say(report.phase.name());
            engine.sync(&CancelToken::new(), &progress).map(|_| "done".to_owned())
        }
        _ if work.starts_with("threads") => {
            let watch = threads::Watch::new();
            engine
                .sync(&CancelToken::new(), &|report: Progress| watch.report(report.phase))
                .map(|_| watch.words())
        }
        _ => sync_and_search(&engine, "marker_function").map(|response| {
            let code = response.degraded.first().map_or("OK", |degradation| degradation.code);
            format!("{code} {}", response.hits.len())
        }),
    };
    say(&result.unwrap_or_else(|error| error.code().to_owned()));
}
