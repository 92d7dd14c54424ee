//! One run: bring the index up to date, if that is allowed, and report.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::embedding::{Stage, into_report};
use super::live::Live;
use super::types::{Degradation, IndexReport};
use super::{Engine, Roots, lock, milliseconds, skipped_paths};
use crate::config::Config;
use crate::config::settings::ProgressLocation;
use crate::error::Error;
use crate::index::{self, Look, SyncReport};
use crate::store::{Control, Controls, Database, Snapshot, StoreError, Writer};
use crate::task::{CancelToken, Progress, ProgressSink};

/// Who wants a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// One who wants the index to be current.
    ByItself,
    /// One who searches then: what the first search needs is read while the run walks.
    ForSearch,
}

/// Keeps the newest progress for the status, and passes it on if the owner wants to be told.
pub(super) struct Kept<'a> {
    sink: &'a dyn ProgressSink,
    newest: &'a Mutex<Option<Progress>>,
    is_told: bool,
    location: ProgressLocation,
}

impl ProgressSink for Kept<'_> {
    fn report(&self, progress: Progress) {
        *lock(self.newest) = Some(progress.clone());
        if self.is_told {
            self.sink.report(Progress { location: self.location, ..progress });
        }
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        *lock(self.newest) = None;
    }
}

impl Roots {
    /// A token that is also cancelled by a pause, a clear, other roots and the end of the engine.
    pub(super) fn until_stopped(&self, cancel: &CancelToken) -> CancelToken {
        let (controls, is_left) = (self.controls.clone(), Arc::clone(&self.is_left));
        cancel
            .or_when(move || is_left.load(Ordering::SeqCst) || controls.state() != Control::Running)
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
        self.run_and_embed(cancel, progress, &roots)
    }

    /// As [`Engine::run`], and then has vectors made of what has none.
    pub(super) fn run_and_embed(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
    ) -> Result<IndexReport, Error> {
        let started = Instant::now();
        let mut report = self.run(cancel, progress, roots, Wanted::ByItself)?;
        // The index is committed: what becomes of the vectors is part of the report, whatever it is.
        let stage = match self.embed_missing(cancel, progress, roots, true) {
            Err(Error::Store(error)) => Stage::failed(&error.into()),
            stage => stage?,
        };
        if stage.is_to_be_retried {
            cancel.check()?;
            allowed(&roots.controls)?;
        }
        if roots.is_left() {
            return Err(Error::Cancelled);
        }
        into_report(stage, &mut report);
        report.took_ms = milliseconds(started);
        Ok(report)
    }

    /// As [`Engine::sync`], unless the index was cleared.
    pub(super) fn run(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
        wanted: Wanted,
    ) -> Result<IndexReport, Error> {
        let result = loop {
            let result = allowed(&roots.controls)
                .and_then(|()| self.run_in_turn(cancel, progress, roots, wanted));
            let is_stopped = result.as_ref().is_err_and(|error| error.code() == "CANCELLED");
            // Whatever the work was told: unless the caller or other roots stopped it, it was a pause or a clear. The next
            // round says which, or goes on if that is over already.
            if !is_stopped || cancel.is_cancelled() || roots.is_left() {
                break result;
            }
        };
        let mut result = result;
        if let Ok(report) = &mut result
            && self.has_hidden.load(Ordering::SeqCst)
            && let Err(error) = self.clear_hidden_vectors(cancel)
        {
            let message = format!("vectors of hidden text could not be removed: {}", error.chain());
            report.degraded.push(Degradation { code: error.code(), message });
        }
        // A run that was stopped says nothing about how the index stands.
        if !result.as_ref().is_err_and(|error| error.code() == "CANCELLED") {
            *lock(&self.last_error) = result
                .as_ref()
                .err()
                .filter(|error| !matches!(error, Error::Paused | Error::Stopped))
                .map(|error| Degradation { code: error.code(), message: error.chain() });
        }
        result
    }

    fn run_in_turn(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
        wanted: Wanted,
    ) -> Result<IndexReport, Error> {
        let cancel = roots.until_stopped(cancel);
        let _turn = self.turns.wait(&cancel).ok_or(Error::Cancelled)?;
        let progress = self.kept(progress);
        let live = lock(&self.live).clone();
        self.run_once(&cancel, &progress, roots, (live.as_deref(), wanted)).or_else(|error| {
            self.recover(&cancel, &error)?.ok_or(error)?;
            self.run_once(&cancel, &progress, roots, (live.as_deref(), wanted))
        })
    }

