//! Which rules are in force at the root, and at the top of a repository below it?
//!
//! In: the root. Out: the place where paths are counted from, and the rules from there down to the root.
//! A root inside a repository is under the rules of the repository, of its parents and of its index. A root inside
//! a folder that its repository ignores and tracks nothing of was opened on purpose: it is treated as if it lay
//! outside of any repository.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::git::{self, GitEnvironment, Repository};
use super::judge::{self, Home, Rules, Verdict};
use super::lister::{read_rules, read_rules_anywhere};
use super::rules::{self, Chain, RuleFile, Subject};
use crate::config::WalkConfig;

/// Where a walk begins.
pub(super) struct Start {
    /// Path of the root from where rules count, with a final slash unless it is that place.
    pub(super) path: String,
    /// The rules in force at the root, but for those of ignore files in the root itself.
    pub(super) rules: Rules,
}

/// The rules at the root, which must be without links.
pub(super) fn begin(config: &WalkConfig, environment: &GitEnvironment, root: &Path) -> Start {
    let enclosing =
        root.ancestors().find_map(|folder| Some((folder, Repository::at(environment, folder)?)));
    let Some((top, repository)) = enclosing else {
        let rules = outside(config, environment, 0, own_rules(config, 0, false));
        return Start { path: String::new(), rules };
    };
    let path = root_path(root, top);
    let own = own_rules(config, path.len(), repository.ignores_case());
    let mut rules = enter(config, repository, 0, own);
    let mut folder = top.to_path_buf();
    for (start, part) in parts(&path) {
        let above = "../".repeat(path[start..].matches('/').count());
        if rules.ignored.is_none() {
            let label = format!("{above}.gitignore");
            rules.git = when(config.use_gitignore, &rules.git, |chain| {
                read_rules(&folder.join(".gitignore"), label, start, rules.fold_case, chain)
            });
        }
        let label = format!("{above}.sextantignore");
        rules.own = when(config.use_sextantignore, &rules.own, |chain| {
            read_rules(&folder.join(".sextantignore"), label, start, rules.fold_case, chain)
        });
        let entry = &path.as_bytes()[..start + part.len()];
        let subject = Subject { path: entry, name_at: start, is_folder: true };
        let taken_back = rules::decide(&rules.own, subject).is_some_and(|rule| !rule.excludes());
        rules.ignored = match judge::judge_by_git(&rules, subject) {
            _ if taken_back => None,
            Verdict::Take => None,
            Verdict::TakeTracked(reason) => Some(reason),
            Verdict::Skip(_) => {
                let rules = outside(config, environment, path.len(), rules.own);
                return Start { path: path.clone(), rules };
            }
        };
        folder.push(part);
    }
    Start { path, rules }
}

/// The rules at the top of a repository. `own`: .sextantignore files and the caller's rules.
pub(super) fn enter(
    config: &WalkConfig,
    repository: Repository,
    top_bytes: usize,
    own: Chain,
) -> Rules {
    let fold_case = repository.ignores_case();
    let mut git = None;
    if config.use_gitignore {
        if let Some(file) = repository.excludes_file() {
            let label = file.display().to_string();
            git = read_rules_anywhere(file, label, top_bytes, fold_case, &git);
        }
        let file = repository.info_exclude();
        git =
            read_rules_anywhere(&file, ".git/info/exclude".to_owned(), top_bytes, fold_case, &git);
    }
    let home = Some(Home { repository: Rc::new(repository), top_bytes });
    Rules { home, git, own, ignored: None, fold_case }
}

/// The rules outside of any repository: those of the user and of .gitignore files from the root down.
fn outside(
    config: &WalkConfig,
    environment: &GitEnvironment,
    root_bytes: usize,
    own: Chain,
) -> Rules {
    let (excludes_file, fold_case) = git::outside(environment);
    let git = when(config.use_gitignore, &None, |chain| match excludes_file {
        Some(file) => {
            let label = file.display().to_string();
            read_rules_anywhere(&file, label, root_bytes, fold_case, chain)
        }
        None => None,
    });
    Rules { home: None, git, own, ignored: None, fold_case }
}

fn own_rules(config: &WalkConfig, root_bytes: usize, fold_case: bool) -> Chain {
    let lines = config.exclude.join("\n");
    let label = "the setting exclude".to_owned();
    RuleFile::parse(label, root_bytes, lines.as_bytes(), fold_case).before(None, fold_case)
}

fn when(wanted: bool, chain: &Chain, read: impl FnOnce(&Chain) -> Chain) -> Chain {
    if wanted { read(chain) } else { chain.clone() }
}

fn root_path(root: &Path, top: &Path) -> String {
    let below: PathBuf = root.strip_prefix(top).map(Path::to_path_buf).unwrap_or_default();
    below.iter().map(|part| format!("{}/", part.to_string_lossy())).collect()
}

/// The parts of `a/b/` with the byte where each starts.
fn parts(path: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    path.split_terminator('/').map(move |part| {
        let this = start;
        start += part.len() + 1;
        (this, part)
    })
}
