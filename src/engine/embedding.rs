//! Vectors of a provider: which of them serve, and how those that are missing are made.
//!
//! The embedded model's vectors are part of the index and always there. A provider's serve once every text has had one;
//! until then those of the provider before it do, while that can be asked, and else the embedded model's. So models never
//! mix, and a change of model never leaves a workspace without search by meaning.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::named;
use super::provider::Provider;
use super::types::{Degradation, IndexReport};
use super::{Engine, Roots, lock};
use crate::config::Config;
use crate::config::settings::LogLevel;
use crate::embed::provider::ProviderError;
use crate::error::Error;
use crate::index::{Meter, provided};
use crate::store::{VectorKey, VectorStore, WriteLock};
use crate::task::{CancelToken, Phase, ProgressSink};

/// Of so many vectors, one may be of a text that is gone before they are cleared away.
const DEAD_SHARE: u64 = 10;
/// How long, and how often, to look whether somebody else still has vectors made.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);
const LOCK_INTERVAL: Duration = Duration::from_millis(10);
/// Paths that a notice names.
const NAMED: usize = 3;

/// The providers of a workspace.
#[derive(Default)]
pub(super) struct Providers {
    /// The one that the settings name.
    pub target: Option<Arc<Provider>>,
    /// The one before, while its vectors serve.
    pub previous: Option<Arc<Provider>>,
    /// Why the settings name none that works.
    pub wrong: Option<ProviderError>,
}

/// The provider whose vectors serve; none for the embedded model.
pub(super) struct Serving {
    /// Who it is.
    pub provider: Option<Arc<Provider>>,
    /// What a person should know of it.
    pub notice: Option<Degradation>,
}

/// What came of having vectors made.
#[derive(Default, Debug)]
pub(super) struct Stage {
    /// Texts that the provider made vectors of.
    pub made: u64,
    /// Texts whose vectors were known.
    pub reused: u64,
    /// Texts without.
    pub n_missing: u64,
    /// What a person should know.
    pub degraded: Vec<Degradation>,
    /// Whether it is worth another try.
    pub is_to_be_retried: bool,
}

impl Engine {
    /// The providers for `config`; `before` are those until now.
    pub(super) fn providers(&self, config: &Config, before: Option<&Providers>) -> Providers {
        let folder = self.database.folder();
        let named = match &self.parts.embedder {
            Some(embedder) => Ok(Some(Arc::clone(embedder))),
            None => named::embedder(config),
        };
        let (target, wrong) = match named {
            Ok(embedder) => (embedder.filter(|_| config.settings.vector_db.enabled), None),
            Err(error) => (None, Some(error)),
        };
        let target = target.map(|embedder| {
            let known = before.and_then(|before| before.target.clone());
            known
                .filter(|known| known.is_of(&embedder))
                .unwrap_or_else(|| Arc::new(Provider::new(embedder, folder)))
        });
        let serves = |provider: &Arc<Provider>| provider.store().is_complete().unwrap_or(false);
        let of_before = before.and_then(|before| {
            let candidates = [&before.target, &before.previous];
            candidates.into_iter().flatten().find(|provider| serves(provider)).cloned()
        });
        // After a restart: a model of the same server, which may be asked with the same key.
        let of_store = || {
            let target = target.as_ref()?.embedder().model().clone();
            let models = VectorStore::complete_models(folder);
            let found = models.iter().filter(|model| **model != target.id());
            let embedder = found.filter_map(|id| named::other_model(config, &target, id)).next()?;
            Some(Arc::new(Provider::new(embedder, folder)))
        };
        let previous = of_before.or_else(of_store);
        Providers { target, previous, wrong }
    }

    pub(super) fn serving(&self) -> Serving {
        let providers = lock(&self.providers);
        if let Some(error) = &providers.wrong {
            let message = format!("{error}; the embedded model answers");
            return Serving {
                provider: None,
                notice: Some(Degradation { code: error.code(), message }),
            };
        }
        let Some(target) = providers.target.clone() else {
            return Serving { provider: None, notice: None };
        };
        let is_complete = |provider: &Provider| provider.store().is_complete().unwrap_or(false);
        if is_complete(&target) {
            return Serving { provider: Some(target), notice: None };
        }
        let previous = providers.previous.clone().filter(|previous| is_complete(previous));
        let answers = previous
            .as_ref()
            .map_or("the embedded model".to_owned(), |previous| previous.embedder().model().id());
        let message = format!(
            "the vectors of {} are not complete yet; those of {answers} answer",
            target.embedder().model().id()
        );
        let notice = Some(Degradation { code: "EMBEDDINGS_INCOMPLETE", message });
        Serving { provider: previous, notice }
    }

