//! Edits that bear on many files at once: ignore files, branches, bursts.

use super::{Editor, FOLDERS};
use crate::code::{EXTENSIONS, source};
use crate::disk;
use crate::failure::Result;
use crate::git::{self, BRANCHES};

/// None of them meets a marked file.
const RULES: &[&str] = &[
    "lib/",
    "*.md",
    "src/store/",
    "*_b.*",
    "!src/store/",
    "tests/*.py",
    "/web",
    "*.txt",
    "deep/",
    "!*.md",
    "/tools/*.sh",
];
/// Files of a burst.
const BURST_FILES: u64 = 500;

impl Editor {
    /// Adds a rule to an ignore file somewhere, or takes an ignore file away.
    pub fn edit_ignore_file(&mut self) -> Result<()> {
        self.count("ignore file");
        let folder = *self.random.pick(FOLDERS);
        let name = *self.random.pick(&[".gitignore", ".sextantignore"]);
        let path = self.root.join(folder).join(name);
        let is_kept = folder.is_empty() && name == ".gitignore";
        if path.exists() && !is_kept && self.random.percent(60) {
            return disk::remove(&path);
        }
        let mut rules = if path.exists() { disk::read(&path)? } else { Vec::new() };
        if is_kept && self.random.percent(60) {
            rules = b"*.tmp~\n*.log\n".to_vec();
        } else {
            rules.extend_from_slice(self.random.pick(RULES).as_bytes());
            rules.push(b'\n');
        }
        disk::write(&path, rules)
    }

    /// Leaves a whole folder out that was ours until now, by a rule of its own.
    pub fn hide_something(&mut self) -> Result<()> {
        self.count("ignore file");
        let file = self.any_file()?;
        let path = self.root.join(".sextantignore");
        let mut rules = if path.exists() { disk::read(&path)? } else { Vec::new() };
        if rules.len() > 300 {
            rules.clear();
        }
        rules.extend_from_slice(format!("/{file}\n").as_bytes());
        disk::write(&path, rules)
    }

    /// Commits on the branch that is checked out.
    pub fn commit(&mut self) -> Result<()> {
        self.count("commit");
        self.next_name += 1;
        git::commit(&self.root, &format!("change {}", self.next_name))
    }

    /// Commits, or else drops what was changed, and goes to the other branch.
    pub fn switch_branch(&mut self) -> Result<()> {
        if self.random.percent(70) {
            self.commit()?;
        }
        self.count("branch switch");
        self.branch = 1 - self.branch;
        self.files = None;
        git::switch(&self.root, BRANCHES[self.branch])
    }

    /// Writes 500 files at once, or removes those of an earlier burst.
    pub fn burst(&mut self) -> Result<()> {
        self.files = None;
        let is_burst = |file: &String| file.starts_with("burst");
        let all = disk::files_below(&self.root, |name| name == ".git")?;
        let old = all.iter().find(|file| is_burst(file)).and_then(|file| file.split('/').next());
        let n_there = all.iter().filter(|file| is_burst(file)).count() as u64;
        if let Some(folder) = old.filter(|_| n_there > BURST_FILES || self.random.percent(50)) {
            self.count("burst removed");
            let folder = format!("{folder}/");
            for file in all.iter().filter(|file| file.starts_with(&folder)) {
                disk::remove(&self.root.join(file))?;
            }
            return Ok(());
        }
        self.count("burst");
        self.next_name += 1;
        for at in 0..BURST_FILES {
            let extension = *self.random.pick(EXTENSIONS);
            let path = format!("burst{}/part{}/burst_{at}.{extension}", self.next_name, at % 7);
            disk::write(&self.root.join(path), source(extension, self.random.next()))?;
        }
        Ok(())
    }
}
