//! Settings that change while a workspace is open.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::embedding::Providers;
use super::{Engine, lock};
use crate::config::Config;
use crate::error::Error;

impl Engine {
    /// Takes new settings, from the next run and search on. A watch that goes on takes up what they change by itself:
    /// files that other rules make ours or not, vectors of another model.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if the index would have to be made in another way, which is what opening is for.
    pub fn configure(&self, config: &Config) -> Result<(), Error> {
        self.require_open()?;
        // Two who change the settings at once must not leave those of one with the provider of the other.
        let _configuring = lock(&self.configuring);
        let before = self.config();
        let mut config = config.clone();
        // Where storage and caches lie does not change with the settings.
        config.walk.never_enter.clone_from(&before.walk.never_enter);
        if config.profile() != before.profile() {
            return Err(Error::InvalidArgument {
                name: "config".into(),
                value: format!("one for an index of {}", config.profile()),
                expected: format!("one for the open index of {}", before.profile()),
            });
        }
        self.log.set_level(config.settings.vector_db.log_level);
        // A provider that stays the same keeps its connections, and the vectors of the queries that it was asked for.
        let of_provider = |config: &Config| {
            let vectors = &config.settings.vector_db;
            let size = (vectors.max_tokens, vectors.batch_size);
            let embedding = config.settings.embedding.clone();
            (vectors.enabled, vectors.embedding_model, size, embedding)
        };
        let has_other_provider = of_provider(&config) != of_provider(&before);
        let has_other_rules = config.walk != before.walk;
        let config = Arc::new(config);
        *lock(&self.config) = Arc::clone(&config);
        if has_other_provider {
            let now = {
                let providers = lock(&self.providers);
                let (target, previous) = (providers.target.clone(), providers.previous.clone());
                Providers { target, previous, wrong: None }
            };
            // Opens files, for which no search is to wait.
            let next = self.providers(&config, Some(&now));
            let is_same = match (&now.target, &next.target) {
                (Some(now), Some(next)) => Arc::ptr_eq(now, next),
                (None, None) => true,
                _ => false,
            };
            *lock(&self.providers) = next;
            if !is_same {
                self.provider_epoch.fetch_add(1, Ordering::SeqCst);
            }
        }
        lock(&self.answers).clear();
        if let Some(live) = &*lock(&self.live) {
            if has_other_rules {
                live.distrust();
            }
            live.wake();
        }
        Ok(())
    }
}
