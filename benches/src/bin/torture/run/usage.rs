//! Memory and descriptors of another process.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

/// What a process holds at one moment.
pub struct Usage {
    age: Duration,
    /// Resident memory.
    pub resident_kb: u64,
    n_descriptors: usize,
}

impl Usage {
    /// For the summary.
    pub fn to_json(&self) -> Value {
        json!({
            "ageS": self.age.as_secs(),
            "residentMb": self.resident_kb / 1024,
            "descriptors": self.n_descriptors,
        })
    }
}

/// Asks `/proc`; `None` on a system that has none, or once the process is gone.
pub fn usage(process: u32, age: Duration) -> Option<Usage> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let resident_kb = resident.trim().trim_end_matches(" kB").parse().ok()?;
    let n_descriptors = fs::read_dir(format!("/proc/{process}/fd")).ok()?.count();
    Some(Usage { age, resident_kb, n_descriptors })
}
