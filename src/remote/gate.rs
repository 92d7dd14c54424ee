//! Why an index on a server is not asked, or gave nothing.
//!
//! Each reason has a name that does not change and a message for a person. At least one repository must be usable;
//! if none is, the reason is that of the one that came furthest ([`furthest`]).

use std::fmt;

use super::types::{Folder, Repository, Resolution};

/// What stands in the way, in the order in which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Gate {
    /// Nobody configured an index, or it is switched off.
    SettingOff,
    /// No folder belongs to a repository.
    NoRepository,
    /// Which repositories there are is not known yet.
    StillChecking,
    /// No repository has an address that leads to a server.
    NoneResolvable,
    /// The server indexes none of the repositories.
    NoneIndexable,
    /// The server did not say how a repository stands.
    StatusUnknown,
    /// The server wants other credentials.
    NotAuthorized,
    /// The server did not take on to index a repository.
    IndexingFailed,
    /// The server is still indexing.
    StillBuilding,
    /// What has changed since the indexed commit cannot be told.
    DiffUnknown,
    /// Too much has changed.
    DiffTooLarge,
    /// The server did not answer the question.
    SearchFailed,
    /// The caller does not want it any more.
    Cancelled,
}

impl Gate {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SettingOff => "setting-off",
            Self::NoRepository => "no-repository",
            Self::StillChecking => "still-checking",
            Self::NoneResolvable => "none-resolvable",
            Self::NoneIndexable => "none-indexable",
            Self::StatusUnknown => "status-unknown",
            Self::NotAuthorized => "not-authorized",
            Self::IndexingFailed => "indexing-failed",
            Self::StillBuilding => "still-building",
            Self::DiffUnknown => "diff-unknown",
            Self::DiffTooLarge => "diff-too-large",
            Self::SearchFailed => "search-failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// For a person, without what is special about the case.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::SettingOff => "no index on a server is switched on",
            Self::NoRepository => "no folder of the workspace belongs to a git repository",
            Self::StillChecking => "the repositories of the workspace are still being looked at",
            Self::NoneResolvable => "no repository has a remote that leads to a server",
            Self::NoneIndexable => "the server can index none of the repositories",
            Self::StatusUnknown => "the server did not say whether it has an index",
            Self::NotAuthorized => "the server wants other credentials; sign in or check the token",
            Self::IndexingFailed => "the server did not begin to index",
            Self::StillBuilding => "the server is still indexing; try again later",
            Self::DiffUnknown => "git did not say what has changed since the indexed commit",
            Self::DiffTooLarge => "too much has changed since the indexed commit; push, or wait",
            Self::SearchFailed => "the server did not answer the question",
            Self::Cancelled => "cancelled",
        }
    }

    /// How near to an answer a repository came; larger is nearer. "None of them" can only be said of the least.
    fn progress(self) -> u8 {
        match self {
            Self::SettingOff | Self::NoRepository => 0,
            Self::NoneResolvable => 1,
            Self::NoneIndexable => 2,
            Self::StillBuilding => 3,
            Self::IndexingFailed => 4,
            Self::NotAuthorized => 5,
            Self::StatusUnknown => 6,
            Self::StillChecking => 7,
            Self::DiffUnknown => 8,
            Self::DiffTooLarge => 9,
            Self::SearchFailed => 10,
            Self::Cancelled => 11,
        }
    }
}

/// Why the whole gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct GateReason {
    /// What stood in the way.
    pub gate: Gate,
    /// What is special about the case; may be empty.
    pub detail: String,
}

impl fmt::Display for GateReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.gate.message())?;
        if self.detail.is_empty() { Ok(()) } else { write!(formatter, " ({})", self.detail) }
    }
}

impl GateReason {
    pub(super) fn new(gate: Gate, detail: impl Into<String>) -> Self {
        Self { gate, detail: detail.into() }
    }
}

/// A folder that the server does not answer for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Position of the folder.
    pub folder: usize,
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: GateReason,
}

/// Parts the folders into repositories that a server can be asked about, and those that are left out.
pub(super) fn resolved(folders: &[Folder]) -> (Vec<(usize, &Repository)>, Vec<LeftOut>) {
    let (mut resolved, mut left_out) = (Vec::new(), Vec::new());
    for (at, folder) in folders.iter().enumerate() {
        let reason = match &folder.resolution {
            Resolution::Resolved(repository) => {
                resolved.push((at, repository));
                continue;
            }
            Resolution::NoRepository => GateReason::new(Gate::NoRepository, ""),
            Resolution::Checking => GateReason::new(Gate::StillChecking, ""),
            Resolution::Unresolvable { reason } => {
                GateReason::new(Gate::NoneResolvable, reason.as_str())
            }
        };
        left_out.push(LeftOut { folder: at, name: folder.name.clone(), reason });
    }
    (resolved, left_out)
}

/// The reason to give if all folders are left out: that of those that came furthest, with their names.
pub(super) fn furthest(left_out: &[LeftOut]) -> GateReason {
    const MOST_NAMED: usize = 3;
    let gates = left_out.iter().map(|left| left.reason.gate);
    let Some(gate) = gates.max_by_key(|gate| gate.progress()) else {
        return GateReason::new(Gate::NoRepository, "");
    };
    let of_gate: Vec<&LeftOut> = left_out.iter().filter(|left| left.reason.gate == gate).collect();
    if gate == Gate::NoRepository {
        return GateReason::new(gate, "");
    }
    let mut details: Vec<String> = of_gate
        .iter()
        .take(MOST_NAMED)
        .map(|left| match left.reason.detail.as_str() {
            "" => left.name.clone(),
            detail => format!("{}: {detail}", left.name),
        })
        .collect();
    if of_gate.len() > MOST_NAMED {
        details.push(format!("and {} more", of_gate.len() - MOST_NAMED));
    }
    GateReason::new(gate, details.join("; "))
}
