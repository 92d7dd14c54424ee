//! The system's own watches: what is asked for, and what a refusal means.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use notify::{Config, EventHandler, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::blind::Blind;

/// Linux watches single folders, which lets everything that is not ours cost nothing. The others watch a tree at once:
/// a watch a folder would cost a handle each, or restart the stream of events each time.
const PER_FOLDER: bool = cfg!(target_os = "linux");

/// Whether events of all watches come in the order in which they happened. One inotify instance has one queue. Windows
/// has a buffer for each watched folder, and macOS promises no order between volumes.
pub(super) const IN_ORDER: bool = cfg!(target_os = "linux");

/// What to raise when a watch is refused.
const MAX_WATCHES: &str = if cfg!(target_os = "linux") {
    "fs.inotify.max_user_watches (sysctl)"
} else {
    "the number of files that a process may open"
};

/// What to raise when no watching can begin.
const MAX_INSTANCES: &str = if cfg!(target_os = "linux") {
    "fs.inotify.max_user_instances (sysctl) and the number of files that a process may open"
} else {
    MAX_WATCHES
};

/// Why a folder is not watched now.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There is no folder that can be read. The folder above tells when there is.
    NoFolder,
    /// Nothing more can be watched, or not this.
    Blind(Blind),
}

/// What the watcher asks of the system; tests have one with limits.
pub(super) trait Native: Send {
    /// Watches a folder, once more if it is watched already.
    fn watch(&mut self, folder: &Path, mode: RecursiveMode) -> notify::Result<()>;
    /// Stops that. It is no failure if the folder is not watched, as the system forgets removed folders by itself.
    fn unwatch(&mut self, folder: &Path);
}

impl Native for RecommendedWatcher {
    fn watch(&mut self, folder: &Path, mode: RecursiveMode) -> notify::Result<()> {
        notify::Watcher::watch(self, folder, mode)
    }

    fn unwatch(&mut self, folder: &Path) {
        // The only failure is that there is no such watch.
        let _ = notify::Watcher::unwatch(self, folder);
    }
}

/// Starts watching nothing yet.
pub(super) fn open(handler: impl EventHandler, storage: &Path) -> Result<Box<dyn Native>, Blind> {
    let config = Config::default().with_follow_symlinks(false);
    match RecommendedWatcher::new(handler, config) {
        Ok(watcher) => Ok(Box::new(watcher)),
        Err(error) => Err(blind(&error, storage, MAX_INSTANCES)),
    }
}

/// The folder to watch so that `folder` of `root` is seen, if it is not seen by the watch of the root.
pub(super) fn watched_for(root: &Path, folder: &str) -> Option<PathBuf> {
    if folder.is_empty() {
        return Some(root.to_path_buf());
    }
    PER_FOLDER.then(|| root.join(folder))
}

/// How the folders of a root are watched.
pub(super) fn mode_of_roots() -> RecursiveMode {
    if PER_FOLDER { RecursiveMode::NonRecursive } else { RecursiveMode::Recursive }
}

/// Watches a folder that is not a link. Answers its stat from just before.
pub(super) fn watch(
    native: &mut dyn Native,
    folder: &Path,
    mode: RecursiveMode,
) -> Result<Metadata, Refusal> {
    // The system would follow a link that has taken the folder's place.
    let stat = fs::symlink_metadata(folder).map_err(|error| refusal_of_io(&error, folder))?;
    if !stat.is_dir() {
        return Err(Refusal::NoFolder);
    }
    match native.watch(folder, mode) {
        Ok(()) => Ok(stat),
        Err(error) => match &error.kind {
            notify::ErrorKind::PathNotFound => Err(Refusal::NoFolder),
            notify::ErrorKind::Io(io) if io.raw_os_error().is_some() && !is_limit(io) => {
                Err(refusal_of_io(io, folder))
            }
            _ => Err(Refusal::Blind(blind(&error, folder, MAX_WATCHES))),
        },
    }
}

fn refusal_of_io(error: &std::io::Error, folder: &Path) -> Refusal {
    match error.kind() {
        // A folder that cannot be read is left out by the walk as well; a change of permissions is an event of the
        // folder above.
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied => {
            Refusal::NoFolder
        }
        _ => Refusal::Blind(Blind::Failed { path: folder.into(), reason: error.to_string() }),
    }
}

fn blind(error: &notify::Error, folder: &Path, setting: &'static str) -> Blind {
    let is_limit = match &error.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        notify::ErrorKind::Io(io) => is_limit(io),
        _ => false,
    };
    if is_limit {
        Blind::Limit { path: folder.into(), setting }
    } else {
        Blind::Failed { path: folder.into(), reason: error.to_string() }
    }
}

#[cfg(unix)]
fn is_limit(error: &std::io::Error) -> bool {
    [libc::EMFILE, libc::ENFILE, libc::ENOSPC].map(Some).contains(&error.raw_os_error())
}

#[cfg(not(unix))]
fn is_limit(_error: &std::io::Error) -> bool {
    false
}

/// A number that differs between file systems that are mounted in one tree; 0 where there is none.
#[cfg(unix)]
pub(super) fn device(stat: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::dev(stat)
}

/// A number that differs between file systems that are mounted in one tree; 0 where there is none.
#[cfg(not(unix))]
pub(super) fn device(_stat: &Metadata) -> u64 {
    0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_systems_limits_are_told_from_other_failures() {
        let io = |code| notify::Error::io(std::io::Error::from_raw_os_error(code));
        let full = notify::Error::new(notify::ErrorKind::MaxFilesWatch);
        for error in [full, io(libc::ENOSPC), io(libc::EMFILE)] {
            let blind = blind(&error, Path::new("/f"), MAX_WATCHES);
            assert_eq!(blind.code(), "WATCH_LIMIT");
            assert!(blind.to_string().contains("/f; raise "), "{blind}");
        }
        let blind = blind(&io(libc::EIO), Path::new("/f"), MAX_WATCHES);
        assert_eq!(blind.code(), "WATCH_UNAVAILABLE");
    }
}