    /// What passes progress on as the settings say.
    fn kept<'a>(&'a self, sink: &'a dyn ProgressSink) -> Kept<'a> {
        self.kept_in(sink, &self.progress)
    }

    /// The same for the making of vectors, which may go on beside a run.
    pub(super) fn kept_embedding<'a>(&'a self, sink: &'a dyn ProgressSink) -> Kept<'a> {
        self.kept_in(sink, &self.embedding_progress)
    }

    fn kept_in<'a>(
        &self,
        sink: &'a dyn ProgressSink,
        newest: &'a Mutex<Option<Progress>>,
    ) -> Kept<'a> {
        let settings = &self.config().settings.vector_db;
        Kept {
            sink,
            newest,
            is_told: settings.enable_progress_notifications,
            location: settings.progress_location,
        }
    }

    fn run_once(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
        (live, wanted): (Option<&Live>, Wanted),
    ) -> Result<IndexReport, Error> {
        let started = Instant::now();
        let config = self.config();
        if self.database.identity().is_none() {
            // Somebody removed it. What is open can still be read, but not be brought up to date.
            Database::prepare(self.database.folder(), self.database.profile())?;
        }
        let looks = match live {
            Some(live) => live.looks(cancel, &roots.paths, &config.walk)?,
            None => vec![Look::Whole; roots.paths.len()],
        };
        let done = self.apply(cancel, progress, roots, &config, (live, &looks, wanted));
        if let (Some(live), Err(_)) = (live, &done) {
            live.give_back(&roots.paths, &looks);
        }
        let done = done?;
        if done.has_hidden {
            self.has_hidden.store(true, Ordering::SeqCst);
        }
        self.read_of(roots, |view, connection| {
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
                // Another process may have published in between.
                unchanged: (view.snapshot.files.len() as u64)
                    .saturating_sub(done.added + done.changed),
                embedded: done.embedded,
                reused: done.reused,
                texts_embedded: 0,
                texts_reused: 0,
                texts_pending: 0,
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
        config: &Config,
        (live, looks, wanted): (Option<&Live>, &[Look], Wanted),
    ) -> Result<SyncReport, Error> {
        let walk = |looks: &[Look]| index::walk(cancel, progress, &roots.paths, looks, config);
        let (generation, is_cold) = {
            let mut reader = lock(&self.reader);
            (reader.generation(&self.database)?, reader.is_cold())
        };
        let mut walked = std::thread::scope(|scope| {
            if is_cold && wanted == Wanted::ForSearch {
                scope.spawn(|| self.warm(roots));
            }
            walk(looks)
        })?;
        let (view, skipped) = self.read_of(roots, |view, connection| {
            Ok((Arc::clone(view), view.snapshot.skipped(connection)?))
        })?;
        let report = if index::is_current((&view.snapshot, &skipped), &walked) {
            SyncReport::default()
        } else {
            let patience = index::patience(&view.snapshot);
            let write_lock = self.database.lock(cancel, patience)?.ok_or(Error::Cancelled)?;
            let mut writer = Writer::open(&self.database, write_lock)?;
            let snapshot = writer.snapshot(&roots.keys, Some(&view.snapshot))?;
            let has_parts = looks.iter().any(|look| *look != Look::Whole);
            if has_parts && index::needs_whole(&writer, &snapshot)? {
                walked = walk(&vec![Look::Whole; looks.len()])?;
            } else if snapshot.generation != generation {
                // Somebody published since; what was walked before that is not the newest any more.
                walked = walk(looks)?;
            }
            let tools = &self.tools;
            index::sync(cancel, progress, &mut writer, &snapshot, &walked, config, tools)?
        };
        if let Some(live) = live {
            live.applied(&walked);
            if roots.is_left() {
                // What was said meanwhile about the new ones still holds.
                live.distrust();
            }
        }
        Ok(report)
    }

    /// Reads what the first search needs. Whatever fails here fails again where it matters.
    fn warm(&self, roots: &Roots) {
        let _ = self.read_of(roots, |view, connection| {
            view.snapshot.require_complete()?;
            view.statistics(connection, &self.config()).map(|_| ())
        });
    }

    /// If `error` says that the database is damaged: sets it aside and makes a new one. `Ok(None)` for other errors.
    pub(super) fn recover(&self, cancel: &CancelToken, error: &Error) -> Result<Option<()>, Error> {
        let Error::Store(StoreError::Damaged { detail, path }) = error else { return Ok(None) };
        if path != self.database.path() {
            return Ok(None);
        }
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
