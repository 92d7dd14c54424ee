//! Goes through the folders of a root, one at a time, without recursion.
//!
//! In: a root and the configuration. Out: files and skips, not yet ordered. One folder is open at a time, whatever
//! the depth of the tree.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::git::{self, GitEnvironment, Repository};
use super::judge::{self, Entry, Rules, Verdict};
use super::rules::{Chain, RuleFile};
use super::{FileEntry, Skip, Walk, start};
use crate::config::WalkConfig;
use crate::task::{CancelToken, Cancelled};

/// git reads no larger ignore file.
const MAX_IGNORE_FILE_BYTES: u64 = 100 << 20;

/// A folder to be listed.
pub(super) struct Folder {
    /// Path from where rules count, with a final slash; empty for that place itself.
    pub(super) path: String,
    pub(super) rules: Rules,
    /// Whether the rules of the repository that it is the top of are in force already. The root counts as entered.
    pub(super) is_entered: bool,
}

/// An entry of a folder; it keeps the folder open.
struct Listed {
    name: OsString,
    entry: DirEntry,
}

/// One walk.
pub(super) struct Lister<'a> {
    pub(super) config: &'a WalkConfig,
    pub(super) environment: &'a GitEnvironment,
    /// The root, without links in it.
    pub(super) root: &'a Path,
    /// Bytes of a path that name the root, with the final slash.
    pub(super) root_bytes: usize,
    /// Folders still to be listed.
    pub(super) pending: Vec<Folder>,
    /// Linked work trees, kept for the end: by then it is known which repositories were walked.
    pub(super) worktrees: Vec<Folder>,
    /// The common folder of the repository that the root is a sub-folder of. Its work trees below the root are copies
    /// only if something of the repository itself was found there.
    pub(super) above: Option<PathBuf>,
    /// The common folders of the repositories that were walked.
    pub(super) walked: BTreeSet<PathBuf>,
    pub(super) found: Walk,
}

impl Lister<'_> {
    /// Lists all pending folders and what is below them.
    pub(super) fn run(&mut self, cancel: &CancelToken) -> Result<(), Cancelled> {
        loop {
            while let Some(folder) = self.pending.pop() {
                cancel.check()?;
                self.list(folder);
            }
            if let Some(common_dir) = self.above.take()
                && !self.found.files.is_empty()
            {
                self.walked.insert(common_dir);
            }
            if self.worktrees.is_empty() {
                return Ok(());
            }
            self.worktrees.sort_by(|left, right| right.path.cmp(&left.path));
            if let Some(folder) = self.worktrees.pop() {
                self.enter_worktree(folder);
            }
        }
    }

    /// Where a folder or file is on disk.
    fn absolute(&self, path: &str) -> PathBuf {
        self.root.join(&path[self.root_bytes.min(path.len())..])
    }

    fn skip(&mut self, path: &str, reason: impl Into<String>) {
        let path = path[self.root_bytes.min(path.len())..].trim_end_matches('/').to_owned();
        self.found.skipped.push(Skip { path, reason: reason.into() });
    }

    fn list(&mut self, mut folder: Folder) {
        let absolute = self.absolute(&folder.path);
        let entries = match read_folder(&absolute) {
            Ok((entries, None)) => entries,
            Ok((entries, Some(error))) => {
                self.skip(&folder.path, failure(&error));
                entries
            }
            Err(error) => return self.skip(&folder.path, failure(&error)),
        };
        if !folder.is_entered && has(&entries, ".git") {
            match self.enter_repository(folder, &absolute) {
                Some(entered) => folder = entered,
                None => return,
            }
        }
        if self.config.use_default_exclusions
            && has(&entries, "HEAD")
            && has(&entries, "objects")
            && git::contains_bare_repository(&absolute)
        {
            return self.skip(&folder.path, "git's own files (a repository without a work tree)");
        }
        self.read_ignore_files(&mut folder, &absolute, &entries);
        let folder_bytes = absolute.as_os_str().len();
        let mut path = folder.path;
        let name_at = path.len();
        for Listed { name, entry } in entries {
            let lossy = name.to_string_lossy();
            if is_dot_git(&lossy, folder.rules.fold_case) {
                continue;
            }
            path.truncate(name_at);
            path.push_str(&lossy);
            if name.to_str().is_none() {
                self.skip(&path, "name is not valid UTF-8");
                continue;
            }
            // One byte for the slash, one for the NUL that ends a path for the system.
            if folder_bytes + name.len() + 2 > max_path_bytes() {
                self.skip(&path, "path is longer than the system allows");
                continue;
            }
            self.take_or_skip(&entry, &path, name_at, &folder.rules);
        }
    }

    fn take_or_skip(&mut self, entry: &DirEntry, path: &str, name_at: usize, rules: &Rules) {
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return self.skip(path, failure(&error)),
        };
        if !kind.is_dir() && !kind.is_file() {
            return self.skip(path, irregular(kind));
        }
        let is_folder = kind.is_dir();
        let judged = Entry { path, root_bytes: self.root_bytes, name_at, is_folder };
        let ignored = match judge::judge(self.config, rules, judged) {
            Verdict::Skip(reason) => return self.skip(path, reason),
            Verdict::TakeTracked(reason) => Some(reason),
            Verdict::Take => None,
        };
        if is_folder {
            let rules = Rules { ignored, ..rules.clone() };
            self.pending.push(Folder { path: format!("{path}/"), rules, is_entered: false });
            return;
        }
        match entry.metadata() {
            // It may have been replaced since the folder was read.
            Ok(metadata) if !metadata.is_file() => self.skip(path, irregular(metadata.file_type())),
            Ok(metadata) => self.found.files.push(FileEntry {
                path: path[self.root_bytes..].to_owned(),
                size: metadata.len(),
                mtime_ns: mtime_ns(&metadata),
            }),
            Err(error) => self.skip(path, failure(&error)),
        }
    }

    /// A folder with a `.git` in it: a repository of its own, whose own rules then apply and no others of git's.
    /// None: nothing is to be done with it now.
    fn enter_repository(&mut self, folder: Folder, absolute: &Path) -> Option<Folder> {
        let Some(repository) = Repository::at(self.environment, absolute) else {
            return Some(folder);
        };
        let outer = folder.rules.home.as_ref();
        if outer.is_some_and(|home| {
            let path = folder.path.trim_end_matches('/').as_bytes();
            home.repository.tracks_below(&path[home.top_bytes..])
        }) {
            // git takes such a folder for a plain part of the outer repository.
            return Some(folder);
        }
        if repository.is_linked_worktree() {
            self.worktrees.push(folder);
            return None;
        }
        if !self.walked.insert(repository.common_dir().to_path_buf()) {
            self.skip(&folder.path, "another work tree of a repository that is indexed already");
            return None;
        }
        Some(self.with_repository(folder, repository))
    }

    fn enter_worktree(&mut self, folder: Folder) {
        let Some(repository) = Repository::at(self.environment, &self.absolute(&folder.path))
        else {
            return self.skip(&folder.path, "vanished while the folder was listed");
        };
        let common_dir = repository.common_dir().to_path_buf();
        if !self.walked.insert(common_dir.clone()) {
            let shown = common_dir.parent().unwrap_or(&common_dir).display();
            let reason =
                format!("linked work tree of a repository that is indexed already ({shown})");
            return self.skip(&folder.path, reason);
        }
        let folder = self.with_repository(folder, repository);
        self.pending.push(folder);
    }

    fn with_repository(&self, folder: Folder, repository: Repository) -> Folder {
        let rules = start::enter(self.config, repository, folder.path.len(), folder.rules.own);
        Folder { path: folder.path, rules, is_entered: true }
    }

    fn read_ignore_files(&self, folder: &mut Folder, absolute: &Path, entries: &[Listed]) {
        let base_bytes = folder.path.len();
        let rules = &mut folder.rules;
        let add = |name: &str, chain: &mut Chain| {
            if has(entries, name) {
                let shown = format!("{}{name}", &folder.path[self.root_bytes.min(base_bytes)..]);
                *chain =
                    read_rules(&absolute.join(name), shown, base_bytes, rules.fold_case, chain);
            }
        };
        // Below a folder that git ignores no rule can take anything back in.
        if self.config.use_gitignore && rules.ignored.is_none() {
            add(".gitignore", &mut rules.git);
        }
        if self.config.use_sextantignore {
            add(".sextantignore", &mut rules.own);
        }
    }
}

