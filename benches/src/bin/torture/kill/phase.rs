//! What a child is doing, how long that takes, and how many kills met it.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a child was doing when it was killed, in the order in which it does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The process starts and opens the engine.
    Before,
    /// It removes the index.
    Clear,
    /// It lists files.
    Walk,
    /// It reads files and writes staged segments.
    Index,
    /// It makes the new state visible.
    Publish,
    /// The new state is visible; what is no longer needed is removed, segments are merged.
    Merge,
    /// Something of the log is written into the database. That shows in the files alone.
    Checkpoint,
    /// The run is over; it searches, or has the engine open.
    After,
}

impl Phase {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Before,
        Self::Clear,
        Self::Walk,
        Self::Index,
        Self::Publish,
        Self::Merge,
        Self::Checkpoint,
        Self::After,
    ];

    /// For the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Clear => "clear",
            Self::Walk => "walk",
            Self::Index => "index",
            Self::Publish => "publish",
            Self::Merge => "merge",
            Self::Checkpoint => "checkpoint",
            Self::After => "after",
        }
    }

    /// The phase that a line of a child begins. `n_commits` counts the reports of the phase "commit" up to this line:
    /// the engine sends one when it begins to publish and one when it is done.
    pub fn begun_by(line: &str, n_commits: usize) -> Option<Self> {
        match line {
            "clear" => Some(Self::Clear),
            "cleared" => Some(Self::Before),
            "walk" => Some(Self::Walk),
            "index" => Some(Self::Index),
            "commit" if n_commits > 1 => Some(Self::Merge),
            "commit" => Some(Self::Publish),
            "synced" => Some(Self::After),
            _ => None,
        }
    }
}

/// Short, because a kill that comes too early meets at least the phase.
const GUESS_S: f64 = 0.003;

/// How long the phases take, learnt from the children that lived through them.
pub struct Durations(BTreeMap<Phase, f64>);

impl Durations {
    /// Guesses to begin with.
    pub fn new() -> Self {
        Self(Phase::ALL.into_iter().map(|phase| (phase, GUESS_S)).collect())
    }

    /// One phase took so long.
    pub fn learn(&mut self, phase: Phase, took: Duration) {
        let mean = self.0.entry(phase).or_insert(GUESS_S);
        *mean = 0.6 * *mean + 0.4 * took.as_secs_f64();
    }

    /// Means in milliseconds, by phase.
    pub fn means_ms(&self) -> BTreeMap<&'static str, f64> {
        self.0
            .iter()
            .map(|(phase, mean)| (phase.name(), (mean * 10_000.0).round() / 10.0))
            .collect()
    }

    /// A moment within a phase.
    pub fn moment(&self, phase: Phase, fraction: f64) -> Duration {
        let (phase, share) = match phase {
            // Short phases are over before the kill arrives, unless it is sent early.
            Phase::Before | Phase::Publish => (phase, fraction * fraction),
            // Emptying the log is the late part of what follows publishing. That varies much; what comes too late
            // teaches how long it takes.
            Phase::Checkpoint => (Phase::Merge, 0.7 + 1.8 * fraction),
            // A little beyond the mean, so that the late part of a slow one is met as well.
            _ => (phase, 1.2 * fraction),
        };
        let mean = self.0.get(&phase).copied().unwrap_or(GUESS_S);
        Duration::from_secs_f64((share * mean).min(5.0))
    }
}
