//! What the parent tells its children of the sentinels: which version is surely on disk, and which may be.
//!
//! A file of one line a sentinel, replaced by renaming, so that a reader sees one state of it.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::disk;
use crate::failure::{Failure, Result};

/// What is known of one sentinel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// The version that was written when this was recorded.
    pub written: u64,
    /// When writing it was over, in milliseconds since 1970.
    pub written_ms: u64,
    /// The version that is being written, or `written`.
    pub announced: u64,
}

/// The file.
#[derive(Clone, Debug)]
pub struct Ledger(PathBuf);

impl Ledger {
    /// The ledger at `path`.
    pub fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// Replaces all entries.
    pub fn write(&self, entries: &[Entry]) -> Result<()> {
        let lines: String = entries
            .iter()
            .map(|entry| format!("{} {} {}\n", entry.written, entry.written_ms, entry.announced))
            .collect();
        // Several processes may write at once.
        let beside = self.0.with_extension(std::process::id().to_string());
        disk::write(&beside, lines)?;
        disk::rename(&beside, &self.0)
    }

    /// All entries, by sentinel; none if nothing was written yet.
    pub fn read(&self) -> Result<Vec<Entry>> {
        if !self.0.exists() {
            return Ok(Vec::new());
        }
        let text = String::from_utf8_lossy(&disk::read(&self.0)?).into_owned();
        let entry = |line: &str| {
            let mut numbers = line.split(' ').map_while(|word| word.parse().ok());
            Some(Entry {
                written: numbers.next()?,
                written_ms: numbers.next()?,
                announced: numbers.next()?,
            })
        };
        text.lines()
            .map(entry)
            .collect::<Option<_>>()
            .ok_or_else(|| Failure::Machine(format!("{} is no ledger", self.0.display())))
    }
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
