//! Files whose version every child knows, changed by the parent.

use std::path::PathBuf;

use super::ledger::{Entry, Ledger, now_ms};
use crate::disk;
use crate::failure::Result;
use crate::marked::{self, FOLDER, Save};
use crate::place::Place;
use crate::random::Random;

/// How many there are.
pub const N_SENTINELS: usize = 12;

/// Name of the ledger beside the tree.
pub const LEDGER: &str = "ledger";

/// Name of the ledger in which the children note what a complete run has brought in.
pub const CONFIRMED: &str = "confirmed";

const EXTENSIONS: [&str; 2] = ["rs", "py"];

/// All of them, and the ledger that the children read.
pub struct Sentinels {
    root: PathBuf,
    paths: Vec<String>,
    entries: Vec<Entry>,
    ledger: Ledger,
}

impl Sentinels {
    /// Writes the first version of each.
    pub fn begin(place: &Place) -> Result<Self> {
        let path = |at: usize| {
            format!("{FOLDER}_{}/inner{}/sentinel{at}.{}", at % 4, at % 3, EXTENSIONS[at % 2])
        };
        let mut sentinels = Self {
            root: place.root.clone(),
            paths: (0..N_SENTINELS).map(path).collect(),
            entries: vec![Entry::default(); N_SENTINELS],
            ledger: Ledger::new(&place.beside(LEDGER)),
        };
        for at in 0..N_SENTINELS {
            sentinels.change(at, |_, _| Ok(()), Save::InPlace)?;
        }
        Ok(sentinels)
    }

    /// Writes a new version of any one, and moves it now and then.
    pub fn change_any(&mut self, random: &mut Random) -> Result<&'static str> {
        let at = random.below(N_SENTINELS);
        let save = if random.percent(50) { Save::InPlace } else { Save::ByRename };
        if !random.percent(20) {
            self.change(at, |_, _| Ok(()), save)?;
            return Ok("sentinel");
        }
        let folder = random.below(4);
        self.change(
            at,
            |sentinels, version| {
                let from = sentinels.paths[at].clone();
                let extension = EXTENSIONS[at % 2];
                let to = format!("{FOLDER}_{folder}/moved{version}/sentinel{at}.{extension}");
                disk::rename(&sentinels.root.join(&from), &sentinels.root.join(&to))?;
                sentinels.paths[at] = to;
                Ok(())
            },
            save,
        )?;
        Ok("sentinel moved")
    }

    /// Announces a version, does `before`, writes it, and records that it is written.
    fn change(
        &mut self,
        at: usize,
        before: impl FnOnce(&mut Self, u64) -> Result<()>,
        save: Save,
    ) -> Result<()> {
        let version = self.entries[at].written + 1;
        self.entries[at].announced = version;
        self.ledger.write(&self.entries)?;
        before(self, version)?;
        marked::write(&self.root.join(&self.paths[at]), &marked::word(at), version, save)?;
        self.entries[at].written = version;
        self.entries[at].written_ms = now_ms();
        self.ledger.write(&self.entries)
    }
}
