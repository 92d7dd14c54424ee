//! The process that is killed: it opens the engine, syncs, and says line by line how far it is.

use std::io::{Read, Write};
use std::path::PathBuf;

use sextant::engine::{Engine, Strategy};
use sextant::error::Error;
use sextant::task::{CancelToken, Progress};
use sextant_benches::workspace::request;

use crate::failure::{Failure, Result};
use crate::place;

/// What the child does after opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Syncs.
    Sync,
    /// Syncs and searches.
    SyncAndSearch,
    /// Clears and syncs.
    ClearAndSync,
}

impl Job {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::SyncAndSearch => "sync-search",
            Self::ClearAndSync => "clear-sync",
        }
    }
}

/// A job and where.
pub struct Work {
    job: Job,
    root: PathBuf,
    storage: PathBuf,
}

impl Work {
    /// From the command line.
    pub fn parse(words: &[String]) -> Result<Self> {
        let [job, root, storage] = words else {
            return Err(Failure::Usage("--victim JOB ROOT STORAGE".into()));
        };
        let job = [Job::Sync, Job::SyncAndSearch, Job::ClearAndSync]
            .into_iter()
            .find(|known| known.name() == job)
            .ok_or_else(|| Failure::Usage(format!("unknown job {job}")))?;
        Ok(Self { job, root: root.into(), storage: storage.into() })
    }
}

/// Does it, then waits to be killed; ends by itself once its standard input is closed.
pub fn work(work: &Work) -> Result<()> {
    match do_job(work) {
        Ok(()) => say("idle"),
        Err(error) => say(&format!("error {} {}", error.code(), error.chain())),
    }
    // Ends with the parent, whatever comes.
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}

fn do_job(work: &Work) -> std::result::Result<(), Error> {
    let engine: Engine = place::open(&work.root, &work.storage)?;
    if work.job == Job::ClearAndSync {
        say("clear");
        engine.clear()?;
        say("cleared");
    }
    let progress = |report: Progress| say(report.phase.name());
    engine.sync(&CancelToken::new(), &progress)?;
    say("synced");
    if work.job == Job::SyncAndSearch {
        for query in crate::code::QUERIES {
            engine.search(&CancelToken::new(), &request(query, 10, Strategy::Hybrid))?;
        }
    }
    // The engine stays open until the end of the process.
    std::mem::forget(engine);
    Ok(())
}

/// A line to the parent. If there is no parent any more, there is nobody to tell.
fn say(words: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{words}");
    let _ = out.flush();
}
