//! Asks for sentinels and compares the versions that are answered with those that can be right.

use std::sync::PoisonError;

use sextant::engine::{Engine, SearchResponse};
use sextant::error::Error;
use sextant::task::{CancelToken, Progress};
use sextant_benches::workspace::request;

use super::judge::{self, Verdict};
use super::report::{SyncWatch, say, tell_wrong, timed};
use super::{Child, STRATEGIES};
use crate::failure::Result;
use crate::marked;
use crate::random::Random;
use crate::run::ledger::{Entry, now_ms};
use crate::run::sentinels::N_SENTINELS;

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
        let watch = SyncWatch::any(random);
        let started = now_ms();
        let mut is_fresh = true;
        let all = self.ledger.read()?;
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
        if is_fresh {
            self.confirm(&all)?;
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
        let confirmed = self.confirmed.read()?;
        let asked =
            self.ask(random, "search", |request| engine.search(&CancelToken::new(), request))?;
        let Some(asked) = asked else { return Ok(()) };
        let Asked { at, before, after, found } = &asked;
        let is_behind = found.iter().all(|&version| version < before.written);
        let lag_ms = if is_behind { now_ms().saturating_sub(before.written_ms) } else { 0 };
        say(format_args!("did lag {lag_ms}"));
        let confirmed = confirmed.get(*at).map_or(0, |entry| entry.written);
        let verdict = self.judge(&asked).and_then(|()| {
            if found.is_empty() && confirmed == after.announced {
                let words = format!(
                    "a complete run has brought in version {confirmed}, and it is still there"
                );
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
        let mut all = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        let highest = &mut all[asked.at];
        if best > asked.after.announced {
            return Err(("future", format!("version {best} was not written yet")));
        }
        if best < *highest {
            let words = format!("version {highest} was seen before, now {:?}", asked.found);
            return Err(("went back", words));
        }
        *highest = best;
        Ok(())
    }

    /// Notes for all processes that a run which began after `before` is complete: what lay still since is in the index.
    pub fn confirm(&self, before: &[Entry]) -> Result<()> {
        let after = self.ledger.read()?;
        let still = |(before, after): (&Entry, &Entry)| {
            if judge::is_still(before, after) { *before } else { Entry::default() }
        };
        self.confirmed.write(&before.iter().zip(&after).map(still).collect::<Vec<_>>())
    }
}
