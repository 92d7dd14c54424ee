//! The command line.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::failure::{Failure, Result};
use crate::kill::child::Work as VictimWork;
use crate::run::child::Work as WorkerWork;

/// What to do.
pub enum Mode {
    /// Kill runs.
    Kill(Arguments),
    /// Many processes at once.
    Run(Arguments),
    /// As a child of the first.
    Victim(VictimWork),
    /// As a child of the second.
    Worker(WorkerWork),
}

/// Settings of a run.
pub struct Arguments {
    /// Everything that is random comes from it.
    pub seed: u64,
    /// Files of the tree, about.
    pub n_files: usize,
    /// Below which folder the temporary one is made.
    pub dir: PathBuf,
    /// Kills.
    pub n_rounds: u64,
    /// A full comparison about every so many rounds.
    pub compare_every: usize,
    /// How long to go on.
    pub minutes: f64,
    /// In so many of a hundred rounds, or calls of a process, the index is cleared.
    pub clears: usize,
    /// Child processes.
    pub n_processes: usize,
}

/// Understands the words after the program's name.
pub fn parse(words: &[String]) -> Result<Mode> {
    match words.split_first() {
        Some((mode, rest)) if mode == "kill" => settings(rest, 400, 15).map(Mode::Kill),
        Some((mode, rest)) if mode == "run" => settings(rest, 2000, 0).map(Mode::Run),
        Some((mode, rest)) if mode == "--victim" => VictimWork::parse(rest).map(Mode::Victim),
        Some((mode, rest)) if mode == "--worker" => WorkerWork::parse(rest).map(Mode::Worker),
        _ => Err(Failure::Usage("name a mode, kill or run; benches/README.md says more".into())),
    }
}

fn settings(words: &[String], n_files: usize, clears: usize) -> Result<Arguments> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut arguments = Arguments {
        seed: now.as_millis() as u64 % 1_000_000,
        n_files,
        dir: std::env::temp_dir(),
        n_rounds: 200,
        compare_every: 2,
        minutes: 60.0,
        n_processes: 4,
        clears,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| Failure::Usage(format!("{word} wants a value")))?;
        match word.as_str() {
            "--seed" => arguments.seed = number(word, value)?,
            "--files" => arguments.n_files = number(word, value)?,
            "--rounds" => arguments.n_rounds = number(word, value)?,
            "--compare-every" => arguments.compare_every = number::<usize>(word, value)?.max(1),
            "--minutes" => arguments.minutes = number(word, value)?,
            "--processes" => arguments.n_processes = number::<usize>(word, value)?.max(1),
            "--clears" => arguments.clears = number(word, value)?,
            "--dir" => arguments.dir = value.into(),
            _ => return Err(Failure::Usage(format!("unknown argument {word}"))),
        }
    }
    Ok(arguments)
}

/// A number of the command line.
pub fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T> {
    value.parse().map_err(|_| Failure::Usage(format!("{name} is {value}, which is no number")))
}
