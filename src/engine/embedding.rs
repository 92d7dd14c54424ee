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
use crate::store::{Snapshot, VectorKey, VectorStore};
use crate::task::{CancelToken, Phase, ProgressSink};

/// Of so many vectors, one may be of a text that is gone before they are cleared away.
const DEAD_SHARE: u64 = 10;
/// How long what another process embeds may keep hidden text from being forgotten; the next run tries again.
const HIDDEN_PATIENCE: Duration = Duration::from_secs(5);
/// Paths that a notice names.
const NAMED: usize = 3;

/// Texts that are left to be embedded in one state of the index.
#[derive(Default)]
struct Work {
    state: Option<(u128, i64)>,
    wanted: HashSet<VectorKey>,
    /// The file to go on with.
    next: u32,
}

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

impl Stage {
    fn again() -> Self {
        Self { is_to_be_retried: true, ..Self::default() }
    }

    /// It could not be begun, or what was made could not be kept.
    pub fn failed(error: &Error) -> Self {
        let degraded = vec![Degradation { code: error.code(), message: error.chain() }];
        Self { degraded, ..Self::again() }
    }
}

impl Engine {
    /// The providers for `config`; `before` are those until now.
    pub(super) fn providers(&self, config: &Config, before: Option<&Providers>) -> Providers {
        let folder = self.database.folder();
        let named = match &lock(&self.parts).embedder {
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
        let target_id = target.as_ref().map(|target| target.embedder().model().id());
        let is_other = |provider: &Arc<Provider>| {
            target_id.as_ref() != Some(&provider.embedder().model().id())
        };
        let of_before = before.and_then(|before| {
            let candidates = [&before.target, &before.previous];
            let mut others = candidates.into_iter().flatten().filter(|provider| is_other(provider));
            others.find(|provider| serves(provider)).cloned()
        });
        // After a restart: a model of the same server, which may be asked with the same key.
        let of_store = || {
            let target = target.as_ref()?.embedder().model().clone();
            let models = VectorStore::complete_models(folder);
            let found = models.iter().filter(|model| **model != target.id());
            let embedder = found.filter_map(|id| named::other_model(config, &target, id)).next()?;
            Some(Arc::new(Provider::new(embedder, folder)))
        };
        // Who goes back to the embedded model is done with the provider: it may not be there any more.
        let previous = target.as_ref().and_then(|_| of_before.or_else(of_store));
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
        let why = target.trouble().map_or(String::new(), |trouble| format!(" ({trouble})"));
        let message = format!(
            "the vectors of {} are not complete yet{why}; those of {answers} answer",
            target.embedder().model().id()
        );
        let notice = Some(Degradation { code: "EMBEDDINGS_INCOMPLETE", message });
        Serving { provider: previous, notice }
    }

    /// Has vectors made of all texts that have none, until done, stopped or failed. `again`: also of those that the
    /// provider has refused before.
    ///
    /// # Errors
    /// [`Error::Store`]. What the provider fails with is part of the result.
    pub(super) fn embed_missing(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        roots: &Roots,
        again: bool,
    ) -> Result<Stage, Error> {
        let (target, epoch) = {
            let providers = lock(&self.providers);
            (providers.target.clone(), self.provider_epoch.load(Ordering::SeqCst))
        };
        let Some(provider) = target else { return Ok(Stage::default()) };
        // Other settings may name another provider; this one is then not to be paid any more.
        let epochs = Arc::clone(&self.provider_epoch);
        let cancel =
            &roots.until_stopped(cancel).or_when(move || epochs.load(Ordering::SeqCst) != epoch);
        if cancel.is_cancelled() {
            return Ok(Stage::again());
        }
        let config = self.config();
        if let Some(stage) = self.too_large(&provider, &config, roots)? {
            return Ok(stage);
        }
        let is_done = self.read_of(roots, |view, _| provider.is_known_complete(view))?;
        if is_done && !self.has_hidden.load(Ordering::SeqCst) && !again {
            return Ok(Stage::default());
        }
        let Some(_turn) = self.embedding_turns.wait(cancel) else { return Ok(Stage::again()) };
        let Some(_lock) = VectorStore::lock(self.database.folder())? else {
            return self.made_elsewhere(&provider, roots);
        };
        let progress = &self.kept_embedding(progress);
        let cache = self.tools.cache.as_ref().filter(|_| config.settings.vector_db.cache_enabled);
        let mut stage = Stage::default();
        let mut refused: Vec<(VectorKey, String, String)> = Vec::new();
        let mut skipped = if again { HashSet::new() } else { provider.store().refused()? };
        let mut work = Work::default();
        let mut meter: Option<Meter<'_>> = None;
        let mut failure = None;
        while failure.is_none() {
            if cancel.is_cancelled() {
                failure = Some(ProviderError::Cancelled);
                break;
            }
            let texts = self.next_texts(&provider, roots, &skipped, &mut work)?;
            if texts.is_empty() {
                break;
            }
            let n_missing = (texts.len() + work.wanted.len()) as u64;
            let meter =
                meter.get_or_insert_with(|| Meter::start(progress, Phase::Embed, n_missing));
            let (embedder, store) = (provider.embedder(), provider.store());
            let done = provided::embed(cancel, meter, &texts, embedder, store, cache)?;
            stage.made += done.made;
            stage.reused += done.reused;
            let n_done = done.made + done.reused + done.refused.len() as u64;
            skipped.extend(done.refused.iter().map(|(key, ..)| *key));
            refused.extend(done.refused);
            failure = done.failure;
            if failure.is_none() && n_done < texts.len() as u64 {
                // A provider that says nothing of some texts would be asked for them for ever.
                let reason = "it answered only some of the texts that it was asked for".to_owned();
                let model = embedder.model().name.clone();
                let address = embedder.model().address.clone();
                failure = Some(ProviderError::BadAnswer { address, model, reason });
            }
        }
        if let Some(meter) = &meter {
            meter.finish();
        }
        let left = self.read_of(roots, |view, connection| {
            let keys = provider.keys(view, connection)?;
            let columns = view.snapshot.columns(connection)?;
            let store = provider.store();
            Ok(provided::missing_keys(&view.snapshot, columns, &keys, store, &skipped)?)
        })?;
        stage.n_missing = left.len() as u64;
        let known: HashSet<VectorKey> = refused.iter().map(|(key, ..)| *key).collect();
        if again && failure.is_none() {
            provider.store().set_refused(&known)?;
        } else if !known.is_empty() {
            provider.store().set_refused(&skipped)?;
        }
        // What was stopped, or is not the one that is wanted any more, says nothing about what is complete.
        if failure.is_none() && (cancel.is_cancelled() || roots.is_left()) {
            failure = Some(ProviderError::Cancelled);
        }
        self.conclude(&provider, roots, &mut stage, &refused, failure)?;
        Ok(stage)
    }

    /// The next texts to be embedded. As long as the index stays as it is, `work` knows which are left.
    fn next_texts(
        &self,
        provider: &Provider,
        roots: &Roots,
        skipped: &HashSet<VectorKey>,
        work: &mut Work,
    ) -> Result<Vec<provided::MissingText>, Error> {
        self.read_of(roots, |view, connection| {
            view.snapshot.require_complete()?;
            let state = (view.snapshot.identity, view.snapshot.generation);
            let keys = provider.keys(view, connection)?;
            let columns = view.snapshot.columns(connection)?;
            if work.state != Some(state) {
                let store = provider.store();
                let wanted =
                    provided::missing_keys(&view.snapshot, columns, &keys, store, skipped)?;
                *work = Work { state: Some(state), wanted, next: 0 };
            }
            let at = (&view.snapshot, connection);
            Ok(provided::take_texts(at, columns, &keys, &mut work.wanted, &mut work.next)?)
        })
    }

    /// What a run is to say whose vectors another one makes: how many are missing, and that somebody sees to it.
    fn made_elsewhere(&self, provider: &Provider, roots: &Roots) -> Result<Stage, Error> {
        let n_missing = self.read_of(roots, |view, connection| {
            let keys = provider.keys(view, connection)?;
            let columns = view.snapshot.columns(connection)?;
            let store = provider.store();
            let but = store.refused()?;
            Ok(provided::missing_keys(&view.snapshot, columns, &keys, store, &but)?.len() as u64)
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
        roots: &Roots,
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
                provider.note_trouble(Some(&error.to_string()));
                let message = format!("{error}; {} texts have no vector yet", stage.n_missing);
                self.log.say(LogLevel::Warn, || message.clone());
                let degradation = Degradation { code: error.code(), message };
                *lock(&self.last_error) = Some(degradation.clone());
                stage.degraded.push(degradation);
                stage.is_to_be_retried = true;
            }
            None if stage.n_missing == 0 => {
                provider.note_trouble(None);
                let mut last_error = lock(&self.last_error);
                if last_error.as_ref().is_some_and(|last| last.code.starts_with("PROVIDER_")) {
                    *last_error = None;
                }
                drop(last_error);
                let n_texts = self.read_of(roots, |view, _| {
                    provider.note_complete(view)?;
                    Ok(view.snapshot.n_live_chunks())
                })?;
                // A workspace without text says nothing: it may be a disk that is not there.
                if n_texts > 0 && !provider.store().is_complete()? {
                    provider.store().set_complete()?;
                    self.replaced_by(provider);
                    self.log.say(LogLevel::Info, || format!("the vectors of {model} are complete"));
                }
                provider.store().remove_old(self.database.folder());
                self.clear_dead_vectors(provider.store())?;
            }
            None => {
                provider.note_trouble(None);
                stage.is_to_be_retried = true;
            }
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

    /// The vectors of `provider` serve from now on: those before it are not needed any more.
    fn replaced_by(&self, provider: &Arc<Provider>) {
        let mut providers = lock(&self.providers);
        let is_target =
            providers.target.as_ref().is_some_and(|target| Arc::ptr_eq(target, provider));
        if let Some(before) = providers.previous.take_if(|_| is_target) {
            before.store().remove();
        }
    }

    /// Forgets the vectors of text that a rule has hidden, of all models, before any provider is asked.
    pub(super) fn clear_hidden_vectors(&self, cancel: &CancelToken) -> Result<(), Error> {
        let folder = self.database.folder();
        let models = VectorStore::models(folder);
        if models.is_empty() {
            self.has_hidden.store(false, Ordering::SeqCst);
            return Ok(());
        }
        let Some(_turn) = self.embedding_turns.wait(cancel) else { return Ok(()) };
        let Some(_lock) = VectorStore::wait_lock(folder, cancel, HIDDEN_PATIENCE)? else {
            return Ok(());
        };
        for model in models {
            self.clear_dead_vectors(&VectorStore::new(folder, &model))?;
        }
        self.has_hidden.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Forgets vectors of texts that are gone: at once if a rule has hidden any, else when there are many. What roots of
    /// other workspaces in the same storage need stays.
    fn clear_dead_vectors(&self, store: &VectorStore) -> Result<(), Error> {
        let n = store.n_vectors()?;
        let (live, segments) = self.read(|view, connection| {
            let all = view.snapshot.of_all_roots(connection)?;
            let columns = all.columns(connection)?;
            let mut live = HashSet::new();
            for (at, _) in all.segments.iter().enumerate() {
                let keys = provided::segment_keys(&all, connection, columns, at, store)?;
                let files = all.file_of_ordinal[at].iter().filter(|file| **file != Snapshot::DEAD);
                for &file in files {
                    let vectors = all.vectors_of(columns, &all.files[file as usize]);
                    live.extend(vectors.map(|vector| keys[vector as usize]));
                }
            }
            live.remove(&0);
            let segments: Vec<_> = all.segments.iter().map(|segment| segment.id).collect();
            Ok((live.into_iter().collect::<Vec<_>>(), segments))
        })?;
        let n_live = live.len() as u64;
        let has_hidden = self.has_hidden.load(Ordering::SeqCst);
        let are_many = n > n_live && n - n_live > n / DEAD_SHARE;
        if n > 0 && n_live > 0 && (has_hidden || are_many) {
            store.retain(&live, &segments)?;
        }
        Ok(())
    }

    /// Whether somebody would pay for more files than was allowed.
    fn too_large(
        &self,
        provider: &Provider,
        config: &Config,
        roots: &Roots,
    ) -> Result<Option<Stage>, Error> {
        let embedding = &config.settings.embedding;
        let most =
            if embedding.allow_large { embedding.max_files_allowed } else { embedding.max_files };
        if !provider.embedder().is_metered() {
            return Ok(None);
        }
        let n_files = self.read_of(roots, |view, _| Ok(view.snapshot.files.len()))?;
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
        provider.note_trouble(Some(&message));
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
        let stage = self.embed_missing(&until, progress, &self.roots(), false)?;
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

/// Held by the thread that has vectors made.
struct Running(Arc<Background>);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.is_running.store(false, Ordering::SeqCst);
        }
    }
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
            // Also when an embedder panics: the next run begins anew.
            let _running = Running(Arc::clone(&this));
            let mut retry = FIRST_RETRY;
            loop {
                while this.is_wanted.swap(false, Ordering::SeqCst) && !cancel.is_cancelled() {
                    let Some(engine) = engine.upgrade() else { break };
                    let roots = engine.roots();
                    let stage = engine.embed_missing(&cancel, progress.as_ref(), &roots, false);
                    drop(engine);
                    let stage = stage.unwrap_or_else(|error| Stage::failed(&error));
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