/// Reads a folder's entries; with them the error that ended the reading early, if one did.
fn read_folder(absolute: &Path) -> io::Result<(Vec<Listed>, Option<io::Error>)> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(absolute)? {
        match entry {
            Ok(entry) => entries.push(Listed { name: entry.file_name(), entry }),
            Err(error) => return Ok((entries, Some(error))),
        }
    }
    Ok((entries, None))
}

fn has(entries: &[Listed], name: &str) -> bool {
    entries.iter().any(|listed| listed.name == name)
}

/// The rules of an ignore file in a work tree, in front of `next`. As git does, a link is not followed here.
pub(super) fn read_rules(
    file: &Path,
    label: String,
    base_bytes: usize,
    fold_case: bool,
    next: &Chain,
) -> Chain {
    match fs::symlink_metadata(file) {
        Ok(metadata) if metadata.is_file() => {
            read_rules_anywhere(file, label, base_bytes, fold_case, next)
        }
        _ => next.clone(),
    }
}

/// As [`read_rules`], of a file outside the work tree, which may be a link.
pub(super) fn read_rules_anywhere(
    file: &Path,
    label: String,
    base_bytes: usize,
    fold_case: bool,
    next: &Chain,
) -> Chain {
    let is_usable = fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_IGNORE_FILE_BYTES);
    let content = if is_usable { fs::read(file).unwrap_or_default() } else { Vec::new() };
    RuleFile::parse(label, base_bytes, &content, fold_case).before(next.clone(), fold_case)
}

fn is_dot_git(name: &str, fold_case: bool) -> bool {
    if fold_case { name.eq_ignore_ascii_case(".git") } else { name == ".git" }
}

fn irregular(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        return "symbolic link; links are not followed";
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "not a regular file (named pipe)";
        }
        if kind.is_socket() {
            return "not a regular file (socket)";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "not a regular file (device)";
        }
    }
    "not a regular file"
}

/// In words, for the skip report.
pub(super) fn failure(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::NotFound => "vanished while the folder was listed".to_owned(),
        ErrorKind::InvalidFilename => "path is longer than the system allows".to_owned(),
        _ => format!("cannot be read: {error}"),
    }
}

fn max_path_bytes() -> usize {
    #[cfg(unix)]
    {
        usize::try_from(libc::PATH_MAX).unwrap_or(usize::MAX)
    }
    #[cfg(not(unix))]
    {
        // 32,767 UTF-16 units for paths in verbatim form, which the canonical root is in.
        32_767
    }
}

fn mtime_ns(metadata: &fs::Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    let (nanoseconds, sign) = match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => (since.as_nanos(), 1),
        Err(before) => (before.duration().as_nanos(), -1),
    };
    i64::try_from(nanoseconds).unwrap_or(i64::MAX) * sign
}
