//! Two files in different folders that always change together: no state of the index may have one without the other.

use std::path::PathBuf;

use sextant::engine::{Engine, Strategy};
use sextant::task::CancelToken;
use sextant_benches::workspace::request;

use crate::disk;
use crate::failure::{Failure, Result};
use crate::marked::{self, FOLDER, Save};
use crate::random::Random;

/// The pair in the tree.
pub struct Marks {
    root: PathBuf,
    paths: [String; 2],
}

/// What a search without a sync sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// There is no index.
    NotBuilt,
    /// The state of this round.
    Round(u64),
}

impl Marks {
    /// Writes the pair for round 0.
    pub fn begin(root: PathBuf) -> Result<Self> {
        let paths = [format!("{FOLDER}_a/first.rs"), format!("{FOLDER}_b/deep/second.py")];
        let marks = Self { root, paths };
        marks.write(0, [Save::InPlace; 2])?;
        Ok(marks)
    }

    /// Changes both, and now and then moves one of them.
    pub fn change(&mut self, round: u64, random: &mut Random) -> Result<()> {
        if random.percent(15) {
            let at = random.below(2);
            let from = self.paths[at].clone();
            let (folder, rest) = from.split_once('/').unwrap_or((FOLDER, &from));
            let to = if random.percent(50) {
                // The folder, with all that it holds.
                let folder_to = format!("{FOLDER}_{}{round}", ["a", "b"][at]);
                disk::rename(&self.root.join(folder), &self.root.join(&folder_to))?;
                format!("{folder_to}/{rest}")
            } else {
                let extension = ["rs", "py"][at];
                let to = format!("{folder}/moved{round}.{extension}");
                disk::rename(&self.root.join(&from), &self.root.join(&to))?;
                to
            };
            self.paths[at] = to;
        }
        let save = |by_rename| if by_rename { Save::ByRename } else { Save::InPlace };
        let how = [save(random.percent(50)), save(random.percent(50))];
        self.write(round, how)
    }

    fn write(&self, round: u64, how: [Save; 2]) -> Result<()> {
        for (at, path) in self.paths.iter().enumerate() {
            marked::write(&self.root.join(path), &marked::word(at), round, how[at])?;
        }
        Ok(())
    }
}

/// Searches both. A finding if that fails, or if they do not agree.
pub fn look(engine: &Engine) -> Result<Seen> {
    let mut seen = Vec::new();
    for at in 0..2 {
        let word = marked::word(at);
        let response =
            match engine.search(&CancelToken::new(), &request(&word, 10, Strategy::Hybrid)) {
                Ok(response) => response,
                Err(error) if error.code() == "INDEX_NOT_BUILT" => return Ok(Seen::NotBuilt),
                Err(error) => {
                    let (code, words) = (error.code(), error.chain());
                    return Err(Failure::Finding(format!("searching {word}: {code} {words}")));
                }
            };
        let numbers = marked::numbers(&response.hits, &word).map_err(Failure::Finding)?;
        let &[number] = numbers.as_slice() else {
            return Err(Failure::Finding(format!("{word} should be found once: {numbers:?}")));
        };
        seen.push(number);
    }
    if seen[0] == seen[1] {
        return Ok(Seen::Round(seen[0]));
    }
    Err(Failure::Finding(format!("states are mixed: the two marks are those of rounds {seen:?}")))
}
