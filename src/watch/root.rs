//! What is known of one root: which folders are covered, and what has changed since it was last asked.

use std::collections::{BTreeSet, HashSet};
use std::path::{Component, Path, PathBuf};

use notify::EventKind;
use notify::event::ModifyKind;

use super::blind::Blind;
use super::native;
use super::pending::Pending;

/// One root.
pub(super) struct Root {
    path: PathBuf,
    /// Relative paths; only what lies directly in one of them is a change of this root.
    folders: BTreeSet<String>,
    outside: BTreeSet<PathBuf>,
    /// Watches of folders that were moved or removed. The system's watch may go on under the old name, so it has to be
    /// taken away before a folder of that name is watched anew.
    stale: BTreeSet<PathBuf>,
    pub(super) pending: Pending,
    pub(super) is_outside_changed: bool,
    pub(super) is_storage_changed: bool,
    /// Events were lost, perhaps those of moved folders: no watch can be trusted to be where its name says.
    pub(super) is_lost: bool,
    /// No cover was asked for yet.
    pub(super) is_new: bool,
    pub(super) blind: Option<Blind>,
}

/// How to get from the folders that are covered to those that are wanted.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// To be watched.
    pub(super) folders: Vec<String>,
    /// To be watched.
    pub(super) outside: Vec<PathBuf>,
    /// Not wanted any more: not to be watched, unless for another reason.
    pub(super) dropped: BTreeSet<PathBuf>,
    /// Watches of folders that went away; to be taken away even if a folder of that name is to be watched.
    pub(super) stale: BTreeSet<PathBuf>,
}

impl Root {
    pub(super) fn new(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            folders: BTreeSet::new(),
            outside: BTreeSet::new(),
            stale: BTreeSet::new(),
            pending: Pending::default(),
            is_outside_changed: false,
            is_storage_changed: false,
            is_lost: false,
            is_new: true,
            blind: None,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Covers exactly these folders from now on, so that no event gets lost while the system's watches follow.
    pub(super) fn cover(&mut self, folders: &[String], outside: &[PathBuf]) -> Difference {
        let stale = std::mem::take(&mut self.stale);
        let mut dropped = BTreeSet::new();
        // Without the root itself nothing would be watched at all, and look whole.
        let wanted: HashSet<&str> = folders.iter().map(String::as_str).chain([""]).collect();
        let root = &self.path;
        self.folders.retain(|folder| {
            let is_kept = wanted.contains(folder.as_str());
            if !is_kept {
                dropped.extend(native::watched_for(root, folder));
            }
            is_kept
        });
        self.outside.retain(|folder| {
            let is_kept = outside.contains(folder);
            if !is_kept {
                dropped.insert(folder.clone());
            }
            is_kept
        });
        let mut added: Vec<String> = wanted
            .into_iter()
            .filter(|folder| self.folders.insert((*folder).to_owned()))
            .map(str::to_owned)
            .collect();
        added.sort_unstable();
        let outside =
            outside.iter().filter(|folder| self.outside.insert((*folder).clone())).cloned();
        Difference { folders: added, outside: outside.collect(), dropped, stale }
    }

    /// Covers nothing any more. Answers what was watched.
    pub(super) fn uncover(&mut self) -> BTreeSet<PathBuf> {
        let Difference { mut dropped, stale, .. } = self.cover(&[], &[]);
        dropped.extend(stale);
        dropped.extend(native::watched_for(&self.path, ""));
        self.folders.clear();
        dropped
    }

    /// All that is to be watched for this root.
    pub(super) fn covered(&self) -> (Vec<String>, Vec<PathBuf>) {
        (self.folders.iter().cloned().collect(), self.outside.iter().cloned().collect())
    }

    /// Takes back that these are covered: there is no such folder now.
    pub(super) fn forget(&mut self, folders: &[String], outside: &[PathBuf]) {
        folders.iter().for_each(|folder| {
            self.folders.remove(folder);
        });
        outside.iter().for_each(|folder| {
            self.outside.remove(folder);
        });
    }

    /// Whether a watch of this very folder serves this root.
    pub(super) fn needs(&self, folder: &Path) -> bool {
        self.outside.contains(folder)
            || self.relative(folder).is_some_and(|relative| {
                self.folders.contains(&relative)
                    && native::watched_for(&self.path, &relative).is_some()
            })
    }

    /// Everything may have changed, and watches may be under wrong names.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.pending.insert_everything();
        self.is_outside_changed = true;
        self.is_storage_changed = true;
    }

    /// Takes an event in. Whether there is something to tell of.
    pub(super) fn note(&mut self, path: &Path, kind: EventKind) -> bool {
        let is_outside = self.note_outside(path, kind);
        let is_inside = self.note_inside(path, kind);
        is_outside || is_inside
    }

    fn note_outside(&mut self, path: &Path, kind: EventKind) -> bool {
        let is_folder = self.outside.contains(path);
        let is_in_one = path.parent().is_some_and(|parent| self.outside.contains(parent));
        if is_folder && is_moving(kind) {
            self.outside.remove(path);
            self.stale.insert(path.to_path_buf());
        }
        let is_change = is_folder || is_in_one;
        self.is_outside_changed |= is_change;
        is_change
    }

    fn note_inside(&mut self, path: &Path, kind: EventKind) -> bool {
        let Some(relative) = self.relative(path) else {
            return self.note_unreadable_name(path);
        };
        let parent = match relative.rfind('/') {
            Some(end) => Some(&relative[..end]),
            None if relative.is_empty() => None,
            None => Some(""),
        };
        let is_folder = self.folders.contains(&relative);
        let is_in_one = parent.is_some_and(|parent| self.folders.contains(parent));
        if is_moving(kind) {
            self.drop_from(&relative);
        } else if is_folder && is_content(kind) {
            // Some systems say so of a folder whose entries changed; each entry has an event of its own.
            return false;
        }
        if is_folder || is_in_one {
            self.pending.insert(&relative);
        }
        is_folder || is_in_one
    }

    /// A name that is not UTF-8 cannot be told; the folder above it can.
    fn note_unreadable_name(&mut self, path: &Path) -> bool {
        let parent = path.parent().and_then(|parent| self.relative(parent));
        let Some(parent) = parent.filter(|parent| self.folders.contains(parent)) else {
            return false;
        };
        self.pending.insert(&parent);
        true
    }

    /// The folder and all below are not where they were.
    fn drop_from(&mut self, relative: &str) {
        let mut gone: Vec<String> = Vec::new();
        if relative.is_empty() {
            gone.extend(std::mem::take(&mut self.folders));
        } else {
            let below = format!("{relative}/");
            gone.extend(self.folders.take(relative));
            let inside = self.folders.range(below.clone()..);
            gone.extend(inside.take_while(|folder| folder.starts_with(&below)).cloned());
        }
        for folder in gone {
            self.folders.remove(&folder);
            self.stale.extend(native::watched_for(&self.path, &folder));
        }
    }

    /// The path below this root, with `/` between its parts.
    fn relative(&self, path: &Path) -> Option<String> {
        let mut relative = String::new();
        for part in path.strip_prefix(&self.path).ok()?.components() {
            let Component::Normal(name) = part else { return None };
            if !relative.is_empty() {
                relative.push('/');
            }
            relative.push_str(name.to_str()?);
        }
        Some(relative)
    }
}

/// Whether another file or folder may be at the path than before.
fn is_moving(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_))
    )
}

/// Whether the content at the path changed, and neither its permissions nor its name.
fn is_content(kind: EventKind) -> bool {
    matches!(kind, EventKind::Modify(ModifyKind::Any | ModifyKind::Data(_)))
}
