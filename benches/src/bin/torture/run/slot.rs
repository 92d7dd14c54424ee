//! One of the processes at work: started, listened to, killed, started again.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::tally::Tally;
use super::usage::{Usage, usage};
use crate::failure::{Context, Result};
use crate::place::Place;

/// A process that is told to stop does so within this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A place for a process.
pub struct Slot {
    number: usize,
    seed: u64,
    n_starts: u64,
    command: (String, usize, std::path::PathBuf, std::path::PathBuf),
    process: Option<(Child, JoinHandle<()>, Instant)>,
    samples: Vec<Usage>,
    /// Those of the process that lived longest among the ones before.
    longest: Vec<Usage>,
    tally: Arc<Mutex<Tally>>,
}

impl Slot {
    /// Starts the process. That of slot 0 watches.
    pub fn start(
        place: &Place,
        number: usize,
        (seed, clears): (u64, usize),
        tally: Arc<Mutex<Tally>>,
    ) -> Result<Self> {
        let role = if number == 0 { "watcher" } else { "worker" };
        let mut slot = Self {
            number,
            seed,
            n_starts: 0,
            command: (role.to_owned(), clears, place.root.clone(), place.storage.clone()),
            process: None,
            samples: Vec::new(),
            longest: Vec::new(),
            tally,
        };
        slot.start_again()?;
        Ok(slot)
    }

    fn start_again(&mut self) -> Result<()> {
        self.n_starts += 1;
        let program = std::env::current_exe().machine("asking for the path of this program")?;
        let seed = self.seed.wrapping_mul(1000) + self.number as u64 * 100_000 + self.n_starts;
        let (role, clears, root, storage) = &self.command;
        let mut child = Command::new(&program)
            .args(["--worker", role, &seed.to_string(), &clears.to_string()])
            .args([root, storage])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .machine(format_args!("starting {}", program.display()))?;
        let out = child.stdout.take();
        let (tally, number) = (Arc::clone(&self.tally), self.number);
        let listener = std::thread::spawn(move || {
            let lines = out.into_iter().flat_map(|out| BufReader::new(out).lines());
            for line in lines.map_while(std::result::Result::ok) {
                tally.lock().unwrap_or_else(PoisonError::into_inner).hear(number, &line);
            }
        });
        self.process = Some((child, listener, Instant::now()));
        let samples = std::mem::take(&mut self.samples);
        if samples.len() > self.longest.len() {
            self.longest = samples;
        }
        Ok(())
    }

    /// Kills the process without warning and starts another.
    pub fn kill(&mut self) -> Result<()> {
        if let Some((mut child, listener, _)) = self.process.take() {
            child.kill().machine(format_args!("killing process {}", child.id()))?;
            child.wait().machine(format_args!("waiting for process {}", child.id()))?;
            let _ = listener.join();
            self.tally.lock().unwrap_or_else(PoisonError::into_inner).kills += 1;
        }
        self.start_again()
    }

    /// Notes memory and descriptors; a process that ended by itself is a mistake, and is started again.
    pub fn look(&mut self) -> Result<()> {
        let Some((child, _, started)) = &mut self.process else { return Ok(()) };
        if let Some(status) =
            child.try_wait().machine(format_args!("asking for process {}", child.id()))?
        {
            let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            tally.wrong("died", format!("process {} ended by itself: {status}", self.number));
            drop(tally);
            return self.start_again();
        }
        self.samples.extend(usage(child.id(), started.elapsed()));
        Ok(())
    }

    /// Whether it may be killed: the first two live as long as the run, so that growth is seen.
    pub fn may_be_killed(&self) -> bool {
        self.number >= 2
    }

    /// Tells the process to stop and waits for it. Gives what it used.
    pub fn stop(&mut self) -> Result<Value> {
        if let Some((mut child, listener, _)) = self.process.take() {
            drop(child.stdin.take());
            let asked = Instant::now();
            loop {
                let status =
                    child.try_wait().machine(format_args!("waiting for process {}", child.id()))?;
                let words = match status {
                    Some(status) if status.success() => break,
                    Some(status) => format!("process {} failed: {status}", self.number),
                    None if asked.elapsed() > PATIENCE => {
                        let _ = child.kill();
                        let _ = child.wait();
                        format!("process {} did not stop", self.number)
                    }
                    None => {
                        std::thread::sleep(Duration::from_millis(20));
                        continue;
                    }
                };
                self.tally.lock().unwrap_or_else(PoisonError::into_inner).wrong("died", words);
                break;
            }
            let _ = listener.join();
        }
        let samples =
            if self.samples.len() < self.longest.len() { &self.longest } else { &self.samples };
        let at = |at: usize| samples.get(at).map_or(Value::Null, Usage::to_json);
        let n = samples.len();
        let growth = json!({
            "slot": self.number,
            "role": self.command.0,
            "starts": self.n_starts,
            "start": at(0),
            "middle": at(n / 2),
            "end": at(n.saturating_sub(1)),
            "most": samples.iter().max_by_key(|usage| usage.resident_kb).map(Usage::to_json),
        });
        println!("process {}: {growth}", self.number);
        Ok(growth)
    }
}
