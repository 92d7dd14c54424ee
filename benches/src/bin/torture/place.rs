//! The folder of one run: the tree, the storage and what lies beside them.

use std::fs;
use std::path::{Path, PathBuf};

use sextant::config::Config;
use sextant::engine::{Engine, OpenOptions, Parts};
use tempfile::TempDir;

use crate::failure::{Context, Failure, Result};

/// A temporary folder that is removed at the end, unless it is kept.
pub struct Place {
    folder: TempDir,
    /// What is indexed.
    pub root: PathBuf,
    /// Where its index is.
    pub storage: PathBuf,
}

impl Place {
    /// Creates it below `dir`.
    pub fn new(dir: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("sextant-torture-")
            .tempdir_in(dir)
            .machine(format_args!("creating a folder in {}", dir.display()))?;
        let top = fs::canonicalize(folder.path())
            .machine(format_args!("resolving {}", folder.path().display()))?;
        let root = top.join("tree");
        fs::create_dir(&root).machine(format_args!("creating {}", root.display()))?;
        Ok(Self { folder, root, storage: top.join("storage") })
    }

    /// Something beside tree and storage.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.storage.with_file_name(name)
    }

    /// Leaves the folder where it is and says where that is.
    pub fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Opens the index.
    pub fn open(&self) -> Result<Engine> {
        open(&self.root, &self.storage).finding("opening the index")
    }

    /// A finding if a database was set aside.
    pub fn check_nothing_set_aside(&self) -> Result<()> {
        let names = crate::disk::files_below(&self.storage, |_| false)?;
        if names.iter().any(|name| name.contains("damaged")) {
            return Err(Failure::Finding(format!("a database was set aside: {names:?}")));
        }
        Ok(())
    }
}

/// Opens `root` with its index in `storage`.
pub fn open(root: &Path, storage: &Path) -> std::result::Result<Engine, sextant::error::Error> {
    Engine::open(OpenOptions {
        roots: vec![root.to_path_buf()],
        storage: Some(storage.to_path_buf()),
        // Beside the index, so that a fresh one makes all its vectors itself.
        cache: Some(storage.join("cache")),
        config: Config::standard(),
        parts: Parts::default(),
    })
}
