//! What is below a few paths that changed?
//!
//! In: a root, the configuration and a [`Scope`] of dirty paths. Out: what the full walk would say of the paths that the
//! scope covers, at the cost of listing the folders on the way to them; or the answer that only the full walk can tell.
//!
//! Invariants: the answer is [`Partial::NeedsWhole`] or the full walk less what the scope does not cover. If it is not
//! `NeedsWhole`, nothing changed but what the scope covers, and [`Outside`] of the last full walk says neither
//! [`Outside::needs_whole`] nor another fingerprint, then the uncovered rest of that walk still holds.
//!
//! [`Outside`]: super::Outside
//! [`Outside::needs_whole`]: super::Outside::needs_whole

use std::path::Path;

use super::git::GitEnvironment;
use super::scope::{self, Scope};
use super::{Walk, WalkError, list, open_root, walk_in};
use crate::config::WalkConfig;
use crate::task::CancelToken;

/// The part of a walk that a scope asks for.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it a walk, which is taken apart at once"
)]
pub enum Partial {
    /// The files, skips and folders that the scope covers. [`Walk::outside`] is empty unless the scope is the root.
    Walked(Walk),
    /// The part cannot be known alone, or its change may bear on the rest. The root is to be walked as a whole.
    NeedsWhole,
}

/// Lists what `scope` covers of `root`, with git's settings from the environment of this process.
///
/// # Errors
/// [`WalkError`] if the root is not a readable folder or the token was cancelled.
pub fn walk_within(
    cancel: &CancelToken,
    root: &Path,
    config: &WalkConfig,
    scope: &Scope,
) -> Result<Partial, WalkError> {
    walk_within_in(cancel, root, config, &GitEnvironment::from_process(), scope)
}

/// As [`walk_within`], with git's settings from elsewhere.
///
/// # Errors
/// [`WalkError`] if the root is not a readable folder or the token was cancelled.
pub fn walk_within_in(
    cancel: &CancelToken,
    root: &Path,
    config: &WalkConfig,
    environment: &GitEnvironment,
    scope: &Scope,
) -> Result<Partial, WalkError> {
    if scope.is_whole() {
        return walk_in(cancel, root, config, environment).map(Partial::Walked);
    }
    if scope.is_empty() {
        cancel.check()?;
        open_root(root)?;
        return Ok(Partial::Walked(Walk::default()));
    }
    if scope.paths().iter().any(|path| decides_about_others(path)) {
        return Ok(Partial::NeedsWhole);
    }
    let (_, lister) = list(cancel, root, config, environment, scope)?;
    Ok(if lister.needs_whole { Partial::NeedsWhole } else { Partial::Walked(lister.found) })
}

/// Whether the path is an ignore file, or git's own.
fn decides_about_others(path: &str) -> bool {
    let is = |name: &str, wanted: &str| name.eq_ignore_ascii_case(wanted);
    scope::parts(path).any(|part| is(part, ".git"))
        || scope::parts(path)
            .last()
            .is_some_and(|name| is(name, ".gitignore") || is(name, ".sextantignore"))
}
