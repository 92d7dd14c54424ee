//! Pause, resume and clear. Each is about this workspace alone, and holds in every process that has it open.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::types::IndexReport;
use super::{Engine, lock};
use crate::error::Error;
use crate::store::{VectorStore, Writer};
use crate::task::{CancelToken, ProgressSink};

/// How long a run of another process may take to save what it has finished. It asks for markers every 100 ms, and then
/// writes the segments that it has in memory.
const OTHERS: Duration = Duration::from_secs(30);

impl Engine {
    /// Stops runs, here and in other processes, and lets none begin until [`Engine::resume`]. What a run had finished is
    /// kept as a checkpoint; the last complete index stays searchable. Returns once nothing runs any more, or after 30
    /// seconds.
    ///
    /// # Errors
    /// A marker that cannot be written. A run of another process that does not end in time is no error.
    pub fn pause(&self) -> Result<(), Error> {
        self.require_open()?;
        self.roots().controls.pause()?;
        let nobody = CancelToken::new();
        let _turn = self.turns.wait(&nobody);
        let _embedding = self.embedding_turns.wait(&nobody);
        let _lock = self.database.lock(&nobody, OTHERS);
        // Who has vectors made elsewhere is told by the marker as well.
        let _embedding = VectorStore::wait_lock(self.database.folder(), &nobody, OTHERS);
        Ok(())
    }

    /// Ends a pause, and the state after [`Engine::clear`], and goes on: what was finished before the pause is not read
    /// again unless it has changed since.
    ///
    /// # Errors
    /// Those of [`Engine::sync`].
    pub fn resume(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
    ) -> Result<IndexReport, Error> {
        self.require_open()?;
        let roots = self.roots();
        roots.controls.resume()?;
        self.run_and_embed(cancel, progress, &roots)
    }

    /// Removes the index and what an interrupted run had finished. No index is made until [`Engine::sync`] or
    /// [`Engine::resume`].
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn clear(&self) -> Result<(), Error> {
        self.require_open()?;
        let roots = self.roots();
        roots.controls.stop()?;
        let nobody = CancelToken::new();
        let _turn = self.turns.wait(&nobody);
        let _embedding = self.embedding_turns.wait(&nobody);
        let write_lock = self.database.lock(&nobody, OTHERS)?.ok_or(Error::Cancelled)?;
        // The connection must not outlive the file that it reads.
        lock(&self.reader).release();
        let _embed_lock = VectorStore::wait_lock(self.database.folder(), &nobody, OTHERS);
        self.close_providers();
        lock(&self.answers).clear();
        Writer::open(&self.database, write_lock)?.clear(&roots.keys)?;
        let others =
            self.read(|view, connection| Ok(view.snapshot.of_all_roots(connection)?.files.len()))?;
        if others == 0 {
            VectorStore::remove_all(self.database.folder());
        } else {
            // What other workspaces have in the same storage stays; the next run takes out what is ours.
            self.has_hidden.store(true, Ordering::SeqCst);
        }
        *lock(&self.last_error) = None;
        if let Some(live) = &*lock(&self.live) {
            live.distrust();
        }
        Ok(())
    }

    /// Lets go of the files of vectors.
    fn close_providers(&self) {
        let providers = lock(&self.providers);
        for provider in [&providers.target, &providers.previous].into_iter().flatten() {
            provider.store().close();
        }
    }

    pub(super) fn require_open(&self) -> Result<(), Error> {
        if lock(&self.reader).is_closed() { Err(Error::Closed) } else { Ok(()) }
    }
}
