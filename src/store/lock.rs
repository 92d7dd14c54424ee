//! One writer at a time, over all processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::{Result, StoreError};
use crate::task::CancelToken;

/// How often a waiting process asks again whether the other is done.
const POLL: Duration = Duration::from_millis(20);

/// The right to write; released when dropped, and by the system when its process dies.
pub struct WriteLock(#[expect(dead_code, reason = "holds the lock until dropped")] File);

impl WriteLock {
    /// Whether somebody holds the lock now.
    pub(super) fn is_held(folder: &Path) -> bool {
        let Ok(file) = File::open(folder.join("write.lock")) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Takes the lock at `path`, if nobody has it.
    pub(super) fn take(path: &Path) -> Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::from_io(path, error)),
        }
    }

    /// Waits for the lock, at most as long as `patience`. `Ok(None)` if `cancel` came first.
    pub(super) fn wait(
        folder: &Path,
        cancel: &CancelToken,
        patience: Duration,
    ) -> Result<Option<Self>> {
        Self::wait_for(&folder.join("write.lock"), cancel, patience)
    }

    /// As [`WriteLock::wait`], for the lock at `path`.
    pub(super) fn wait_for(
        path: &Path,
        cancel: &CancelToken,
        patience: Duration,
    ) -> Result<Option<Self>> {
        let started = Instant::now();
        let file = open(path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(file))),
                Err(TryLockError::WouldBlock) if cancel.is_cancelled() => return Ok(None),
                Err(TryLockError::WouldBlock) if started.elapsed() > patience => {
                    return Err(StoreError::Busy { path: path.to_path_buf() });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(POLL),
                Err(TryLockError::Error(error)) => return Err(StoreError::from_io(path, error)),
            }
        }
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(|error| StoreError::from_io(path, error))
}
