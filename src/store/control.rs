//! May the index of a workspace be brought up to date by itself? The answer is kept in marker files beside the database.
//!
//! A file is seen by every process at once, needs no lock, and outlives a database that is replaced. A workspace is its
//! set of roots, so workspaces that share a storage folder are paused apart.
//!
//! Fails with [`super::StoreError`] only if a marker cannot be made or removed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_128;

use super::error::{Result, StoreError};

/// What its owner has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Nothing: runs may begin.
    Running,
    /// That no run begins or goes on until it is resumed.
    Paused,
    /// That there be no index until one is asked for.
    Stopped,
}

/// The markers of one workspace.
#[derive(Clone, Debug)]
pub struct Controls {
    pause: PathBuf,
    stop: PathBuf,
    /// The roots, for a person who finds a marker.
    content: String,
}

impl Controls {
    /// The markers in `folder` of the workspace with `roots`.
    #[must_use]
    pub fn new(folder: &Path, roots: &[String]) -> Self {
        let mut roots = roots.to_vec();
        roots.sort();
        let content = roots.join("\n");
        let key = xxh3_128(content.as_bytes());
        Self {
            pause: folder.join(format!("pause-{key:032x}")),
            stop: folder.join(format!("stop-{key:032x}")),
            content,
        }
    }

    /// What is asked for now.
    #[must_use]
    pub fn state(&self) -> Control {
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        if exists(&self.stop) {
            Control::Stopped
        } else if exists(&self.pause) {
            Control::Paused
        } else {
            Control::Running
        }
    }

    /// Asks for a pause.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn pause(&self) -> Result<()> {
        self.put(&self.pause)
    }

    /// Asks for no index; a pause is over.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn stop(&self) -> Result<()> {
        self.put(&self.stop)?;
        remove(&self.pause)
    }

    /// Ends a stop, not a pause.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn start(&self) -> Result<()> {
        remove(&self.stop)
    }

    /// Ends a pause and a stop.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn resume(&self) -> Result<()> {
        remove(&self.pause)?;
        remove(&self.stop)
    }

    fn put(&self, marker: &Path) -> Result<()> {
        fs::write(marker, &self.content).map_err(|error| StoreError::from_io(marker, error))
    }
}

fn remove(marker: &Path) -> Result<()> {
    match fs::remove_file(marker) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::from_io(marker, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_those_of_a_set_of_roots() {
        let folder = tempfile::tempdir().unwrap();
        let of = |roots: &[&str]| {
            let roots: Vec<String> = roots.iter().map(|&root| root.to_owned()).collect();
            Controls::new(folder.path(), &roots)
        };
        let (ours, same, other) = (of(&["/a", "/b"]), of(&["/b", "/a"]), of(&["/a"]));
        assert_eq!(ours.state(), Control::Running);
        ours.pause().unwrap();
        assert_eq!((same.state(), other.state()), (Control::Paused, Control::Running));
        same.start().unwrap();
        assert_eq!(ours.state(), Control::Paused);
        ours.stop().unwrap();
        assert_eq!((same.state(), other.state()), (Control::Stopped, Control::Running));
        ours.start().unwrap();
        assert_eq!(ours.state(), Control::Running);
        ours.pause().unwrap();
        same.resume().unwrap();
        assert_eq!(ours.state(), Control::Running);
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    }

    #[test]
    fn a_marker_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let controls = Controls::new(&folder.path().join("gone"), &["/a".to_owned()]);
        assert!(controls.pause().is_err());
        assert_eq!(controls.state(), Control::Running);
        controls.resume().unwrap();
    }
}