    /// Has vectors made of all texts that have none, until done, stopped or failed.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::Cancelled`] through the roots. What the provider fails with is part of the result.
    pub(super) fn embed_missing(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
    ) -> Result<Stage, Error> {
        let target = lock(&self.providers).target.clone();
        let Some(provider) = target else { return Ok(Stage::default()) };
        let cancel = &roots.until_stopped(cancel);
        if cancel.is_cancelled() {
            return Ok(Stage { is_to_be_retried: true, ..Stage::default() });
        }
        let config = self.config();
        if let Some(stage) = self.too_large(&provider, &config)? {
            return Ok(stage);
        }
        let Some(_turn) = self.embedding_turns.wait(cancel) else {
            return Ok(Stage { is_to_be_retried: true, ..Stage::default() });
        };
        let Some(_lock) = self.embedding_lock(cancel)? else {
            return self.made_elsewhere(&provider);
        };
        let progress = &self.kept(progress);
        let mut stage = Stage::default();
        let mut refused: Vec<(VectorKey, String, String)> = Vec::new();
        let mut skipped: HashSet<VectorKey> = HashSet::new();
        let mut meter: Option<Meter<'_>> = None;
        let cache = self.tools.cache.as_ref().filter(|_| config.settings.vector_db.cache_enabled);
        let mut failure = None;
        loop {
            if cancel.is_cancelled() {
                failure = Some(ProviderError::Cancelled);
            }
            let (texts, n_missing) = self.read(|view, connection| {
                let keys = provider.keys(view, connection)?;
                let columns = view.snapshot.columns(connection)?;
                let at = (&view.snapshot, connection);
                let missing =
                    provided::missing_texts(at, columns, &keys, provider.store(), &skipped);
                Ok(missing?)
            })?;
            stage.n_missing = n_missing;
            if texts.is_empty() || failure.is_some() {
                break;
            }
            let meter =
                meter.get_or_insert_with(|| Meter::start(progress, Phase::Embed, n_missing));
            let done = provided::embed(
                cancel,
                meter,
                &texts,
                provider.embedder(),
                provider.store(),
                cache,
            )?;
            stage.made += done.made;
            stage.reused += done.reused;
            let n_refused = done.refused.len();
            skipped.extend(done.refused.iter().map(|(key, ..)| *key));
            refused.extend(done.refused);
            failure = done.failure;
            let is_idle = done.made + done.reused == 0 && n_refused == 0;
            if failure.is_none() && is_idle {
                // A provider that answers nothing and says nothing would be asked for ever.
                break;
            }
        }
        if let Some(meter) = &meter {
            meter.finish();
        }
        self.conclude(&provider, &mut stage, &refused, failure)?;
        Ok(stage)
    }

    /// The right to have vectors made, if nobody else has it. A program that is just being started holds what we let go of
    /// a moment ago, so one look is not enough.
    fn embedding_lock(&self, cancel: &CancelToken) -> Result<Option<WriteLock>, Error> {
        let due = Instant::now() + LOCK_PATIENCE;
        loop {
            let lock = VectorStore::lock(self.database.folder())?;
            if lock.is_some() || cancel.is_cancelled() || Instant::now() >= due {
                return Ok(lock);
            }
            std::thread::park_timeout(LOCK_INTERVAL);
        }
    }

