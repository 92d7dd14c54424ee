//! Starts a child and kills it at a chosen moment.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::child::Job;
use super::phase::{Durations, Phase};
use crate::failure::{Context, Failure, Result};
use crate::place::Place;

/// Times of files are that much too early at most.
const TICK: Duration = Duration::from_millis(4);
/// No run of a child takes as long.
const LONGEST: Duration = Duration::from_secs(180);

/// When to kill.
#[derive(Clone, Copy, Debug)]
pub struct Aim {
    /// What the child does.
    pub job: Job,
    /// In which phase.
    pub phase: Phase,
    /// Where in it, from 0 to 1.
    pub fraction: f64,
}

/// What is known of a child that was killed.
pub struct Death {
    lines: Vec<(Instant, String)>,
    /// The phase that it was in.
    pub phase: Phase,
}

impl Death {
    /// Whether it said this.
    pub fn said(&self, line: &str) -> bool {
        self.lines.iter().any(|(_, said)| said == line)
    }

    /// An error that it met by itself.
    pub fn error(&self) -> Option<&str> {
        self.lines.iter().find_map(|(_, line)| line.strip_prefix("error "))
    }
}

/// Lines of a child as they come.
struct Listener {
    receiver: Receiver<(Instant, String)>,
    heard: Vec<(Instant, String)>,
}

impl Listener {
    /// The next line; `None` once there can be no more.
    fn next(&mut self, patience: Duration) -> Option<&str> {
        let line = self.receiver.recv_timeout(patience).ok()?;
        self.heard.push(line);
        self.heard.last().map(|(_, line)| line.as_str())
    }

    /// Waits until a line begins `phase`, or a later one.
    fn wait_for(&mut self, phase: Phase) {
        loop {
            if phases(&self.heard).iter().any(|&(_, begun)| begun >= phase) {
                return;
            }
            match self.next(LONGEST) {
                Some("idle") | None => return,
                Some(line) if line.starts_with("error ") => return,
                Some(_) => {}
            }
        }
    }
}

/// When which phase began, changes only.
fn phases(lines: &[(Instant, String)]) -> Vec<(Instant, Phase)> {
    let mut begun: Vec<(Instant, Phase)> = Vec::new();
    let mut n_commits = 0;
    for (at, line) in lines {
        n_commits += usize::from(line == "commit");
        if let Some(phase) = Phase::begun_by(line, n_commits)
            && begun.last().is_none_or(|&(_, last)| last != phase)
        {
            begun.push((*at, phase));
        }
    }
    begun
}

/// Runs a child until the moment of `aim`, then kills it without warning.
pub fn kill(place: &Place, aim: Aim, durations: &mut Durations) -> Result<Death> {
    let started = Instant::now();
    let (mut child, mut listener) = start(place, aim.job)?;
    if aim.phase != Phase::Before {
        // No line tells when the log is emptied; it is the last that is done after merging.
        let begins = if aim.phase == Phase::Checkpoint { Phase::Merge } else { aim.phase };
        listener.wait_for(begins);
    }
    std::thread::sleep(durations.moment(aim.phase, aim.fraction));
    child.kill().machine(format_args!("killing process {}", child.id()))?;
    child.wait().machine(format_args!("waiting for process {}", child.id()))?;
    let killed = Instant::now();
    while listener.next(LONGEST).is_some() {}
    let begun = phases(&listener.heard);
    let first = (started, Phase::Before);
    for ((from, phase), (to, _)) in std::iter::once(&first).chain(&begun).zip(&begun) {
        durations.learn(*phase, to.duration_since(*from));
    }
    if killed.duration_since(started) > LONGEST {
        return Err(Failure::Finding(format!("a child hung: {:?}", listener.heard)));
    }
    let phase = match begun.last() {
        Some(&(since, Phase::Merge)) if log_was_applied(place, since) => Phase::Checkpoint,
        Some(&(_, phase)) => phase,
        None => Phase::Before,
    };
    Ok(Death { lines: listener.heard, phase })
}

/// Whether something of the log was written into the database since then: only checkpoints do that.
fn log_was_applied(place: &Place, since: Instant) -> bool {
    let metadata = std::fs::metadata(place.storage.join("index.db"));
    let age = metadata.and_then(|metadata| metadata.modified()).map(|at| at.elapsed());
    matches!(age, Ok(Ok(age)) if age < since.elapsed() + TICK)
}

fn start(place: &Place, job: Job) -> Result<(Child, Listener)> {
    let program = std::env::current_exe().machine("asking for the path of this program")?;
    let mut child = Command::new(&program)
        .args(["--victim", job.name()])
        .args([&place.root, &place.storage])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .machine(format_args!("starting {}", program.display()))?;
    let (sender, receiver) = channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(std::result::Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
    }
    Ok((child, Listener { receiver, heard: Vec::new() }))
}
