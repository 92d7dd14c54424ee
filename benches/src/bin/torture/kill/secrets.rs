//! Files that are indexed first and hidden by a rule later: then no byte of their words may stay in the database.

use std::path::{Path, PathBuf};

use crate::disk;
use crate::failure::Result;
use crate::marked::FOLDER;
use crate::random::Random;

/// A word without an English ending, none of whose letters but the first few begin another term: an index that holds
/// it holds these bytes, since terms are stored without the beginning that they share with the one before.
struct Secret {
    name: String,
    word: String,
    /// Whether the bytes were seen in the database, so that it means something if they are not there any more.
    was_stored: bool,
    is_hidden: bool,
    /// Whether it was found after it was hidden.
    is_told: bool,
}

/// All of them.
pub struct Secrets {
    folder: PathBuf,
    all: Vec<Secret>,
    /// How often a hidden word was looked for that had been there.
    pub checks: u64,
}

impl Secrets {
    /// None yet.
    pub fn new(root: &Path) -> Self {
        Self { folder: root.join(format!("{FOLDER}_secret")), all: Vec::new(), checks: 0 }
    }

    /// Writes a new file, unless there are enough that wait for being hidden.
    pub fn plant(&mut self, random: &mut Random) -> Result<()> {
        if self.all.iter().filter(|secret| !secret.is_hidden).count() >= 3 {
            return Ok(());
        }
        let letters: String =
            (0..12).map(|_| char::from(*random.pick(b"bcdfghjklmnpqrtvwxz"))).collect();
        let secret = Secret {
            name: format!("secret{}.rs", self.all.len()),
            word: format!("qz{letters}k"),
            was_stored: false,
            is_hidden: false,
            is_told: false,
        };
        let text = format!("pub fn {}() -> u32 {{\n    1\n}}\n", secret.word);
        disk::write(&self.folder.join(&secret.name), text)?;
        self.all.push(secret);
        Ok(())
    }

    /// Hides one that is known to be in the database, by a rule.
    pub fn hide(&mut self) -> Result<()> {
        let stored = |secret: &&mut Secret| secret.was_stored && !secret.is_hidden;
        let Some(secret) = self.all.iter_mut().find(stored) else { return Ok(()) };
        secret.is_hidden = true;
        let rules: String = self
            .all
            .iter()
            .filter(|secret| secret.is_hidden)
            .map(|secret| format!("/{}\n", secret.name))
            .collect();
        disk::write(&self.folder.join(".sextantignore"), rules)
    }

    /// After a complete run: the hidden words that are still in the files of the database. Each is told once.
    pub fn check(&mut self, storage: &Path) -> Result<Vec<String>> {
        let mut bytes = disk::read(&storage.join("index.db"))?;
        let log = storage.join("index.db-wal");
        let n_in_file = bytes.len();
        if log.exists() {
            bytes.extend(disk::read(&log)?);
        }
        let mut left = Vec::new();
        for secret in self.all.iter_mut().filter(|secret| !secret.is_told) {
            let rest = &secret.word.as_bytes()[4..];
            let found = bytes.windows(rest.len()).position(|window| window == rest);
            if !secret.is_hidden {
                secret.was_stored |= found.is_some();
                continue;
            }
            self.checks += 1;
            if let Some(at) = found {
                secret.is_told = true;
                let place = if at < n_in_file { "database" } else { "log" };
                left.push(format!(
                    "text of {}, which a rule leaves out, is still in the {place} after a sync: {}",
                    secret.name, secret.word
                ));
            }
        }
        Ok(left)
    }
}