    /// What a run is to say whose vectors another one makes: how many are missing, and that somebody sees to it.
    fn made_elsewhere(&self, provider: &Provider) -> Result<Stage, Error> {
        let (_, n_missing) = self.read(|view, connection| {
            let keys = provider.keys(view, connection)?;
            let columns = view.snapshot.columns(connection)?;
            let at = (&view.snapshot, connection);
            let but = HashSet::new();
            Ok(provided::missing_texts(at, columns, &keys, provider.store(), &but)?)
        })?;
        let message = format!(
            "{n_missing} texts have no vector yet; whoever else has this index open has them made"
        );
        let degraded = match n_missing {
            0 => Vec::new(),
            _ => vec![Degradation { code: "EMBEDDINGS_INCOMPLETE", message }],
        };
        Ok(Stage { n_missing, degraded, is_to_be_retried: true, ..Stage::default() })
    }

    /// What was reached: complete, or why not.
    fn conclude(
        &self,
        provider: &Arc<Provider>,
        stage: &mut Stage,
        refused: &[(VectorKey, String, String)],
        failure: Option<ProviderError>,
    ) -> Result<(), Error> {
        let model = provider.embedder().model().id();
        if !refused.is_empty() {
            let shown: Vec<String> = refused
                .iter()
                .take(NAMED)
                .map(|(_, path, reason)| format!("{path} ({reason})"))
                .collect();
            let more = if refused.len() > NAMED { ", …" } else { "" };
            let n = refused.len();
            let message = format!(
                "{model} refuses {n} texts, which are found by words alone: {}{more}",
                shown.join(", ")
            );
            stage.degraded.push(Degradation { code: "TEXTS_REFUSED", message });
        }
        match failure {
            Some(ProviderError::Cancelled) => stage.is_to_be_retried = true,
            Some(error) => {
                let message = format!("{error}; {} texts have no vector yet", stage.n_missing);
                self.log.say(LogLevel::Warn, || message.clone());
                let degradation = Degradation { code: error.code(), message };
                *lock(&self.last_error) = Some(degradation.clone());
                stage.degraded.push(degradation);
                stage.is_to_be_retried = true;
            }
            None if stage.n_missing == 0 => {
                let mut last_error = lock(&self.last_error);
                if last_error.as_ref().is_some_and(|last| last.code.starts_with("PROVIDER_")) {
                    *last_error = None;
                }
                drop(last_error);
                let was_complete = provider.store().is_complete()?;
                if !was_complete {
                    provider.store().set_complete()?;
                    provider.store().remove_others(self.database.folder());
                    lock(&self.providers).previous = None;
                    self.log.say(LogLevel::Info, || format!("the vectors of {model} are complete"));
                }
                self.clear_dead_vectors(provider)?;
            }
            None => stage.is_to_be_retried = true,
        }
        let (made, reused) = (stage.made, stage.reused);
        if made + reused > 0 {
            lock(&self.answers).clear();
            self.log.say(LogLevel::Info, || {
                format!("{model}: {made} texts embedded, {reused} known from before")
            });
        }
        Ok(())
    }

    /// Forgets vectors of texts that are gone: at once if a rule has hidden any, else when there are many.
    fn clear_dead_vectors(&self, provider: &Provider) -> Result<(), Error> {
        let (live, segments) = self.read(|view, connection| {
            let keys = provider.keys(view, connection)?;
            let columns = view.snapshot.columns(connection)?;
            let mut live = HashSet::new();
            for file in &view.snapshot.files {
                let of_segment = &keys[file.segment as usize];
                live.extend(
                    view.snapshot.vectors_of(columns, file).map(|v| of_segment[v as usize]),
                );
            }
            live.remove(&0);
            let segments: Vec<_> = view.snapshot.segments.iter().map(|s| s.id).collect();
            Ok((live.into_iter().collect::<Vec<_>>(), segments))
        })?;
        let n = provider.store().n_vectors()?;
        let n_live = live.len() as u64;
        let was_hidden = self.has_hidden.swap(false, Ordering::SeqCst);
        if n > n_live && (was_hidden || n - n_live > n / DEAD_SHARE) {
            provider.store().retain(&live, &segments)?;
        }
        Ok(())
    }

