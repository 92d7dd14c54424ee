//! The rounds: edit, start a child, kill it, look at what it left.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use sextant::engine::Engine;
use sextant::task::{CancelToken, NoProgress};

use super::child::Job;
use super::marks::{self, Marks, Seen};
use super::phase::{Durations, Phase};
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
    durations: Durations,
    counts: Counts,
    /// What readers saw last.
    known: Seen,
    /// All that the index said, and the round that it was of.
    last: Option<(u64, State)>,
    /// Stays open over several rounds.
    reader: Option<Engine>,
}

/// Does them all; `reached` is the number of the last one.
pub fn rounds(arguments: &Arguments, place: &Place, reached: &mut u64) -> Result<Counts> {
    let editor = Editor::begin(&place.root, arguments.n_files, arguments.seed)?;
    let marks = Marks::begin(place.root.clone())?;
    let mut torture = Torture {
        arguments,
        place,
        editor,
        marks,
        durations: Durations::new(),
        counts: Counts::default(),
        known: Seen::NotBuilt,
        last: None,
        reader: None,
    };
    for round in 1..=arguments.n_rounds {
        *reached = round;
        torture.round(round)?;
        if round % 10 == 0 {
            println!(
                "round {round}: {} comparisons, kills {:?}",
                torture.counts.comparisons, torture.counts.kills
            );
        }
    }
    torture.counts.phases_ms = torture.durations.means_ms();
    torture.counts.edits = torture.editor.made;
    Ok(torture.counts)
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
        let job =
            random.weighted(&[(12, Job::Sync), (5, Job::SyncAndSearch), (3, Job::ClearAndSync)]);
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
        } else if self.known != Seen::NotBuilt {
            phases.push((24, Phase::Merge));
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
        if aim.phase == Phase::Merge {
            self.editor.hide_something()?;
        }
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
        let answers =
            answers.map_err(|_| Failure::Finding(format!("round {round}: a search panicked")))?;
        self.counts.with_reader += 1;
        self.counts.reader_answers += answers?;
        death
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
        let phase = match death.phase {
            Phase::Publish if is_new => Phase::Merge,
            phase => phase,
        };
        *self.counts.kills.entry(phase).or_default() += 1;
        self.counts.survived_new += u64::from(is_new);
        if let (Seen::Round(seen), Some((of, state))) = (seen, &self.last)
            && seen == *of
        {
            State::of(&engine)?.check_equals(state, "the state before the kill")?;
        }
        self.known = seen;
        if is_compared { self.compare(round, &engine) } else { Ok(()) }
    }

    /// After a sync, the index is as one that is built anew; if the killed run had published, also before.
    fn compare(&mut self, round: u64, engine: &Engine) -> Result<()> {
        let (expected, fresh_bytes) = fresh(&self.place.root, &self.place.beside("fresh"))?;
        if self.known == Seen::Round(round) {
            State::of(engine)?.check_equals(&expected, "published by the killed run")?;
        }
        engine.sync(&CancelToken::new(), &NoProgress).finding("syncing after a kill")?;
        let state = State::of(engine)?;
        state.check_equals(&expected, "after a sync")?;
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

/// The state is the last complete one or that of the killed run, and no more than the child can have done.
fn check_seen(known: Seen, seen: Seen, round: u64, death: &Death) -> Result<()> {
    let was_clearing = death.said("clear");
    let is_right = if death.said("synced") {
        seen == Seen::Round(round)
    } else if death.said("commit") {
        seen == Seen::Round(round)
            || (was_clearing && seen == Seen::NotBuilt)
            || (!was_clearing && seen == known)
    } else if death.said("cleared") {
        seen == Seen::NotBuilt
    } else {
        seen == known || (was_clearing && seen == Seen::NotBuilt)
    };
    if is_right {
        return Ok(());
    }
    Err(Failure::Finding(format!("{known:?} was complete before the kill, now {seen:?} is seen")))
}

/// Asks a reader again and again; gives the number of answers.
fn ask_until(
    reader: &Engine,
    known: Seen,
    round: u64,
    job: Job,
    is_over: &AtomicBool,
) -> Result<u64> {
    let mut n_answers = 0;
    while !is_over.load(Ordering::SeqCst) {
        // The two searches are two reads: a state may be published in between.
        let seen = match marks::look(reader) {
            Err(Failure::Finding(what)) if what.starts_with("states are mixed") => continue,
            seen => seen?,
        };
        let may_be_empty = job == Job::ClearAndSync || known == Seen::NotBuilt;
        if seen != known && seen != Seen::Round(round) && !(may_be_empty && seen == Seen::NotBuilt)
        {
            return Err(Failure::Finding(format!(
                "round {round}: {known:?} was complete, a reader sees {seen:?}"
            )));
        }
        n_answers += 1;
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    Ok(n_answers)
}
