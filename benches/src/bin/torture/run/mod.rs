//! `torture run`: several processes work on one index while the tree changes, and no answer is wrong.

pub mod child;
mod disturb;
mod ledger;
mod sentinels;
mod slot;
mod tally;
mod usage;
mod watching;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sextant::task::{CancelToken, NoProgress};

use crate::arguments::Arguments;
use crate::database::{self, Bytes};
use crate::edits::Editor;
use crate::failure::{Context, Failure, Result};
use crate::place::Place;
use crate::state::{State, fresh};
use disturb::disturb;
use sentinels::Sentinels;
use slot::Slot;
use tally::Tally;

/// Runs the mode.
pub fn run(arguments: &Arguments) -> Result<()> {
    println!(
        "run: seed {}, {} minutes, {} processes, {} files",
        arguments.seed, arguments.minutes, arguments.n_processes, arguments.n_files
    );
    let place = Place::new(&arguments.dir)?;
    let tally = Arc::new(Mutex::new(Tally::default()));
    let started = Instant::now();
    let result = torture(arguments, &place, &tally);
    let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failures: Vec<String> = tally.wrong.values().flatten().cloned().collect();
    let (n_wrong, mut details) = (tally.n_wrong(), json!({}));
    match &result {
        Ok(end) => details = end.clone(),
        Err(failure) => failures.push(failure.to_string()),
    }
    tally.print();
    let n_failures = n_wrong + u64::from(result.is_err());
    let summary = json!({
        "mode": "run",
        "seed": arguments.seed,
        "seconds": started.elapsed().as_secs(),
        "counts": tally.to_json(),
        "end": details,
        "failures": n_failures,
        "details": failures,
    });
    if n_failures > 0 {
        println!(
            "again with: torture run --seed {} --files {} --processes {} --minutes {} --clears {}; kept {}",
            arguments.seed,
            arguments.n_files,
            arguments.n_processes,
            arguments.minutes,
            arguments.clears,
            place.keep().display()
        );
    }
    println!("{summary}");
    result?;
    if n_wrong > 0 {
        return Err(Failure::Finding(format!("{n_wrong} answers were wrong")));
    }
    Ok(())
}

fn torture(arguments: &Arguments, place: &Place, tally: &Arc<Mutex<Tally>>) -> Result<Value> {
    let mut editor = Editor::begin(&place.root, arguments.n_files, arguments.seed)?;
    let mut sentinels = Sentinels::begin(place)?;
    let mut slots = Vec::new();
    for number in 0..arguments.n_processes {
        slots.push(Slot::start(
            place,
            number,
            (arguments.seed, arguments.clears),
            Arc::clone(tally),
        )?);
    }
    let duration = Duration::from_secs_f64(arguments.minutes * 60.0);
    let worked = disturb(tally, arguments.seed, duration, &mut editor, &mut sentinels, &mut slots);
    tally.lock().unwrap_or_else(PoisonError::into_inner).edits = std::mem::take(&mut editor.made);
    // They stop in any case, also after a failure of the machine.
    let mut usage = Vec::new();
    for slot in &mut slots {
        usage.push(slot.stop()?);
    }
    worked?;
    let mut end = compare(place)?;
    end["processes"] = Value::Array(usage);
    Ok(end)
}

/// After one more sync the index is as one that is built anew.
fn compare(place: &Place) -> Result<Value> {
    let engine = place.open()?;
    let report = engine.sync(&CancelToken::new(), &NoProgress).finding("the last sync")?;
    let state = State::of(&engine)?;
    engine.close();
    place.check_nothing_set_aside()?;
    database::check_integrity(&place.storage)?;
    let bytes = Bytes::of(&place.storage)?;
    let (expected, fresh_bytes) = fresh(&place.root, &place.beside("fresh"))?;
    state.check_equals(&expected, "at the end, after a sync")?;
    let ratio = bytes.sum() as f64 / fresh_bytes.max(1) as f64;
    println!(
        "at the end the index equals a fresh one: {} files, {} bytes, {ratio:.2} times the fresh one's",
        state.n_files(),
        bytes.sum()
    );
    Ok(json!({
        "files": state.n_files(),
        "chunks": report.chunks,
        "bytes": bytes.to_json(),
        "freshBytes": fresh_bytes,
        "bytesRatio": ratio,
    }))
}
