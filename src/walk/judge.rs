//! Does one entry of a folder belong to the workspace?
//!
//! In: the rules in force in the folder and the entry's name. Out: a [`Verdict`]. The order of precedence, from the
//! last word down: the folders that are never entered, .sextantignore files, the caller's own rules, the list of usual
//! secrets, the default exclusions, git's rules; git's rules do not bear on tracked files. Pure but for the index of the repository, which is read
//! when a rule first asks for it.

use std::rc::Rc;

use super::exclusions;
use super::git::Repository;
use super::rules::{self, Chain, Decision, Subject};
use crate::config::WalkConfig;

const NEVER_ENTERED: &str = "left out: another folder of the workspace or the index's own";

/// The repository that a folder is in.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub(super) repository: Rc<Repository>,
    /// Bytes of a path that name the top of its work tree, with the final slash.
    pub(super) top_bytes: usize,
}

/// The rules in force in a folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) home: Option<Home>,
    /// git's ignore files.
    pub(super) git: Chain,
    /// .sextantignore files, then the caller's rules.
    pub(super) own: Chain,
    /// Why git ignores the folder; then only tracked files below it count.
    pub(super) ignored: Option<Rc<str>>,
    pub(super) fold_case: bool,
}

/// What is to happen with an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It belongs to the workspace.
    Take,
    /// Only the tracked files below it do; the text says why git ignores the rest.
    TakeTracked(Rc<str>),
    /// It is left out.
    Skip(String),
}

/// An entry of a folder. `path`: counted from where rules count, without a final slash.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) path: &'a str,
    /// Bytes of `path` that name the root, with the final slash.
    pub(super) root_bytes: usize,
    /// Bytes of `path` that name the folder of the entry, with the final slash.
    pub(super) name_at: usize,
    pub(super) is_folder: bool,
}

/// Judges one entry of a folder where `rules` are in force.
pub(super) fn judge(config: &WalkConfig, rules: &Rules, entry: Entry<'_>) -> Verdict {
    let Entry { path, root_bytes, name_at, is_folder } = entry;
    if is_folder && config.never_enter.iter().any(|folder| *folder == path[root_bytes..]) {
        return Verdict::Skip(NEVER_ENTERED.to_owned());
    }
    let subject = Subject { path: path.as_bytes(), name_at, is_folder };
    let own = rules::decide(&rules.own, subject);
    if let Some(decision) = own.filter(Decision::excludes) {
        return Verdict::Skip(decision.reason());
    }
    let name = &path[name_at..];
    if config.exclude_secrets
        && !own.is_some_and(|decision| exclusions::speaks_of_secrets(decision.last_part()))
        && let Some(reason) = exclusions::secret(&path[root_bytes..], name, is_folder)
    {
        return Verdict::Skip(reason);
    }
    if config.use_default_exclusions
        && !own.is_some_and(|decision| decision.names_something())
        && let Some(reason) = exclusions::default_exclusion(name, is_folder)
    {
        return Verdict::Skip(reason);
    }
    if own.is_some() || !config.use_gitignore {
        return Verdict::Take;
    }
    judge_by_git(rules, subject)
}

/// What git itself would say.
pub(super) fn judge_by_git(rules: &Rules, subject: Subject<'_>) -> Verdict {
    let reason: Rc<str> = match &rules.ignored {
        Some(reason) => reason.clone(),
        None => match rules::decide(&rules.git, subject).filter(Decision::excludes) {
            Some(decision) => decision.reason().into(),
            None => return Verdict::Take,
        },
    };
    let Some(Home { repository, top_bytes }) = &rules.home else {
        return Verdict::Skip(reason.to_string());
    };
    let path = &subject.path[*top_bytes..];
    // As an entry of the index a folder is a submodule, whose own rules are read when it is entered.
    if repository.tracks(path) {
        Verdict::Take
    } else if subject.is_folder && repository.tracks_below(path) {
        Verdict::TakeTracked(reason)
    } else {
        Verdict::Skip(reason.to_string())
    }
}
