//! Shows that nothing is lost: kills runs at random moments, and lets several processes work on one index at once.
//!
//! ```sh
//! cargo run -p sextant-benches --bin torture -- kill [--rounds N] [--files N] [--seed N] [--dir FOLDER]
//! cargo run -p sextant-benches --bin torture -- run [--minutes N] [--processes N] [--files N] [--seed N] [--dir FOLDER]
//! ```
//!
//! The last line on standard output is a summary in JSON. Exit status: 0 nothing was found, 1 a finding, 2 wrong usage,
//! 3 the machine failed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is its purpose")]

mod arguments;
mod code;
mod database;
mod disk;
mod edits;
mod failure;
mod git;
mod kill;
mod marked;
mod place;
mod random;
mod run;
mod state;

use std::process::ExitCode;

use arguments::Mode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let result = arguments::parse(&words).and_then(|mode| match mode {
        Mode::Kill(arguments) => kill::kill(&arguments),
        Mode::Run(arguments) => run::run(&arguments),
        Mode::Victim(work) => kill::child::work(&work),
        Mode::Worker(work) => run::child::work(&work),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::from(failure.status())
        }
    }
}
