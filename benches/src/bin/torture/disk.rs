//! Files and folders, with errors that name them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::failure::{Context, Result};

/// Creates or replaces a file in place, and the folders above it.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    create_parent(path)?;
    fs::write(path, content).machine(format_args!("writing {}", path.display()))
}

/// Writes a file beside `path` and renames it, as editors do. No other process sees a part of it.
pub fn write_by_rename(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp~");
    let beside = path.with_file_name(name);
    write(&beside, content)?;
    rename(&beside, path)
}

/// Renames a file or folder, replacing what is there; creates the folders above.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    create_parent(to)?;
    fs::rename(from, to).machine(format_args!("renaming {} to {}", from.display(), to.display()))
}

/// Reads a file.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).machine(format_args!("reading {}", path.display()))
}

/// Removes a file.
pub fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).machine(format_args!("removing {}", path.display()))
}

/// Gives a file another time of change.
pub fn set_modified(path: &Path, time: SystemTime) -> Result<()> {
    File::options()
        .write(true)
        .open(path)
        .and_then(|file| file.set_modified(time))
        .machine(format_args!("touching {}", path.display()))
}

/// Relative paths of all files below `root`, sorted, with `/` between parts. Names for which `passes_over` holds are
/// left out with all below them.
pub fn files_below(root: &Path, passes_over: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![(root.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        let entries =
            fs::read_dir(&folder).machine(format_args!("listing {}", folder.display()))?;
        for entry in entries {
            let entry = entry.machine(format_args!("listing {}", folder.display()))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if passes_over(&name) {
                continue;
            }
            let kind =
                entry.file_type().machine(format_args!("looking at {}", entry.path().display()))?;
            if kind.is_dir() {
                folders.push((entry.path(), format!("{prefix}{name}/")));
            } else {
                files.push(format!("{prefix}{name}"));
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn create_parent(path: &Path) -> Result<()> {
    let parent = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
    fs::create_dir_all(&parent).machine(format_args!("creating {}", parent.display()))
}
