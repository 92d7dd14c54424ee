//! Asks for sentinels and compares the versions that are answered with those that can be right.

use std::sync::PoisonError;

use sextant::engine::{Engine, SearchResponse};
use sextant::error::Error;
use sextant::task::{CancelToken, Progress};
use sextant_benches::workspace::request;

use super::judge::{self, Verdict};
use super::report::{WaitWatch, say, tell_wrong, timed};
use super::{Child, STRATEGIES};
use crate::failure::Result;
use crate::marked;
use crate::random::Random;
use crate::run::ledger::{Entry, now_ms};
use crate::run::sentinels::N_SENTINELS;

/// What this process saw of a sentinel.
#[derive(Clone, Copy, Default)]
pub struct SeenVersions {
    /// The highest version of any answer.
    highest: u64,
    /// The version of the last up-to-date answer while the sentinel lay still.
    confirmed: u64,
}

/// A question for one sentinel, and what the ledger said before and after.
struct Asked {
    at: usize,
    before: Entry,
    after: Entry,
    found: Vec<u64>,
}

impl Child {
    /// Syncs and searches: the answer shows every change that was over before the call.
    pub fn answer_sentinel(&self, engine: &Engine, random: &mut Random) -> Result<()> {
        let watch = WaitWatch::default();
        let started = now_ms();
        let mut is_fresh = true;
        let asked = self.ask(random, "answer", |request| {
            let progress = |report: Progress| watch.see(&report);
            let response = engine.sync_and_search(&CancelToken::new(), &progress, request)?;
            is_fresh = self.notices(&response.degraded);
            Ok(response)
        })?;
        watch.tell();
        let Some(asked) = asked else { return Ok(()) };
        let (before, after) = (asked.before, asked.after);
        let verdict = self.judge(&asked).and_then(|()| {
            if is_fresh { judge::fresh(&asked.found, &before, &after) } else { Ok(()) }
        });
        if is_fresh && verdict.is_ok() && judge::is_still(&before, &after) {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen[asked.at].confirmed = before.written;
        }
        tell_wrong(verdict, || {
            format!(
                "sync_and_search of sentinel {} began at {started} ms, ended at {} ms: {before:?} {after:?}",
                asked.at,
                now_ms()
            )
        });
        Ok(())
    }

    /// Searches the last published state, and reports by how much it is behind.
    pub fn search_sentinel(&self, engine: &Engine, random: &mut Random) -> Result<()> {
        let asked =
            self.ask(random, "search", |request| engine.search(&CancelToken::new(), request))?;
        let Some(asked) = asked else { return Ok(()) };
        let Asked { at, before, after, found } = &asked;
        let is_behind = found.iter().all(|&version| version < before.written);
        let lag_ms = if is_behind { now_ms().saturating_sub(before.written_ms) } else { 0 };
        say(format_args!("did lag {lag_ms}"));
        let confirmed = self.seen.lock().unwrap_or_else(PoisonError::into_inner)[*at].confirmed;
        let verdict = self.judge(&asked).and_then(|()| {
            if found.is_empty() && confirmed == after.announced {
                let words = format!("version {confirmed} was answered before, and is still there");
                return Err(("vanished", words));
            }
            Ok(())
        });
        tell_wrong(verdict, || {
            format!("search of sentinel {at} at {} ms: {before:?} {after:?}", now_ms())
        });
        Ok(())
    }

    /// Asks for any sentinel; `None` if the engine refused, or if an answer that makes no sense was reported.
    fn ask(
        &self,
        random: &mut Random,
        what: &str,
        call: impl FnOnce(&sextant::engine::SearchRequest) -> std::result::Result<SearchResponse, Error>,
    ) -> Result<Option<Asked>> {
        let at = random.below(N_SENTINELS);
        let word = marked::word(at);
        let request = request(&word, 10, *random.pick(&STRATEGIES));
        let before = self.ledger.read()?[at];
        let answer = timed(what, || call(&request));
        let after = self.ledger.read()?[at];
        let response = match answer {
            Ok(response) => response,
            Err(error) => {
                self.refused(what, &error);
                return Ok(None);
            }
        };
        self.answered();
        let found =
            judge::hits(&response.hits).and_then(|()| marked::numbers(&response.hits, &word));
        match found {
            Ok(found) => Ok(Some(Asked { at, before, after, found })),
            Err(words) => {
                tell_wrong(Err(("lines", words)), || format!("{what} of sentinel {at}"));
                Ok(None)
            }
        }
    }

    /// What holds of any answer: no version from the future, none older than one that was seen.
    fn judge(&self, asked: &Asked) -> Verdict {
        let Some(&best) = asked.found.iter().max() else { return Ok(()) };
        let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = &mut all[asked.at];
        if best > asked.after.announced {
            return Err(("future", format!("version {best} was not written yet")));
        }
        if best < seen.highest {
            let words = format!("version {} was seen before, now {:?}", seen.highest, asked.found);
            return Err(("went back", words));
        }
        seen.highest = best;
        Ok(())
    }
}
