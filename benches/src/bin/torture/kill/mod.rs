//! `torture kill`: whenever a run is killed, the index is that of the last complete run or of a newer one.

pub mod child;
mod marks;
mod phase;
mod rounds;
mod victim;

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::json;

use crate::arguments::Arguments;
use crate::failure::Result;
use crate::place::Place;
use phase::Phase;
use rounds::rounds;

/// Runs the mode.
pub fn kill(arguments: &Arguments) -> Result<()> {
    println!(
        "kill: seed {}, {} rounds, {} files",
        arguments.seed, arguments.n_rounds, arguments.n_files
    );
    let started = Instant::now();
    let place = Place::new(&arguments.dir)?;
    let mut reached = 0;
    let result = rounds(arguments, &place, &mut reached);
    let failure = result.as_ref().err().map(ToString::to_string);
    let counts = result.as_ref().ok();
    let kills: BTreeMap<&str, u64> = Phase::ALL
        .into_iter()
        .map(|phase| (phase.name(), counts.and_then(|c| c.kills.get(&phase)).copied().unwrap_or(0)))
        .collect();
    let summary = json!({
        "mode": "kill",
        "seed": arguments.seed,
        "rounds": reached,
        "killsByPhase": kills,
        "phasesMs": counts.map(|c| &c.phases_ms),
        "edits": counts.map(|c| &c.edits),
        "newStateSurvived": counts.map(|c| c.survived_new),
        "comparisons": counts.map(|c| c.comparisons),
        "roundsWithReader": counts.map(|c| c.with_reader),
        "readerAnswers": counts.map(|c| c.reader_answers),
        "worstBytesRatio": counts.map(|c| c.worst_bytes.0),
        "worstBytes": counts.map(|c| c.worst_bytes.1.to_json()),
        "seconds": started.elapsed().as_secs(),
        "failures": u32::from(failure.is_some()),
        "failure": failure,
    });
    match &result {
        Ok(counts) => {
            let list: Vec<String> = Phase::ALL
                .iter()
                .map(|phase| format!("{} {}", phase.name(), counts.kills.get(phase).unwrap_or(&0)))
                .collect();
            println!(
                "{reached} rounds; kills by phase: {}; {} comparisons; failures 0",
                list.join(", "),
                counts.comparisons
            );
        }
        Err(_) => println!(
            "stopped in round {reached}; again with: torture kill --seed {} --files {} --rounds {} --compare-every {}; kept {}",
            arguments.seed,
            arguments.n_files,
            arguments.n_rounds,
            arguments.compare_every,
            place.keep().display()
        ),
    }
    println!("{summary}");
    result.map(|_| ())
}
