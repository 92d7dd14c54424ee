//! How does the workspace stand?

use super::live::Live;
use super::types::Status;
use super::{Engine, lock};
use crate::embed::MODEL_ID;
use crate::error::Error;
use crate::store::{Control, VectorStore};

impl Engine {
    /// How the workspace stands. Looks at no file of it.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn status(&self) -> Result<Status, Error> {
        let roots = self.roots();
        let live = lock(&self.live).clone();
        let of_run = lock(&self.progress).clone();
        let progress = of_run.clone().or_else(|| lock(&self.embedding_progress).clone());
        let is_indexing = progress.is_some() || self.database.is_locked();
        let control = roots.controls.state();
        // In the other phase texts are counted.
        let in_run = of_run.as_ref().map_or(0, |p| p.files_total.saturating_sub(p.files_done));
        self.read(|view, _| {
            let snapshot = &view.snapshot;
            let state = match control {
                Control::Stopped => "cleared",
                Control::Paused => "paused",
                Control::Running if is_indexing => "indexing",
                Control::Running if snapshot.incomplete.is_empty() => "ready",
                Control::Running => "empty",
            };
            Ok(Status {
                state,
                roots: roots.keys.clone(),
                files: snapshot.files.len() as u64,
                chunks: snapshot.n_live_chunks(),
                pending_files: in_run.max(live.as_ref().map_or(0, |live| live.n_pending())),
                model: self.model(),
                storage: self.database.folder().to_string_lossy().into_owned(),
                database_bytes: self.database.bytes() + VectorStore::bytes(self.database.folder()),
                watching: live.is_some(),
                degraded: live.as_deref().map(Live::blindness).unwrap_or_default(),
                progress: progress.clone(),
                last_error: lock(&self.last_error).clone(),
            })
        })
    }

    /// The model whose vectors answer.
    fn model(&self) -> String {
        let config = self.config();
        if !config.use_vectors || !config.settings.vector_db.enabled {
            return "none".into();
        }
        let serving = self.serving().provider;
        serving.map_or(MODEL_ID.to_owned(), |provider| provider.embedder().model().id())
    }
}
