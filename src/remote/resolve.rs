//! Which repository on which server is a folder a copy of?
//!
//! In: a folder. Out: [`Resolution`]. Of several remotes the one of the checked-out branch is taken, else `origin`, else
//! the first, as described of GitHub Copilot Chat; the first of these whose address leads to a server. User and password of
//! an address are left out. Nothing is asked over a network.

use std::path::{Path, PathBuf};

use super::git::{Git, GitError};
use super::types::{Repository, Resolution};
use crate::task::CancelToken;

/// Most remotes that are looked at.
const MAX_REMOTES: usize = 100;

/// Finds the repository of `folder`. Takes at most `limit_ms`.
#[must_use]
pub fn resolve(cancel: &CancelToken, folder: &Path, limit_ms: u64) -> Resolution {
    let git = Git::new(cancel, folder, limit_ms);
    match resolve_with(&git) {
        Ok(resolution) => resolution,
        Err(GitError::Cancelled | GitError::TimedOut { .. }) => Resolution::Checking,
        Err(GitError::Failed { complaint, .. }) if complaint.contains("not a git repository") => {
            Resolution::NoRepository
        }
        Err(error) => Resolution::Unresolvable { reason: error.to_string() },
    }
}

fn resolve_with(git: &Git<'_>) -> Result<Resolution, GitError> {
    let top = PathBuf::from(git.line(&["rev-parse", "--show-toplevel"])?);
    let prefix = git.line(&["rev-parse", "--show-prefix"])?;
    let remotes = match git
        .run(&["config", "-z", "--name-only", "--get-regexp", r"^remote\..*\.url$"], MAX_REMOTES)
    {
        Ok(names) => names,
        Err(GitError::Failed { status: Some(1), .. }) => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut remotes: Vec<String> = remotes
        .iter()
        .filter_map(|name| std::str::from_utf8(name).ok())
        .filter_map(|name| name.strip_prefix("remote.")?.strip_suffix(".url"))
        .map(str::to_owned)
        .collect();
    if remotes.is_empty() {
        return Ok(Resolution::Unresolvable { reason: "it has no remote".into() });
    }
    let of_branch = of_branch(git)?;
    // The sort is stable: the rest stays in the order of the settings.
    remotes.sort_by_key(|name| match name.as_str() {
        name if Some(name) == of_branch.as_deref() => 0,
        "origin" => 1,
        _ => 2,
    });
    remotes.dedup();
    for remote in &remotes {
        // This applies the settings `url.*.insteadOf`.
        let address = match git.line(&["remote", "get-url", "--", remote]) {
            Ok(address) => address,
            Err(GitError::Failed { .. }) => continue,
            Err(error) => return Err(error),
        };
        if let Some(Address { url, host, owner, name }) = parse(&address) {
            return Ok(Resolution::Resolved(Repository {
                top,
                prefix,
                remote_url: url,
                host,
                owner,
                name,
            }));
        }
    }
    Ok(Resolution::Unresolvable { reason: "no remote leads to a server".into() })
}

/// The remote that the checked-out branch follows.
fn of_branch(git: &Git<'_>) -> Result<Option<String>, GitError> {
    let one = |args: &[&str]| match git.line(args) {
        Ok(line) => Ok(Some(line).filter(|line| !line.is_empty())),
        Err(GitError::Failed { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let Some(branch) = one(&["symbolic-ref", "--quiet", "--short", "HEAD"])? else {
        return Ok(None);
    };
    one(&["config", "--get", &format!("branch.{branch}.remote")])
}

/// The parts of the address of a remote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) url: String,
    pub(super) host: String,
    pub(super) owner: String,
    pub(super) name: String,
}

/// Reads `scheme://[user[:password]@]host[:port]/owner/name[.git]` and `[user@]host:owner/name[.git]`.
pub(super) fn parse(address: &str) -> Option<Address> {
    let (scheme, authority, path) = match address.split_once("://") {
        Some((scheme @ ("http" | "https" | "ssh" | "git" | "git+ssh"), rest)) => {
            let (authority, path) = rest.split_once('/')?;
            (Some(scheme), authority, path)
        }
        Some(_) => return None,
        None => {
            let (authority, path) = address.split_once(':')?;
            // `C:\folder`, `./a:b` and helpers such as `ext::program` are no servers.
            if authority.len() < 2 || authority.contains(['/', '\\']) || path.starts_with(':') {
                return None;
            }
            (None, authority, path)
        }
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_lowercase();
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let (owner, name) = path.strip_suffix(".git").unwrap_or(path).rsplit_once('/')?;
    if host.is_empty() || owner.is_empty() || name.is_empty() {
        return None;
    }
    let url = match scheme {
        Some(scheme) => format!("{scheme}://{host}/{path}"),
        None => format!("{host}:{path}"),
    };
    Some(Address { url, host, owner: owner.to_owned(), name: name.to_owned() })
}