    /// Whether somebody would pay for more files than was allowed.
    fn too_large(&self, provider: &Provider, config: &Config) -> Result<Option<Stage>, Error> {
        let embedding = &config.settings.embedding;
        let most =
            if embedding.allow_large { embedding.max_files_allowed } else { embedding.max_files };
        if !provider.embedder().is_metered() {
            return Ok(None);
        }
        let n_files = self.read(|view, _| Ok(view.snapshot.files.len()))?;
        if n_files <= most {
            return Ok(None);
        }
        let how = if embedding.allow_large {
            "raise embedding.maxFilesAllowed"
        } else {
            "set embedding.allowLarge"
        };
        let message = format!(
            "{n_files} files are more than the {most} that {} embeds unasked; {how} to have it done",
            provider.embedder().model().id()
        );
        let degraded = vec![Degradation { code: "EMBEDDINGS_LIMIT", message }];
        Ok(Some(Stage { degraded, ..Stage::default() }))
    }

    /// As [`Engine::embed_missing`], at most for as long as a search waits for vectors.
    pub(super) fn embed_for_search(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
    ) -> Result<Stage, Error> {
        let config = self.config();
        if lock(&self.live).is_some() && config.settings.vector_db.enable_background_processing {
            // The watch sees to it, for as long as it takes.
            return Ok(Stage::default());
        }
        let due = Instant::now() + config.settings.cascade.embeddings_wait;
        let until = cancel.or_when(move || Instant::now() >= due);
        let stage = self.embed_missing(&until, progress, &self.roots())?;
        cancel.check()?;
        Ok(stage)
    }
}

/// Vectors that are made beside a watch.
#[derive(Default)]
pub(super) struct Background {
    is_running: AtomicBool,
    is_wanted: AtomicBool,
}

/// After a failure the next try waits so long, then twice as long, up to the longest.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(120);

impl Background {
    /// Has missing vectors made on a thread of their own, unless one does so already; that one then looks again. `tell` is
    /// called with what came of each round that did something or failed.
    pub(super) fn want(
        self: &Arc<Self>,
        engine: &Arc<Engine>,
        cancel: &CancelToken,
        progress: Arc<dyn ProgressSink + Send>,
        tell: impl Fn(Stage) + Send + 'static,
    ) -> Option<std::thread::JoinHandle<()>> {
        self.is_wanted.store(true, Ordering::SeqCst);
        if self.is_running.swap(true, Ordering::SeqCst) {
            return None;
        }
        let (this, engine, cancel) = (Arc::clone(self), Arc::downgrade(engine), cancel.clone());
        let work = move || {
            let mut retry = FIRST_RETRY;
            loop {
                while this.is_wanted.swap(false, Ordering::SeqCst) && !cancel.is_cancelled() {
                    let Some(engine) = engine.upgrade() else { break };
                    let stage = engine.embed_missing(&cancel, progress.as_ref(), &engine.roots());
                    drop(engine);
                    let stage = stage.unwrap_or_else(|error| {
                        let message = error.chain();
                        let degraded = vec![Degradation { code: error.code(), message }];
                        Stage { degraded, is_to_be_retried: true, ..Stage::default() }
                    });
                    let is_to_be_retried = stage.is_to_be_retried;
                    if stage.made + stage.reused > 0 || !stage.degraded.is_empty() {
                        tell(stage);
                    }
                    if is_to_be_retried {
                        let due = Instant::now() + retry;
                        retry = (retry * 2).min(LONGEST_RETRY);
                        while Instant::now() < due
                            && !cancel.is_cancelled()
                            && !this.is_wanted.load(Ordering::SeqCst)
                        {
                            std::thread::park_timeout(Duration::from_millis(50));
                        }
                        this.is_wanted.store(true, Ordering::SeqCst);
                    } else {
                        retry = FIRST_RETRY;
                    }
                }
                this.is_running.store(false, Ordering::SeqCst);
                // What was wanted between the last look and now is taken up by whoever comes first.
                let is_left = this.is_wanted.load(Ordering::SeqCst) && !cancel.is_cancelled();
                if !is_left || this.is_running.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("sextant-embed".into()).spawn(work);
        if thread.is_err() {
            self.is_running.store(false, Ordering::SeqCst);
        }
        thread.ok()
    }
}

/// Adds what a stage came to.
pub(super) fn into_report(stage: Stage, report: &mut IndexReport) {
    report.texts_embedded += stage.made;
    report.texts_reused += stage.reused;
    report.texts_pending = stage.n_missing;
    report.degraded.extend(stage.degraded);
}
