//! What is in a file that decides about others?
//!
//! In: an absolute path and a bound. Out: its bytes, if it is a regular file within the bound. A pipe or device that
//! took a file's place neither blocks nor is read. Never fails: what cannot be read is absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// git reads no larger ignore file.
pub(super) const MAX_IGNORE_FILE_BYTES: u64 = 100 << 20;

/// Bound of configuration files, of `.git` files and of the small files in git's folder. git refuses `.git` files
/// above it; a configuration of this size is not a person's.
pub(super) const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Bound of git's index: some 100 bytes for each of five million paths.
pub(super) const MAX_INDEX_BYTES: u64 = 512 << 20;

/// The bytes of a file of at most `max_bytes`. A link is followed.
pub(super) fn read(file: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let is_usable = |metadata: &fs::Metadata| metadata.is_file() && metadata.len() <= max_bytes;
    // Asked before opening too, since opening alone can set a device in motion.
    if !fs::metadata(file).is_ok_and(|metadata| is_usable(&metadata)) {
        return None;
    }
    let file = open(file).ok()?;
    let metadata = file.metadata().ok().filter(is_usable)?;
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).ok()? + 1);
    file.take(max_bytes + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= max_bytes).then_some(content)
}

/// As [`read`], as text of at most [`MAX_SETTINGS_BYTES`]; None if it is not valid UTF-8.
pub(super) fn read_text(file: &Path) -> Option<String> {
    String::from_utf8(read(file, MAX_SETTINGS_BYTES)?).ok()
}

/// As [`read`] of an ignore file in a work tree, where git does not follow links.
pub(super) fn read_no_link(file: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?;
    read(file, max_bytes)
}

#[cfg(unix)]
fn open(file: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file)
}

#[cfg(not(unix))]
fn open(file: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(file)
}
