//! What is in the index of each root and what is not, counted.

use std::collections::BTreeMap;

use super::Engine;
use crate::error::Error;
use crate::walk::SECRETS;

/// Paths that are named for each reason.
const MOST_PATHS: usize = 100;
/// Reasons of a root; each line of an ignore file is one.
const MOST_REASONS: usize = 100;

/// A root, counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootOverview {
    /// The root's path.
    pub root: String,
    /// Files in the index.
    pub files: u64,
    /// Language ids with their number of files, most first.
    pub languages: Vec<(&'static str, u64)>,
    /// What was left out, the reason with the most paths first; at most 100, and the others as one.
    pub skipped: Vec<SkippedReason>,
}

/// Paths that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedReason {
    /// For a person.
    pub reason: String,
    /// How many.
    pub n_paths: u64,
    /// The first 100, relative to the root.
    pub first_paths: Vec<String>,
}

impl Engine {
    /// What [`Engine::files`] and [`Engine::skipped`] tell, counted for each root: little, however large the roots are.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn overview(&self) -> Result<Vec<RootOverview>, Error> {
        self.read(|view, connection| {
            let snapshot = &view.snapshot;
            snapshot.require_complete()?;
            let skipped = snapshot.skipped(connection)?;
            let overview = |(id, path): &(_, String)| {
                let mut languages: BTreeMap<&'static str, u64> = BTreeMap::new();
                for file in snapshot.files.iter().filter(|file| file.root == *id) {
                    *languages.entry(file.meta.language).or_default() += 1;
                }
                let mut reasons: BTreeMap<&str, SkippedReason> = BTreeMap::new();
                for row in skipped.iter().filter(|row| row.root == *id) {
                    let reason = group(&row.reason);
                    let reason = reasons.entry(reason).or_insert_with(|| SkippedReason {
                        reason: reason.to_owned(),
                        n_paths: 0,
                        first_paths: Vec::new(),
                    });
                    reason.n_paths += 1;
                    if reason.first_paths.len() < MOST_PATHS {
                        reason.first_paths.push(row.path.clone());
                    }
                }
                let mut languages: Vec<_> = languages.into_iter().collect();
                languages.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
                let mut reasons: Vec<_> = reasons.into_values().collect();
                reasons.sort_by_key(|reason| std::cmp::Reverse(reason.n_paths));
                let others = reasons.split_off(reasons.len().min(MOST_REASONS));
                if !others.is_empty() {
                    let n_paths = others.iter().map(|other| other.n_paths).sum();
                    let paths = others.into_iter().flat_map(|other| other.first_paths);
                    let first_paths = paths.take(MOST_PATHS).collect();
                    reasons.push(SkippedReason {
                        reason: "other reasons".into(),
                        n_paths,
                        first_paths,
                    });
                }
                RootOverview {
                    root: path.clone(),
                    files: languages.iter().map(|(_, n)| n).sum(),
                    languages,
                    skipped: reasons,
                }
            };
            Ok(snapshot.roots.iter().map(overview).collect())
        })
    }
}

/// The reason without the name of the file, which each secret has in its own.
fn group(reason: &str) -> &str {
    reason.strip_prefix(SECRETS).map_or(reason, |_| SECRETS)
}
