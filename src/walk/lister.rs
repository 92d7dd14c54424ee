//! Goes through the folders of a root, one at a time, without recursion.
//!
//! In: a root, the configuration and the part of the root that is asked for. Out: files and skips of that part, not yet
//! ordered, or the answer that the part cannot be known alone. One folder is open at a time, whatever the depth of the
//! tree. Where a part is asked for, the folders on the way to it are listed, and nothing else in them is looked at.

use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::git::{self, GitEnvironment};
use super::judge::{self, Entry, Rules, Verdict};
use super::repositories::Repositories;
use super::rules::{Chain, RuleFile};
use super::scope::{Node, Reach, Scope};
use super::{FileEntry, Skip, Walk, regular};
use crate::config::WalkConfig;
use crate::task::{CancelToken, Cancelled};

/// A folder to be listed.
pub(super) struct Folder<'a> {
    /// Path from where rules count, with a final slash; empty for that place itself.
    pub(super) path: String,
    pub(super) rules: Rules,
    /// Whether the rules of the repository that it is the top of are in force already. The root counts as entered.
    pub(super) is_entered: bool,
    /// How much of it is asked for.
    pub(super) reach: Reach<'a>,
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
    pub(super) root: PathBuf,
    /// Bytes of a path that name the root, with the final slash.
    pub(super) root_bytes: usize,
    /// The part that is asked for.
    pub(super) scope: &'a Scope,
    /// Folders still to be listed.
    pub(super) pending: Vec<Folder<'a>>,
    pub(super) repositories: Repositories<'a>,
    /// Whether there is a file outside of the part that is asked for.
    pub(super) has_file_elsewhere: bool,
    /// Whether the part cannot be known alone, or changes what the rest is.
    pub(super) needs_whole: bool,
    pub(super) found: Walk,
}

impl<'a> Lister<'a> {
    /// Lists all pending folders and what is below them.
    pub(super) fn run(&mut self, cancel: &CancelToken) -> Result<(), Cancelled> {
        loop {
            while let Some(folder) = self.pending.pop() {
                cancel.check()?;
                self.list(folder);
                if self.needs_whole {
                    return Ok(());
                }
            }
            if !self.settle_worktree() {
                return Ok(());
            }
        }
    }

    /// Where a folder or file is on disk.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        self.root.join(self.relative(path))
    }

    /// The path from the root, without a final slash.
    pub(super) fn relative<'p>(&self, path: &'p str) -> &'p str {
        path[self.root_bytes.min(path.len())..].trim_end_matches('/')
    }

    pub(super) fn skip(&mut self, path: &str, reason: impl Into<String>) {
        let path = self.relative(path);
        if self.scope.covers(path) {
            self.found.skipped.push(Skip { path: path.to_owned(), reason: reason.into() });
        }
    }

    fn list(&mut self, mut folder: Folder<'a>) {
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
        if let Reach::Way(node) = folder.reach
            && self.config.use_default_exclusions
            && may_turn_bare(node, &entries)
        {
            self.needs_whole = true;
            return;
        }
        if self.config.use_default_exclusions
            && has(&entries, "HEAD")
            && has(&entries, "objects")
            && git::contains_bare_repository(&absolute)
        {
            return self.skip(&folder.path, "git's own files (a repository without a work tree)");
        }
        self.read_ignore_files(&mut folder, &absolute, &entries);
        if folder.reach.is_all() {
            self.found.folders.push(self.relative(&folder.path).to_owned());
        }
        let folder_bytes = absolute.as_os_str().len();
        let mut path = folder.path;
        let name_at = path.len();
        for Listed { name, entry } in entries {
            let lossy = name.to_string_lossy();
            if is_dot_git(&lossy, folder.rules.fold_case) {
                continue;
            }
            let reach = folder.reach.below(&lossy);
            if reach.is_none() && !self.wants_file_elsewhere() {
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
            match reach {
                Some(reach) => self.take_or_skip(&entry, &path, name_at, &folder.rules, reach),
                None => self.look_elsewhere(&entry, &path, name_at, &folder.rules),
            }
        }
    }

    /// Whether it matters that there is a file that is not asked for.
    fn wants_file_elsewhere(&self) -> bool {
        !self.has_file_elsewhere && self.repositories.above.is_some()
    }

    fn look_elsewhere(&mut self, entry: &DirEntry, path: &str, name_at: usize, rules: &Rules) {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let judged = Entry { path, root_bytes: self.root_bytes, name_at, is_folder: false };
            self.has_file_elsewhere = judge::judge(self.config, rules, judged) == Verdict::Take;
        }
    }

    fn take_or_skip(
        &mut self,
        entry: &DirEntry,
        path: &str,
        name_at: usize,
        rules: &Rules,
        reach: Reach<'a>,
    ) {
        let kind = match entry.file_type() {
            Ok(kind) => kind,
            Err(error) => return self.skip(path, failure(&error)),
        };
        if !kind.is_dir() && !kind.is_file() {
            return self.skip(path, irregular(kind));
        }
        let is_folder = kind.is_dir();
        if !is_folder && !reach.is_all() {
            return;
        }
        let judged = Entry { path, root_bytes: self.root_bytes, name_at, is_folder };
        let ignored = match judge::judge(self.config, rules, judged) {
            Verdict::Skip(reason) => return self.skip(path, reason),
            Verdict::TakeTracked(reason) => Some(reason),
            Verdict::Take => None,
        };
        if is_folder {
            let rules = Rules { ignored, ..rules.clone() };
            let path = format!("{path}/");
            self.pending.push(Folder { path, rules, is_entered: false, reach });
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

    fn read_ignore_files(&self, folder: &mut Folder<'_>, absolute: &Path, entries: &[Listed]) {
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

/// Whether a folder may have become a repository without a work tree, or been one, by the change of entries that are
/// asked for. All else in it then changes its fate with them.
fn may_turn_bare(node: &Node, entries: &[Listed]) -> bool {
    let marks = ["HEAD", "objects", "refs", "commondir"];
    marks.iter().any(|mark| node.has_added(mark))
        && marks[..2].iter().all(|mark| node.has_added(mark) || has(entries, mark))
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
    let content = regular::read_no_link(file, regular::MAX_IGNORE_FILE_BYTES);
    put_before(content, label, base_bytes, fold_case, next)
}

/// As [`read_rules`], of a file outside the work tree, which may be a link.
pub(super) fn read_rules_anywhere(
    file: &Path,
    label: String,
    base_bytes: usize,
    fold_case: bool,
    next: &Chain,
) -> Chain {
    let content = regular::read(file, regular::MAX_IGNORE_FILE_BYTES);
    put_before(content, label, base_bytes, fold_case, next)
}

fn put_before(
    content: Option<Vec<u8>>,
    label: String,
    base_bytes: usize,
    fold_case: bool,
    next: &Chain,
) -> Chain {
    match content {
        Some(content) => {
            RuleFile::parse(label, base_bytes, &content, fold_case).before(next.clone(), fold_case)
        }
        None => next.clone(),
    }
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
