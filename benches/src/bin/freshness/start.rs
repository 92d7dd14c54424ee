//! From the start of a process to its answer, with an index that is up to date.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use sextant::config::Config;
use sextant::engine::Strategy;
use sextant::task::{CancelToken, NoProgress};
use sextant_benches::workspace::{open_only, request};

use crate::{files, milliseconds, spread};

const ROUNDS: usize = 15;

pub fn child(step: &str, root: &Path, storage: &Path) {
    let request = request("where is a request retried after a timeout", 10, Strategy::Auto);
    let n_hits = match step {
        "nothing" => 0,
        "stats" => files(root).len(),
        "search" => {
            let engine = open_only(root, storage, Config::standard());
            engine.search(&CancelToken::new(), &request).expect("an answer").hits.len()
        }
        _ => {
            let engine = open_only(root, storage, Config::standard());
            engine
                .sync_and_search(&CancelToken::new(), &NoProgress, &request)
                .expect("an answer")
                .hits
                .len()
        }
    };
    println!("{n_hits}");
}

pub fn measure(root: &Path, storage: &Path) {
    let program = std::env::current_exe().expect("the path of this program");
    println!("process start to answer, p50 / p95:");
    for (step, name) in [
        ("nothing", "a process that does nothing"),
        ("stats", "a listing with all stats"),
        ("search", "a search without a sweep"),
        ("sweep", "a search after a sweep"),
    ] {
        let times = (0..ROUNDS)
            .map(|_| {
                let started = Instant::now();
                let output = Command::new(&program)
                    .args(["--child", step])
                    .args([root, storage])
                    .output()
                    .expect("a child process");
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                milliseconds(started)
            })
            .collect();
        println!("  {name}: {}", spread(times));
    }
}
