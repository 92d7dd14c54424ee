//! Starts a child and kills it at a chosen moment.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::child::Job;
use super::phase::{Durations, Phase};
use crate::database::CommitWatch;
use crate::failure::{Context, Failure, Result};
use crate::place::Place;

/// No run of a child takes as long.
const LONGEST: Duration = Duration::from_secs(180);
/// How long to wait for a commit that may not come.
const LONGEST_PUBLISH: Duration = Duration::from_secs(2);

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
    /// The last phase that it said; never [`Phase::Merge`], which only the index can tell.
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
    // A connection of our own keeps the log from being recovered by the next process, so it is opened only where the
    // moment cannot be known without.
    let watch = match aim.phase {
        Phase::Merge => Some(CommitWatch::new(&place.storage)?),
        _ => None,
    };
    let started = Instant::now();
    let (mut child, mut listener) = start(place, aim.job)?;
    if aim.phase != Phase::Before {
        listener.wait_for(if aim.phase == Phase::Merge { Phase::Publish } else { aim.phase });
    }
    if let Some(took) = watch.as_ref().and_then(|watch| wait_for_commit(watch, &mut listener)) {
        durations.learn(Phase::Publish, took);
    }
    std::thread::sleep(durations.moment(aim.phase, aim.fraction));
    child.kill().machine(format_args!("killing process {}", child.id()))?;
    child.wait().machine(format_args!("waiting for process {}", child.id()))?;
    let killed = Instant::now();
    while listener.next(LONGEST).is_some() {}
    drop(watch);
    let begun = phases(&listener.heard);
    let first = (started, Phase::Before);
    for ((from, phase), (to, _)) in std::iter::once(&first).chain(&begun).zip(&begun) {
        // What is called publishing here ends only with the last merge.
        let phase = if *phase == Phase::Publish { Phase::Merge } else { *phase };
        durations.learn(phase, to.duration_since(*from));
    }
    if killed.duration_since(started) > LONGEST {
        return Err(Failure::Finding(format!("a child hung: {:?}", listener.heard)));
    }
    let phase = begun.last().map_or(Phase::Before, |&(_, phase)| phase);
    Ok(Death { lines: listener.heard, phase })
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

/// Waits until the new state is visible; gives how long it took, if the moment was met.
fn wait_for_commit(watch: &CommitWatch, listener: &mut Listener) -> Option<Duration> {
    let started = Instant::now();
    let before = watch.version();
    while started.elapsed() < LONGEST_PUBLISH {
        if watch.version() != before {
            return Some(started.elapsed());
        }
        // The next line is that of the end of merging: this was too late.
        if listener.next(Duration::from_micros(200)).is_some() {
            return None;
        }
    }
    None
}
