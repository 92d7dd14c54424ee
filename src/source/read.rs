//! The bytes of a file, as far as they count.
//!
//! In: an absolute path. Out: at most [`MAX_FILE_BYTES`] bytes, or why there are none. Opens regular files only:
//! a link that took a file's place is not followed, a pipe does not block.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use crate::config::MAX_FILE_BYTES;

/// The start of a file.
pub(super) struct Prefix {
    pub(super) bytes: Vec<u8>,
    /// Whether the file goes on.
    pub(super) is_cut: bool,
}

/// Why a file gave no bytes, and whether that can pass without the file changing.
pub(super) struct Unread {
    pub(super) reason: String,
    pub(super) transient: bool,
}

/// Reads the start of a file.
pub(super) fn read_prefix(absolute: &Path) -> Result<Prefix, Unread> {
    let (file, metadata) = open(absolute).map_err(|error| unread(&error))?;
    if !metadata.is_file() {
        return Err(not_regular());
    }
    let expected = usize::try_from(metadata.len()).unwrap_or(usize::MAX).min(MAX_FILE_BYTES);
    let mut bytes = Vec::with_capacity(expected + 1);
    let limit = MAX_FILE_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| unread(&error))?;
    let is_cut = bytes.len() > MAX_FILE_BYTES;
    bytes.truncate(MAX_FILE_BYTES);
    Ok(Prefix { bytes, is_cut })
}

#[cfg(unix)]
fn open(absolute: &Path) -> io::Result<(File, Metadata)> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(absolute)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

#[cfg(not(unix))]
fn open(absolute: &Path) -> io::Result<(File, Metadata)> {
    let metadata = std::fs::symlink_metadata(absolute)?;
    let file = OpenOptions::new().read(true).open(absolute)?;
    Ok((file, metadata))
}

fn not_regular() -> Unread {
    Unread { reason: "not a regular file".to_owned(), transient: false }
}

fn unread(error: &io::Error) -> Unread {
    #[cfg(unix)]
    if let Some(libc::ELOOP | libc::ENXIO | libc::EISDIR) = error.raw_os_error() {
        // A link in the file's place; a socket; a device without a driver.
        return not_regular();
    }
    let reason = match error.kind() {
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::NotFound => "vanished".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    Unread { reason, transient: true }
}
