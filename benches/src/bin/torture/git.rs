//! Real git in the tree: two branches, commits, and switching.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Context, Failure, Result};
use crate::marked::FOLDER;

/// The two branches.
pub const BRANCHES: [&str; 2] = ["main", "side"];

/// Makes the tree a repository with one commit on both branches.
pub fn begin(root: &Path) -> Result<()> {
    git(root, &["init", "-q", "-b", BRANCHES[0]])?;
    commit(root, "start")?;
    git(root, &["branch", BRANCHES[1]])
}

/// Commits everything but the marked files, which belong to no branch.
pub fn commit(root: &Path, message: &str) -> Result<()> {
    let but_marked = format!(":(exclude,glob){FOLDER}*/**");
    git(root, &["add", "-A", "--", ".", &but_marked])?;
    git(root, &["commit", "-q", "--allow-empty", "--no-verify", "-m", message])
}

/// Goes to a branch, dropping what was not committed.
pub fn switch(root: &Path, branch: &str) -> Result<()> {
    git(root, &["checkout", "-q", "-f", branch])
}

fn git(root: &Path, arguments: &[&str]) -> Result<()> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["-c", "user.name=Torture", "-c", "user.email=torture@localhost"])
        .args(["-c", "core.autocrlf=false", "-c", "gc.auto=0", "-c", "core.fsync=none"])
        .args(arguments)
        // Settings of the user must not bear on the run.
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", root.join(".git/none"))
        .stdin(Stdio::null())
        .output()
        .machine(format_args!("starting git {}", arguments.join(" ")))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(Failure::Machine(format!(
        "git {} in {}: {}",
        arguments.join(" "),
        root.display(),
        words.trim()
    )))
}
