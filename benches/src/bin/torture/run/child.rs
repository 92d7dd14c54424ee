//! A process that works on the shared index: does seeded random things and checks every answer.
//!
//! It talks to its parent by lines: `did WHAT MS`, `code WHERE CODE`, `wrong KIND WORDS`.

mod judge;
mod report;
mod versions;

use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sextant::engine::{Degradation, Engine, Strategy};
use sextant::error::Error;
use sextant::task::{CancelToken, Progress};
use sextant_benches::workspace::request;

use super::ledger::Ledger;
use super::sentinels::{CONFIRMED, LEDGER, N_SENTINELS};
use super::watching::{keep_up_to_date, watch};
use crate::arguments::number;
use crate::code::QUERIES;
use crate::failure::{Failure, Result};
use crate::place;
use crate::random::Random;

use report::{BUSY, tell_wrong, timed};
pub use report::{SyncWatch, note_code, say};

/// An error of a search before the first run of any process is complete.
const NOT_BUILT: &str = "INDEX_NOT_BUILT";

const STRATEGIES: [Strategy; 3] = [Strategy::Hybrid, Strategy::Tfidf, Strategy::Auto];

/// What the child is and where it works.
pub struct Work {
    /// Holds the engine open and watches.
    is_watcher: bool,
    seed: u64,
    /// In so many of a hundred calls this process, or another, clears the index.
    clears: usize,
    root: PathBuf,
    storage: PathBuf,
}

impl Work {
    /// From the command line.
    pub fn parse(words: &[String]) -> Result<Self> {
        let [role, seed, clears, root, storage] = words else {
            return Err(Failure::Usage("--worker ROLE SEED CLEARS ROOT STORAGE".into()));
        };
        Ok(Self {
            is_watcher: role == "watcher",
            seed: number("the seed", seed)?,
            clears: number("the share of clears", clears)?,
            root: root.into(),
            storage: storage.into(),
        })
    }
}

/// What every call of this process shares.
pub struct Child {
    work: Work,
    ledger: Ledger,
    confirmed: Ledger,
    /// The highest version of each sentinel in any answer so far.
    highest: Mutex<[u64; N_SENTINELS]>,
    /// Whether any answer ever came: from then on there is an index.
    has_index: AtomicBool,
}

/// Works until standard input is closed.
pub fn work(work: &Work) -> Result<()> {
    let child = Arc::new(Child {
        ledger: Ledger::new(&work.storage.with_file_name(LEDGER)),
        confirmed: Ledger::new(&work.storage.with_file_name(CONFIRMED)),
        work: Work { root: work.root.clone(), storage: work.storage.clone(), ..*work },
        highest: Mutex::default(),
        has_index: AtomicBool::new(false),
    });
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::stdin().read(&mut [0]);
            stop.store(true, Ordering::Relaxed);
        });
        let done = if work.is_watcher { child.watch(&stop) } else { child.wander(&stop) };
        if let Err(failure) = &done {
            say(format_args!("wrong child {failure}"));
        }
        // Whoever fails waits for its parent all the same.
        done
    })
}

/// Whether a workspace in this state has an index; another process may be working on it.
fn is_whole(state: &str) -> bool {
    matches!(state, "ready" | "indexing")
}

