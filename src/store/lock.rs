//! One writer at a time, over all processes.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::{Result, StoreError};
use crate::task::CancelToken;

/// How often a waiting process asks again whether the other is done.
const POLL: Duration = Duration::from_millis(20);

/// The right to write; released when dropped, and by the system when its process dies.
pub struct WriteLock(File);

/// A program that another thread is just starting has the open files of this process until it begins, and a lock ends with
/// the last of them, unless somebody lets go of it.
impl Drop for WriteLock {
    fn drop(&mut self) {
        // Where it fails, closing the file ends the lock.
        let _ = self.0.unlock();
    }
}

impl WriteLock {
    /// Whether somebody holds the lock now.
    pub(super) fn is_held(folder: &Path) -> bool {
        let Ok(file) = File::open(folder.join("write.lock")) else { return false };
        match file.try_lock_shared() {
            Ok(()) => {
                drop(Self(file));
                false
            }
            Err(error) => matches!(error, TryLockError::WouldBlock),
        }
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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    /// Runs `work` while a program has been started and has not begun: it has all files that are open now.
    fn beside_a_program_that_starts(work: impl FnOnce()) {
        let (mut is_there, tell) = std::io::pipe().unwrap();
        let (wait, let_begin) = std::io::pipe().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut command = Command::new("true");
                let (mut tell, mut wait) = (tell, wait);
                // SAFETY: reading and writing a pipe is safe between fork and exec.
                unsafe {
                    command.pre_exec(move || {
                        tell.write_all(b"x")?;
                        wait.read_exact(&mut [0])
                    });
                }
                assert!(command.status().unwrap().success());
            });
            is_there.read_exact(&mut [0]).unwrap();
            work();
            let mut let_begin = let_begin;
            let_begin.write_all(b"x").unwrap();
        });
    }

    #[test]
    fn a_lock_that_was_let_go_is_free_though_a_program_starts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("write.lock");
        let lock = WriteLock::take(&path).unwrap().unwrap();
        beside_a_program_that_starts(|| {
            assert!(WriteLock::is_held(folder.path()));
            drop(lock);
            assert!(!WriteLock::is_held(folder.path()));
            assert!(WriteLock::take(&path).unwrap().is_some());
        });
    }
}
