//! `torture kill`: whenever a run is killed, the index is that of the last complete run or of a newer one.

pub mod child;
mod marks;
mod phase;
mod rounds;
mod secrets;
mod verdict;
mod victim;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::{Failure, Result};
use crate::place::Place;
use phase::Phase;
use rounds::{Counts, rounds};

/// Runs the mode.
pub fn kill(arguments: &Arguments) -> Result<()> {
    println!(
        "kill: seed {}, {} rounds, {} files",
        arguments.seed, arguments.n_rounds, arguments.n_files
    );
    let started = Instant::now();
    let place = Place::new(&arguments.dir)?;
    let mut counts = Counts::default();
    let result = rounds(arguments, &place, &mut counts);
    let result = result.and_then(|()| match counts.left.len() {
        0 => Ok(()),
        n => Err(Failure::Finding(format!("the text of {n} hidden files was still there"))),
    });
    let failure = result.as_ref().err().map(ToString::to_string);
    let n_kills = |phase: &Phase| counts.kills.get(phase).copied().unwrap_or(0);
    let kills: BTreeMap<&str, u64> =
        Phase::ALL.iter().map(|phase| (phase.name(), n_kills(phase))).collect();
    let summary = json!({
        "mode": "kill",
        "seed": arguments.seed,
        "rounds": counts.rounds,
        "killsByPhase": kills,
        "phasesMs": counts.phases_ms,
        "edits": counts.edits,
        "newStateSurvived": counts.survived_new,
        "comparisons": counts.comparisons,
        "hiddenTextLeft": counts.left,
        "hiddenTextChecks": counts.secret_checks,
        "roundsWithReader": counts.with_reader,
        "readerAnswers": counts.reader_answers,
        "worstBytesRatio": counts.worst_bytes.0,
        "worstBytes": counts.worst_bytes.1.to_json(),
        "seconds": started.elapsed().as_secs(),
        "failures": u32::from(failure.is_some()),
        "failure": failure,
    });
    let list: Vec<String> =
        Phase::ALL.iter().map(|phase| format!("{} {}", phase.name(), n_kills(phase))).collect();
    println!(
        "{} rounds; kills by phase: {}; {} comparisons; failures {}",
        counts.rounds,
        list.join(", "),
        counts.comparisons,
        u32::from(result.is_err())
    );
    if result.is_err() {
        println!(
            "stopped in round {}; again with: torture kill --seed {} --files {} --rounds {} --compare-every {} --clears {}; kept {}",
            counts.rounds,
            arguments.seed,
            arguments.n_files,
            arguments.n_rounds,
            arguments.compare_every,
            arguments.clears,
            place.keep().display()
        );
    }
    println!("{summary}");
    result
}
