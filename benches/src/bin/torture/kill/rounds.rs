//! The rounds: edit, start a child, kill it, look at what it left.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use sextant::engine::Engine;
use sextant::task::{CancelToken, NoProgress};

use super::child::Job;
use super::marks::{self, Marks, Seen};
use super::phase::{Durations, Phase};
use super::secrets::Secrets;
use super::verdict::{ask_until, check_seen};
use super::victim::{Aim, Death, kill as kill_child};
use crate::arguments::Arguments;
use crate::database::{self, Bytes};
use crate::edits::Editor;
use crate::failure::{Context, Failure, Result};
use crate::place::Place;
use crate::random::Random;
use crate::state::{State, fresh};

/// What was done.
#[derive(Default)]
pub struct Counts {
    /// The last round that was begun.
    pub rounds: u64,
    /// How often the text of a hidden file was looked for.
    pub secret_checks: u64,
    /// Where it was found.
    pub left: Vec<String>,
    /// Kills that hit, by phase.
    pub kills: BTreeMap<Phase, u64>,
    /// Kills after which the new state was there.
    pub survived_new: u64,
    /// Full comparisons with a fresh index.
    pub comparisons: u64,
    /// Rounds with a reader that was open over the kill.
    pub with_reader: u64,
    /// What those readers answered meanwhile.
    pub reader_answers: u64,
    /// Mean length of each phase, in milliseconds.
    pub phases_ms: BTreeMap<&'static str, f64>,
    /// Edits of the tree, by kind.
    pub edits: BTreeMap<&'static str, u64>,
    /// Bytes of the index over those of a fresh one, at worst, and what they were.
    pub worst_bytes: (f64, Bytes),
}

struct Torture<'a> {
    arguments: &'a Arguments,
    place: &'a Place,
    editor: Editor,
    marks: Marks,
    secrets: Secrets,
    durations: Durations,
    counts: Counts,
    /// What readers saw last.
    known: Seen,
    /// All that the index said, and the round that it was of.
    last: Option<(u64, State)>,
    /// Stays open over several rounds.
    reader: Option<Engine>,
}

/// Does them all; `counts` says how far that came, also after a failure.
pub fn rounds(arguments: &Arguments, place: &Place, counts: &mut Counts) -> Result<()> {
    let editor = Editor::begin(&place.root, arguments.n_files, arguments.seed)?;
    let marks = Marks::begin(place.root.clone())?;
    let mut torture = Torture {
        arguments,
        place,
        editor,
        marks,
        secrets: Secrets::new(&place.root),
        durations: Durations::new(),
        counts: Counts::default(),
        known: Seen::NotBuilt,
        last: None,
        reader: None,
    };
    let mut result = Ok(());
    for round in 1..=arguments.n_rounds {
        torture.counts.rounds = round;
        result = torture.round(round);
        if result.is_err() {
            break;
        }
        if round % 10 == 0 {
            let Counts { comparisons, kills, .. } = &torture.counts;
            println!("round {round}: {comparisons} comparisons, kills {kills:?}");
        }
    }
    torture.counts.phases_ms = torture.durations.means_ms();
    torture.counts.edits = torture.editor.made;
    torture.counts.secret_checks = torture.secrets.checks;
    *counts = torture.counts;
    result
}

