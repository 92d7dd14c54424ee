//! What all processes did and met, from the lines that they say.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Of one kind of mistake, so many are kept in words.
const KEPT: usize = 5;

/// Counts of a run.
#[derive(Default)]
pub struct Tally {
    /// Calls by kind: number, sum and worst of milliseconds.
    did: BTreeMap<String, (u64, u64, u64)>,
    /// Errors and degradations by where they came from and code.
    codes: BTreeMap<String, u64>,
    n_wrong: BTreeMap<String, u64>,
    /// The first mistakes of each kind.
    pub wrong: BTreeMap<String, Vec<String>>,
    /// Edits of the tree, by kind.
    pub edits: BTreeMap<&'static str, u64>,
    /// Changes of sentinels, by kind.
    pub sentinels: BTreeMap<&'static str, u64>,
    /// Processes killed.
    pub kills: u64,
}

impl Tally {
    /// Takes a line of the process in a slot.
    pub fn hear(&mut self, slot: usize, line: &str) {
        let mut words = line.splitn(3, ' ');
        let (verb, what, rest) = (words.next(), words.next(), words.next());
        match (verb, what, rest) {
            (Some("did"), Some(what), Some(ms)) => {
                let ms = ms.parse().unwrap_or(0);
                let (n, sum, worst) = self.did.entry(what.to_owned()).or_default();
                *n += 1;
                *sum += ms;
                *worst = (*worst).max(ms);
            }
            (Some("code"), Some(what), Some(code)) => {
                *self.codes.entry(format!("{what} {code}")).or_default() += 1;
            }
            (Some("wrong"), Some(kind), Some(words)) => {
                self.wrong(kind, format!("process {slot}: {words}"));
            }
            // The last line of a process that is killed may be cut.
            _ => {}
        }
    }

    /// Notes a mistake.
    pub fn wrong(&mut self, kind: &str, words: String) {
        *self.n_wrong.entry(kind.to_owned()).or_default() += 1;
        let kept = self.wrong.entry(kind.to_owned()).or_default();
        if kept.len() < KEPT {
            println!("FINDING ({kind}): {words}");
            kept.push(words);
        }
    }

    /// Number of mistakes.
    pub fn n_wrong(&self) -> u64 {
        self.n_wrong.values().sum()
    }

    /// One line on how it stands.
    pub fn print_progress(&self, seconds: u64) {
        let n = |what: &str| self.did.get(what).map_or(0, |&(n, _, _)| n);
        println!(
            "{seconds} s: {} searches, {} syncs with search, {} syncs, {} opens, {} waits, {} kills, {} wrong",
            n("search"),
            n("answer"),
            n("sync"),
            n("open"),
            n("wait"),
            self.kills,
            self.n_wrong()
        );
    }

    /// All counts, for people.
    pub fn print(&self) {
        for (what, (n, sum, worst)) in &self.did {
            println!("{what}: {n}, mean {} ms, worst {worst} ms", sum / (*n).max(1));
        }
        println!("edits: {:?} {:?}", self.edits, self.sentinels);
        println!("kills {}, codes {:?}, wrong {:?}", self.kills, self.codes, self.n_wrong);
    }

    /// All counts, for programs.
    pub fn to_json(&self) -> Value {
        let did: serde_json::Map<String, Value> = self
            .did
            .iter()
            .map(|(what, (n, sum, worst))| {
                let mean = sum / (*n).max(1);
                (what.clone(), json!({ "n": n, "meanMs": mean, "worstMs": worst }))
            })
            .collect();
        json!({
            "did": did,
            "edits": self.edits,
            "sentinels": self.sentinels,
            "kills": self.kills,
            "codes": self.codes,
            "wrong": self.n_wrong,
        })
    }
}
