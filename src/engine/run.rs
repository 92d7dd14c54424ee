//! One run: bring the index up to date, if that is allowed, and report.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::live::Live;
use super::types::{Degradation, IndexReport};
use super::{Engine, Roots, lock, milliseconds, skipped_paths};
use crate::error::Error;
use crate::index::{self, Done, Look, SyncReport};
use crate::store::{Control, Controls, Database, Snapshot, StoreError};
use crate::task::{CancelToken, Progress, ProgressSink};

/// Passes progress on and keeps the newest for the status.
struct Kept<'a> {
    sink: &'a dyn ProgressSink,
    newest: &'a Mutex<Option<Progress>>,
}

impl ProgressSink for Kept<'_> {
    fn report(&self, progress: Progress) {
        *lock(self.newest) = Some(progress.clone());
        self.sink.report(progress);
    }
}

fn allowed(controls: &Controls) -> Result<(), Error> {
    match controls.state() {
        Control::Running => Ok(()),
        Control::Paused => Err(Error::Paused),
        Control::Stopped => Err(Error::Stopped),
    }
}

impl Engine {
    /// Brings the index up to date with the files; after [`Engine::clear`] too.
    ///
    /// # Errors
    /// [`Error::Cancelled`], [`Error::Paused`], [`Error::Walk`], [`Error::Store`]; the last complete index is then
    /// unchanged.
    pub fn sync(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
    ) -> Result<IndexReport, Error> {
        let roots = self.roots();
        roots.controls.start()?;
        self.run(cancel, progress, &roots)
    }

    /// As [`Engine::sync`], unless the index was cleared.
    pub(super) fn run(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
    ) -> Result<IndexReport, Error> {
        let result = allowed(&roots.controls)
            .and_then(|()| self.run_in_turn(cancel, progress, roots))
            .or_else(|error| {
                // Whatever the work was told, the reason is what the owner asked for.
                if error.code() == "CANCELLED" {
                    allowed(&roots.controls)?;
                }
                Err(error)
            });
        *lock(&self.last_error) = result
            .as_ref()
            .err()
            .filter(|error| !matches!(error, Error::Paused | Error::Stopped))
            .map(|error| Degradation { code: error.code(), message: error.chain() });
        result
    }

    /// As [`Engine::run`], while what the first search needs is read at the same time.
    pub(super) fn run_and_warm(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
    ) -> Result<IndexReport, Error> {
        if !lock(&self.reader).is_cold() {
            return self.run(cancel, progress, roots);
        }
        std::thread::scope(|scope| {
            // Whatever fails here fails again where it matters.
            scope.spawn(|| {
                self.read(|view, connection| {
                    view.snapshot.require_complete()?;
                    view.statistics(connection, &self.config).map(|_| ())
                })
                .ok();
            });
            self.run(cancel, progress, roots)
        })
    }

    fn run_in_turn(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
    ) -> Result<IndexReport, Error> {
        let controls = roots.controls.clone();
        let cancel = cancel.or_when(move || controls.state() != Control::Running);
        let _turn = self.turns.wait(&cancel).ok_or(Error::Cancelled)?;
        let progress = Kept { sink: progress, newest: &self.progress };
        let live = lock(&self.live).clone();
        let result = self.run_once(&cancel, &progress, roots, live.as_deref()).or_else(|error| {
            self.recover(&cancel, &error)?.ok_or(error)?;
            self.run_once(&cancel, &progress, roots, live.as_deref())
        });
        *lock(&self.progress) = None;
        result
    }

    fn run_once(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
        live: Option<&Live>,
    ) -> Result<IndexReport, Error> {
        let started = Instant::now();
        if self.database.identity().is_none() {
            // Somebody removed it. What is open can still be read, but not be brought up to date.
            Database::prepare(self.database.folder(), self.database.profile())?;
        }
        let looks = match live {
            Some(live) => live.looks(cancel, &roots.paths, &self.config.walk)?,
            None => vec![Look::Whole; roots.paths.len()],
        };
        let done = self.apply(cancel, progress, roots, (live, &looks));
        if let (Some(live), Err(_)) = (live, &done) {
            live.give_back(&roots.paths, &looks);
        }
        let done = done?;
        self.read(|view, connection| {
            let notice = done.notice.clone();
            let mut degraded: Vec<Degradation> =
                notice.map(|(code, message)| Degradation { code, message }).into_iter().collect();
            degraded.extend(truncated(&view.snapshot));
            degraded.extend(live.map(Live::blindness).unwrap_or_default());
            Ok(IndexReport {
                roots: roots.keys.clone(),
                files: view.snapshot.files.len() as u64,
                chunks: view.snapshot.n_live_chunks(),
                added: done.added,
                changed: done.changed,
                removed: done.removed,
                unchanged: view.snapshot.files.len() as u64 - done.added - done.changed,
                embedded: done.embedded,
                reused: done.reused,
                skipped: skipped_paths(&view.snapshot, connection)?,
                took_ms: milliseconds(started),
                degraded,
            })
        })
    }

    fn apply(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
        (live, looks): (Option<&Live>, &[Look]),
    ) -> Result<SyncReport, Error> {
        let walked = index::walk(cancel, progress, &roots.paths, looks, &self.config)?;
        let (view, skipped) = self
            .read(|view, connection| Ok((Arc::clone(view), view.snapshot.skipped(connection)?)))?;
        let current = (&view.snapshot, skipped.as_slice());
        let done = index::sync(
            cancel,
            progress,
            &self.database,
            current,
            &walked,
            &self.config,
            &self.tools,
        )?;
        match done {
            Done::Published(report) => {
                if let Some(live) = live {
                    live.applied(&walked);
                }
                Ok(report)
            }
            Done::NeedsWhole => {
                let whole = vec![Look::Whole; roots.paths.len()];
                self.apply(cancel, progress, roots, (live, &whole))
            }
        }
    }

    /// If `error` says that the database is damaged: sets it aside and makes a new one. `Ok(None)` for other errors.
    pub(super) fn recover(&self, cancel: &CancelToken, error: &Error) -> Result<Option<()>, Error> {
        let Error::Store(StoreError::Damaged { detail, .. }) = error else { return Ok(None) };
        let mut reader = lock(&self.reader);
        let _write_lock = self.database.lock(cancel, index::PATIENCE)?.ok_or(Error::Cancelled)?;
        // The connection must not outlive the file that it reads.
        let seen = reader.release();
        if seen == self.database.identity() {
            self.database.set_aside(detail)?;
        } else {
            // Somebody else has put a new one there meanwhile.
            self.database.replace()?;
        }
        Ok(Some(()))
    }
}

/// A notice for files of which only the beginning is indexed.
fn truncated(snapshot: &Snapshot) -> Option<Degradation> {
    const NAMED: usize = 3;
    let paths: Vec<&str> = snapshot
        .files
        .iter()
        .filter(|file| file.meta.is_truncated)
        .map(|file| file.meta.path.as_str())
        .collect();
    let shown = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = if paths.len() > NAMED { ", …" } else { "" };
    (!paths.is_empty()).then(|| Degradation {
        code: "FILES_TRUNCATED",
        message: format!(
            "{} files are indexed only up to {} bytes: {shown}{more}",
            paths.len(),
            crate::config::MAX_FILE_BYTES
        ),
    })
}