impl Torture<'_> {
    fn round(&mut self, round: u64) -> Result<()> {
        let mut random = Random::new(self.arguments.seed, 1000 + round);
        let aim = self.aim(&mut random);
        self.edit(round, aim, &mut random)?;
        let keeps_reader = random.percent(70);
        if !keeps_reader {
            self.reader = None;
        } else if self.reader.is_none() && random.percent(50) {
            self.reader = Some(self.place.open()?);
        }
        let is_compared =
            random.below(self.arguments.compare_every) == 0 || round == self.arguments.n_rounds;

        let death = self.kill(round, aim)?;
        let at = |failure| match failure {
            Failure::Finding(what) => Failure::Finding(format!(
                "round {round}, killed in {} ({aim:?}): {what}",
                death.phase.name()
            )),
            other => other,
        };
        self.check(round, &death, is_compared).map_err(at)
    }

    fn aim(&self, random: &mut Random) -> Aim {
        let is_clearing = random.percent(self.arguments.clears);
        let job = match random.below(10) {
            _ if is_clearing => Job::ClearAndSync,
            0..7 => Job::Sync,
            _ => Job::SyncAndSearch,
        };
        let mut phases = vec![
            (12, Phase::Before),
            (8, Phase::Walk),
            (22, Phase::Index),
            (26, Phase::Publish),
            (18, Phase::Checkpoint),
            (4, Phase::After),
        ];
        if job == Job::ClearAndSync {
            phases.push((40, Phase::Clear));
        } else {
            phases.push((22, Phase::Merge));
        }
        Aim { job, phase: random.weighted(&phases), fraction: random.fraction() }
    }

    fn edit(&mut self, round: u64, aim: Aim, random: &mut Random) -> Result<()> {
        let n_edits = if random.percent(8) { 120 } else { 2 + random.below(24) };
        for _ in 0..n_edits {
            self.editor.edit()?;
        }
        if random.percent(15) {
            self.editor.edit_ignore_file()?;
        }
        match random.below(100) {
            0..6 => self.editor.commit()?,
            6..16 => self.editor.switch_branch()?,
            _ => {}
        }
        // Text that a rule leaves out must go: a segment is rewritten.
        if aim.phase >= Phase::Publish {
            self.editor.hide_something()?;
            self.secrets.hide()?;
        }
        self.secrets.plant(random)?;
        self.marks.change(round, random)
    }

    /// Kills a child, while the reader that is open goes on asking.
    fn kill(&mut self, round: u64, aim: Aim) -> Result<Death> {
        let Some(reader) = &self.reader else {
            return kill_child(self.place, aim, &mut self.durations);
        };
        let known = self.known;
        let is_over = AtomicBool::new(false);
        let (death, answers) = std::thread::scope(|scope| {
            let asking = scope.spawn(|| ask_until(reader, known, round, aim.job, &is_over));
            let death = kill_child(self.place, aim, &mut self.durations);
            is_over.store(true, Ordering::SeqCst);
            (death, asking.join())
        });
        let death = death?;
        let at = |what: &str| {
            let phase = death.phase.name();
            Failure::Finding(format!(
                "round {round}, a reader that was open while a child worked that was killed in {phase} ({aim:?}): {what}"
            ))
        };
        let answers =
            answers.map_err(|_| at("a search panicked"))?.map_err(|failure| match failure {
                Failure::Finding(what) => at(&what),
                other => other,
            })?;
        self.counts.with_reader += 1;
        self.counts.reader_answers += answers;
        Ok(death)
    }

    fn check(&mut self, round: u64, death: &Death, is_compared: bool) -> Result<()> {
        if let Some(error) = death.error() {
            return Err(Failure::Finding(format!("the child failed: {error}")));
        }
        let engine = self.place.open()?;
        let seen = marks::look(&engine)?;
        check_seen(self.known, seen, round, death)?;
        if let Some(reader) = &self.reader {
            let by_reader = marks::look(reader)?;
            if by_reader != seen {
                return Err(Failure::Finding(format!(
                    "the reader that was open sees {by_reader:?}, a new one {seen:?}"
                )));
            }
        }
        self.place.check_nothing_set_aside()?;
        database::check_integrity(&self.place.storage)?;
        let is_new = seen == Seen::Round(round);
        let phase = death.phase;
        *self.counts.kills.entry(phase).or_default() += 1;
        self.counts.survived_new += u64::from(is_new);
        if let (Seen::Round(seen), Some((of, state))) = (seen, &self.last)
            && seen == *of
        {
            State::of(&engine)?.check_equals(state, "the state before the kill")?;
        }
        self.known = seen;
        if is_compared {
            self.compare(round, &engine, &format!("killed in {}", phase.name()))
        } else {
            Ok(())
        }
    }

    /// After a sync, the index is as one that is built anew; if the killed run had published, also before.
    fn compare(&mut self, round: u64, engine: &Engine, how: &str) -> Result<()> {
        let (expected, fresh_bytes) = fresh(&self.place.root, &self.place.beside("fresh"))?;
        if self.known == Seen::Round(round) {
            State::of(engine)?.check_equals(&expected, "published by the killed run")?;
        }
        engine.sync(&CancelToken::new(), &NoProgress).finding("syncing after a kill")?;
        let state = State::of(engine)?;
        state.check_equals(&expected, "after a sync")?;
        for words in self.secrets.check(&self.place.storage)? {
            let words = format!("round {round}, {how}: {words}");
            println!("FINDING: {words}");
            self.counts.left.push(words);
        }
        database::check_integrity(&self.place.storage)?;
        let bytes = Bytes::of(&self.place.storage)?;
        let ratio = bytes.sum() as f64 / fresh_bytes.max(1) as f64;
        if ratio > self.counts.worst_bytes.0 {
            self.counts.worst_bytes = (ratio, bytes);
        }
        self.counts.comparisons += 1;
        self.known = Seen::Round(round);
        self.last = Some((round, state));
        Ok(())
    }
}