impl Child {
    fn watch(self: &Arc<Self>, stop: &AtomicBool) -> Result<()> {
        let Some(engine) = self.open() else { return Ok(()) };
        let mut random = Random::new(self.work.seed, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| keep_up_to_date(self, &engine, stop));
            while !stop.load(Ordering::Relaxed) {
                // A watched engine looks only at what changed; its answers are judged as strictly.
                if random.percent(30) {
                    self.answer_sentinel(&engine, &mut random)?;
                } else {
                    self.search_sentinel(&engine, &mut random)?;
                }
                std::thread::sleep(Duration::from_millis(random.next() % 150));
            }
            Ok(())
        })
    }

    fn wander(self: &Arc<Self>, stop: &AtomicBool) -> Result<()> {
        let mut random = Random::new(self.work.seed, 0);
        let mut engine = None;
        while !stop.load(Ordering::Relaxed) {
            let Some(open) = &engine else {
                engine = self.open();
                if let Some(open) = engine.as_ref().filter(|_| random.percent(25)) {
                    watch(self, open);
                }
                continue;
            };
            if random.percent(self.work.clears) {
                self.clear(open, &mut random)?;
            }
            match random.below(100) {
                0..35 => self.answer_sentinel(open, &mut random)?,
                35..65 => self.search_sentinel(open, &mut random)?,
                65..77 => self.search_anything(open, &mut random),
                77..85 => self.ask_status(open),
                85..88 => self.sync(open, &SyncWatch::any(&mut random))?,
                88..92 => self.list(open),
                _ => {
                    open.close();
                    engine = None;
                    say(format_args!("did close 0"));
                }
            }
            let longest_ms = if random.percent(10) { 300 } else { 15 };
            std::thread::sleep(Duration::from_millis(random.next() % longest_ms));
        }
        Ok(())
    }

    fn open(&self) -> Option<Arc<Engine>> {
        let opened = timed("open", || place::open(&self.work.root, &self.work.storage));
        opened.map(Arc::new).map_err(|error| self.refused("open", &error)).ok()
    }

    /// Syncs, and reports how long it waited for another process.
    pub fn sync(&self, engine: &Engine, watch: &SyncWatch) -> Result<()> {
        let before = self.ledger.read()?;
        match timed("sync", || engine.sync(&CancelToken::new(), &|p: Progress| watch.see(&p))) {
            Ok(report) => {
                self.answered();
                self.notices(&report.degraded);
                self.confirm(&before)?;
            }
            Err(error) => self.refused("sync", &error),
        }
        watch.tell();
        Ok(())
    }

    /// Removes the index and makes a new one.
    fn clear(&self, engine: &Engine, random: &mut Random) -> Result<()> {
        if let Err(error) = timed("clear", || engine.clear()) {
            self.refused("clear", &error);
        }
        self.sync(engine, &SyncWatch::any(random))
    }

    fn search_anything(&self, engine: &Engine, random: &mut Random) {
        let query = *random.pick(QUERIES);
        let request = request(query, 20, *random.pick(&STRATEGIES));
        match timed("search", || engine.search(&CancelToken::new(), &request)) {
            Ok(response) => {
                let verdict = judge::hits(&response.hits).map_err(|words| ("lines", words));
                tell_wrong(verdict, || format!("search of {query:?}"));
            }
            Err(error) => self.refused("search", &error),
        }
    }

    fn ask_status(&self, engine: &Engine) {
        match timed("status", || engine.status()) {
            Ok(status) => {
                let must_be = self.has_index.load(Ordering::Relaxed) && self.work.clears == 0;
                if must_be && !is_whole(status.state) {
                    say(format_args!(
                        "wrong status it is {}, but there was an index",
                        status.state
                    ));
                }
            }
            Err(error) => self.refused("status", &error),
        }
    }

    fn list(&self, engine: &Engine) {
        match timed("list", || engine.files().and_then(|files| Ok((files, engine.skipped()?)))) {
            Ok((files, _)) => {
                let is_ordered = files.is_sorted_by(|a, b| a.path < b.path);
                if !is_ordered || files.len() < N_SENTINELS / 2 {
                    say(format_args!("wrong list {} files, ordered: {is_ordered}", files.len()));
                }
            }
            Err(error) => self.refused("list", &error),
        }
    }

    /// Whether this code only says that a process cleared the index.
    pub fn may_be_cleared(&self, code: &str) -> bool {
        self.work.clears > 0 && [NOT_BUILT, "INDEX_CLEARED"].contains(&code)
    }

    /// From the first answer on there is an index.
    pub fn answered(&self) {
        self.has_index.store(true, Ordering::Relaxed);
    }

    /// Counts an error; one that may not be is wrong.
    pub fn refused(&self, what: &str, error: &Error) {
        let code = error.code();
        let is_early = code == NOT_BUILT && !self.has_index.load(Ordering::Relaxed);
        if (is_early && what != "sync") || self.may_be_cleared(code) {
            say(format_args!("code {what} {code}"));
        } else {
            note_code(what, code, &error.chain());
        }
    }

    /// Reports what made an answer less than complete; whether it is up to date all the same.
    pub fn notices(&self, degraded: &[Degradation]) -> bool {
        let mut is_fresh = true;
        for degradation in degraded {
            say(format_args!("code degraded {}", degradation.code));
            match degradation.code {
                BUSY => is_fresh = false,
                "INDEX_CLEARED" if self.work.clears > 0 => is_fresh = false,
                "QUERY_NOT_EMBEDDED" | "WATCH_LIMIT" => {}
                code => say(format_args!("wrong degraded {code} {}", degradation.message)),
            }
        }
        is_fresh
    }
}
