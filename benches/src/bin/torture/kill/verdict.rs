//! Which states may be seen, after a kill and meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use sextant::engine::Engine;

use super::child::Job;
use super::marks::{self, Seen};
use super::victim::Death;
use crate::failure::{Failure, Result};

/// The state is the last complete one or that of the killed run, and no more than the child can have done.
pub fn check_seen(known: Seen, seen: Seen, round: u64, death: &Death) -> Result<()> {
    let was_clearing = death.said("clear");
    let is_right = if death.said("synced") {
        seen == Seen::Round(round)
    } else if death.said("commit") {
        seen == Seen::Round(round)
            || (was_clearing && seen == Seen::NotBuilt)
            || (!was_clearing && seen == known)
    } else if death.said("cleared") {
        seen == Seen::NotBuilt
    } else {
        seen == known || (was_clearing && seen == Seen::NotBuilt)
    };
    if is_right {
        return Ok(());
    }
    Err(Failure::Finding(format!("{known:?} was complete before the kill, now {seen:?} is seen")))
}

/// Asks a reader again and again; gives the number of answers.
pub fn ask_until(
    reader: &Engine,
    known: Seen,
    round: u64,
    job: Job,
    is_over: &AtomicBool,
) -> Result<u64> {
    let mut n_answers = 0;
    while !is_over.load(Ordering::SeqCst) {
        // The two searches are two reads: a state may be published in between.
        let seen = match marks::look(reader) {
            Err(Failure::Finding(what)) if what.starts_with("states are mixed") => continue,
            seen => seen?,
        };
        let may_be_empty = job == Job::ClearAndSync || known == Seen::NotBuilt;
        if seen != known && seen != Seen::Round(round) && !(may_be_empty && seen == Seen::NotBuilt)
        {
            return Err(Failure::Finding(format!(
                "round {round}: {known:?} was complete, a reader sees {seen:?}"
            )));
        }
        n_answers += 1;
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    Ok(n_answers)
}
