//! How many threads a run takes, and how they behave. Linux shows threads by name, with their nice values.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux shows threads"))]

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use sextant::task::Phase;

use crate::child;
use crate::code::source;
use crate::support::Place;

/// Settings whose effect is shown here.
pub const KEYS: &[&str] = &["vectorDb.performanceMode"];

/// Threads of this process named after indexing, with their nice values.
fn indexing_threads() -> Vec<(String, i32)> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    tasks
        .flatten()
        // A thread may end in between.
        .filter_map(|task| fs::read_to_string(task.path().join("stat")).ok())
        .filter_map(|stat| {
            let (head, tail) = stat.rsplit_once(')')?;
            let (id, name) = head.split_once(" (")?;
            // proc(5): nice is the 19th field, and the tail begins with the third.
            let nice = tail.split_whitespace().nth(16)?.parse().ok()?;
            (name == "sextant-index").then(|| (id.to_owned(), nice))
        })
        .collect()
}

/// What the reports of one run saw.
pub struct Watch {
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    is_started: bool,
    most: usize,
    nice: BTreeSet<i32>,
}

impl Watch {
    pub fn new() -> Self {
        Self { seen: Mutex::default() }
    }

    /// Looks at the threads while they work: each report of a file comes from one that does.
    pub fn report(&self, phase: Phase) {
        if phase != Phase::Index {
            return;
        }
        let mut seen = self.seen.lock().unwrap();
        if !std::mem::replace(&mut seen.is_started, true) {
            // The first report comes before the threads. Lets the least time between two reports pass, so that the
            // first file is reported.
            std::thread::sleep(Duration::from_millis(110));
            return;
        }
        if seen.most > 0 {
            return;
        }
        let expected = 1 + std::thread::available_parallelism().unwrap().get();
        let started = Instant::now();
        // The others start at about the same time; one too many would be seen within this time.
        while seen.most < expected && started.elapsed() < Duration::from_millis(300) {
            let threads = indexing_threads();
            seen.most = seen.most.max(threads.len());
            if started.elapsed() > Duration::from_millis(200) {
                seen.nice.extend(threads.iter().map(|(_, nice)| *nice));
            }
        }
    }

    /// Most threads at once, and their nice values.
    pub fn words(&self) -> String {
        let seen = self.seen.lock().unwrap();
        let nice: Vec<String> = seen.nice.iter().map(i32::to_string).collect();
        format!("{} {}", seen.most, nice.join(","))
    }
}

#[cfg(target_os = "linux")]
#[track_caller]
fn check(mode: &str, n_files: u64, expected: &str) {
    let place = Place::new(&[]);
    for at in 0..n_files {
        place.write(&format!("part_{at:03}.rs"), source("rs", at));
    }
    let output =
        child::command(&format!("threads {mode}"), &place.root, &place.storage).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().find_map(child::words), Some(expected), "{mode}");
}

#[cfg(target_os = "linux")]
fn own_nice() -> i32 {
    let own = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, tail) = own.rsplit_once(')').unwrap();
    tail.split_whitespace().nth(16).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_mode_bounds_the_threads_and_they_are_polite() {
    let nice = (own_nice() + 10).min(19);
    let cores = std::thread::available_parallelism().unwrap().get();
    let n_files = 2001 + 16 * cores as u64;
    check("performance", n_files, &format!("{cores} {nice}"));
    check("balanced", n_files, &format!("{} {nice}", cores.div_ceil(2)));
    check("memory", 80, &format!("1 {nice}"));
}

/// Nothing can be asked before it is done, and it is soon done.
#[cfg(target_os = "linux")]
#[test]
fn the_first_run_over_a_small_folder_has_the_priority_of_its_caller() {
    let own = own_nice();
    let polite = (own + 10).min(19);
    let cores = std::thread::available_parallelism().unwrap().get();
    let half = cores.div_ceil(2);
    let n_files = 65 + 16 * cores as u64;
    let expected = match cores {
        2 => format!("2 {own},{polite}"),
        _ => format!("{half} {own}"),
    };
    check("balanced", n_files, &expected);
}

/// What an editor saves is indexed at once, on the calling thread.
#[cfg(target_os = "linux")]
#[test]
fn a_small_run_makes_no_threads() {
    check("performance", 64, "0 ");
}
