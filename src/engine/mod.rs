//! The facade: open / sync / search / status / files / skipped / overview / chunks / watch / pause / resume / clear / close.
//!
//! All calls take `&self` and may come from any thread; they block, so callers on an event loop run them elsewhere.
//! Lines are 1-based and inclusive in everything that leaves here. A damaged database is set aside and rebuilt by the
//! next sync, and the answer says so.

mod answer;
mod answers;
mod cascade;
mod control;
mod embedding;
mod full;
mod live;
mod local;
mod named;
mod overview;
mod provider;
mod question;
mod reader;
mod remote;
mod run;
mod settings;
mod status;
mod storage;
mod turn;
mod types;
mod understand;
mod watch;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rusqlite::Connection;

pub use overview::{RootOverview, SkippedReason};
pub use types::{
    Attempt, ChunkInfo, Degradation, FileChunks, Hit, IndexReport, IndexedFile, OpenOptions,
    Outcome, Parts, SearchRequest, SearchResponse, SkippedPath, Status, Strategy,
};
pub use watch::{WatchEvent, WatchOptions, WatchSink};

use self::answers::Answers;
use self::cascade::{Search, Tries};
use self::embedding::{Background, Providers};
use self::live::Live;
use self::question::Question;
use self::reader::{Reader, View};
use self::run::Wanted;
use self::turn::Turns;
use crate::chunk;
use crate::config::settings::LogLevel;
use crate::config::{Config, EMBEDDING_CACHE_BYTES};
use crate::error::{Error, Fault};
use crate::index::{self, root_key};
use crate::log::Log;
use crate::present::one_based;
use crate::query::Keyword;
use crate::remote::RemoteIndex;
use crate::source::{self, Loaded};
use crate::store::{Controls, Database, EmbeddingCache, Snapshot, StoreError};
use crate::task::{CancelToken, Progress, ProgressSink};
use crate::token::TokenCounter;
use crate::walk::{self, WalkError};

/// One workspace.
pub struct Engine {
    roots: Mutex<Arc<Roots>>,
    config: Mutex<Arc<Config>>,
    database: Database,
    tools: index::Tools,
    reader: Mutex<Reader>,
    turns: Arc<Turns>,
    /// How far the run is that goes on now.
    progress: Mutex<Option<Progress>>,
    /// How far the making of vectors is.
    embedding_progress: Mutex<Option<Progress>>,
    /// One at a time changes the settings.
    configuring: Mutex<()>,
    /// Counts the changes of the provider.
    provider_epoch: Arc<AtomicU64>,
    last_error: Mutex<Option<Degradation>>,
    live: Mutex<Option<Arc<Live>>>,
    parts: Mutex<Parts>,
    log: Log,
    providers: Mutex<Providers>,
    answers: Mutex<Answers>,
    /// One at a time has vectors made.
    embedding_turns: Turns,
    background: Arc<Background>,
    /// Whether a rule has hidden text whose vectors may still be there.
    has_hidden: AtomicBool,
}

/// The folders of a workspace.
struct Roots {
    paths: Vec<PathBuf>,
    /// Their names in the database.
    keys: Vec<String>,
    controls: Controls,
    /// Whether the workspace has other roots by now; what runs for these is then stopped.
    is_left: Arc<AtomicBool>,
}

impl Roots {
    fn real_paths(roots: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
        let mut paths: Vec<PathBuf> = Vec::new();
        for root in roots {
            let real = real_folder(root)?;
            if !paths.contains(&real) {
                paths.push(real);
            }
        }
        if paths.is_empty() {
            return Err(Error::InvalidArgument {
                name: "roots".into(),
                value: "empty".into(),
                expected: "at least one folder".into(),
            });
        }
        Ok(paths)
    }

    fn with_storage(paths: Vec<PathBuf>, storage: &Path) -> Self {
        let keys: Vec<String> = paths.iter().map(|root| root_key(root)).collect();
        let controls = Controls::new(storage, &keys);
        Self { paths, keys, controls, is_left: Arc::default() }
    }

    fn is_left(&self) -> bool {
        self.is_left.load(Ordering::SeqCst)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Engine {
    /// Opens the workspace; creates the storage folder, indexes nothing.
    ///
    /// # Errors
    /// A root that is no readable folder, a storage folder that cannot be used.
    pub fn open(options: OpenOptions) -> Result<Self, Error> {
        let mut config = options.config;
        let paths = Roots::real_paths(&options.roots)?;
        let folder = storage::folder(&paths, options.storage.as_deref(), &mut config.walk)?;
        let database = Database::prepare(&folder, &config.profile())?;
        let cache = config.use_vectors.then(|| {
            storage::embeddings(&paths, options.cache.as_deref(), &mut config.walk)
                .map(|path| EmbeddingCache::open(&path, EMBEDDING_CACHE_BYTES))
        });
        let log = Log::new(options.parts.log.clone(), config.settings.vector_db.log_level);
        let config = Arc::new(config);
        let engine = Self {
            roots: Mutex::new(Arc::new(Roots::with_storage(paths, &folder))),
            config: Mutex::new(Arc::clone(&config)),
            reader: Mutex::default(),
            turns: Arc::default(),
            progress: Mutex::default(),
            embedding_progress: Mutex::default(),
            configuring: Mutex::default(),
            provider_epoch: Arc::default(),
            last_error: Mutex::default(),
            live: Mutex::default(),
            database,
            tools: index::Tools { cache: cache.flatten() },
            parts: Mutex::new(options.parts),
            log,
            providers: Mutex::default(),
            answers: Mutex::default(),
            embedding_turns: Turns::default(),
            background: Arc::default(),
            has_hidden: AtomicBool::new(false),
        };
        let providers = engine.providers(&config, None);
        *lock(&engine.providers) = providers;
        Ok(engine)
    }

    /// The index on a server, if the caller brought one.
    fn remote_index(&self) -> Option<Arc<dyn RemoteIndex>> {
        lock(&self.parts).remote.clone()
    }

    /// The settings now.
    fn config(&self) -> Arc<Config> {
        Arc::clone(&lock(&self.config))
    }

    /// Makes the workspace one of other roots, in the same storage. What runs is cancelled. What was indexed of a root
    /// that leaves stays stored, and is no hit any more; a new one is indexed by the next sync, or at once if the
    /// workspace is watched.
    ///
    /// # Errors
    /// A root that is no readable folder, or that holds the storage folder. Nothing has then changed.
    pub fn set_roots(&self, roots: &[PathBuf]) -> Result<(), Error> {
        let paths = Roots::real_paths(roots)?;
        if let Some(root) = paths.iter().find(|root| self.database.folder().starts_with(root))
            && !storage::is_left_out(self.database.folder(), root, &self.config().walk)
        {
            let (storage, root) = (self.database.folder().to_path_buf(), root.clone());
            return Err(StoreError::InsideRoot { storage, root }.into());
        }
        let roots = Roots::with_storage(paths, self.database.folder());
        let before = std::mem::replace(&mut *lock(&self.roots), Arc::new(roots));
        before.is_left.store(true, Ordering::SeqCst);
        lock(&self.answers).clear();
        if let Some(live) = &*lock(&self.live) {
            // A root inside another changes what belongs to the outer one.
            live.distrust();
            live.wake();
        }
        Ok(())
    }

    fn roots(&self) -> Arc<Roots> {
        Arc::clone(&lock(&self.roots))
    }

    /// Runs `work` on one state of the database from start to end.
    fn read<T>(
        &self,
        work: impl FnOnce(&Arc<View>, &Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.read_of(&self.roots(), work)
    }

    /// As [`Engine::read`], for a run, whose roots may have been left meanwhile.
    fn read_of<T>(
        &self,
        roots: &Roots,
        work: impl FnOnce(&Arc<View>, &Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        lock(&self.reader).read(&self.database, &roots.keys, work)
    }

    /// Answers from the last complete index. Does not sync.
    ///
    /// # Errors
    /// An empty query, an unknown filter, no index yet, a failing store.
    pub fn search(
        &self,
        cancel: &CancelToken,
        request: &SearchRequest,
    ) -> Result<SearchResponse, Error> {
        let started = Instant::now();
        let n_cleared = lock(&self.answers).n_cleared();
        let config = self.config();
        Question::new(request)?;
        let state = self.read(|view, _| {
            view.snapshot.require_complete()?;
            Ok((view.snapshot.identity, view.snapshot.generation))
        })?;
        let keeps = config.settings.vector_db.cache_enabled;
        if let Some(mut known) = keeps.then(|| lock(&self.answers).get(state, request)).flatten() {
            known.took_ms = milliseconds(started);
            return Ok(known);
        }
        let understood = self.understand(cancel, request, &config);
        cancel.check()?;
        let keywords: &[Keyword] = if understood.is_by_model { &understood.keywords } else { &[] };
        let mut question = Question::understood(request, &understood.question, keywords)?;
        if let Some(intent) = understood.intent {
            intent.add_to(&mut question.query.intent);
        }
        let mut tries = Tries::default();
        let search = Search { question: &question, config: &config, only: None };
        let answer = self.decide(cancel, &search, &mut tries)?;
        let (response, may_be_kept) = answer.into_response(&question, &understood, tries, started);
        self.log.say(LogLevel::Debug, || {
            let tried: Vec<String> = response
                .tried
                .iter()
                .map(|tried| {
                    format!("{} {}: {}", tried.strategy, tried.outcome.name(), tried.reason)
                })
                .collect();
            format!("{:?}: {}", response.query, tried.join("; "))
        });
        if keeps && may_be_kept {
            lock(&self.answers).put(state, request, &response, n_cleared);
        }
        Ok(response)
    }

    /// Brings the index up to date as [`Engine::sync`] does, but for an index that was cleared, then [`Engine::search`]. A
    /// database that turns out to be damaged is rebuilt in between; an index that cannot be brought up to date (paused,
    /// disk full, no permission) answers as it is. Either is said in the answer.
    ///
    /// # Errors
    /// Those of both.
    pub fn sync_and_search(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
        request: &SearchRequest,
    ) -> Result<SearchResponse, Error> {
        // A wrong question is known before any work is done.
        Question::new(request)?;
        let roots = self.roots();
        let mut degraded: Vec<Degradation> =
            match self.run(cancel, progress, &roots, Wanted::ForSearch) {
                Ok(report) => {
                    let stage = self.embed_for_search(cancel, progress)?;
                    report.degraded.into_iter().chain(stage.degraded).collect()
                }
                Err(error) if error.fault() == Fault::Environment => {
                    let Ok(mut response) = self.search(cancel, request) else { return Err(error) };
                    let message = format!("answered from an older index: {}", error.chain());
                    response.degraded.insert(0, Degradation { code: error.code(), message });
                    return Ok(response);
                }
                Err(error) => return Err(error),
            };
        let mut response = match self.search(cancel, request) {
            Err(error) if self.recover(cancel, &error)?.is_some() => {
                degraded.extend(self.run(cancel, progress, &roots, Wanted::ForSearch)?.degraded);
                self.search(cancel, request)?
            }
            result => result?,
        };
        response.degraded.splice(0..0, degraded);
        Ok(response)
    }

    /// The indexed files, by root and path.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn files(&self) -> Result<Vec<IndexedFile>, Error> {
        self.read(|view, _| {
            view.snapshot.require_complete()?;
            let snapshot = &view.snapshot;
            Ok(snapshot
                .files
                .iter()
                .map(|file| IndexedFile {
                    root: snapshot.root_path(file.root).to_owned(),
                    path: file.meta.path.clone(),
                    language: file.meta.language,
                    size: file.meta.size,
                    chunks: file.n_chunks,
                })
                .collect())
        })
    }

    /// Everything left out by the last sync.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn skipped(&self) -> Result<Vec<SkippedPath>, Error> {
        self.read(|view, connection| {
            view.snapshot.require_complete()?;
            skipped_paths(&view.snapshot, connection)
        })
    }

    /// Chunks a file as it is on disk now, without touching the index. `path` may be absolute or relative to a root; a
    /// file that may not be indexed is refused.
    ///
    /// # Errors
    /// [`Error::NotIndexed`] with the reason.
    pub fn chunks(&self, path: &str) -> Result<FileChunks, Error> {
        let not_indexed = |reason: String| Error::NotIndexed { path: PathBuf::from(path), reason };
        if lock(&self.reader).is_closed() {
            return Err(Error::Closed);
        }
        let roots = self.roots();
        let (root, relative) = locate(&roots.paths, Path::new(path))
            .ok_or_else(|| not_indexed("there is no such file below a root".into()))?;
        // What may not be indexed is not shown either.
        let walk = walk::walk(&CancelToken::new(), root, &self.config().walk)?;
        if walk.files.binary_search_by(|file| file.path.as_str().cmp(&relative)).is_err() {
            let is_above = |skip: &&walk::Skip| {
                relative
                    .strip_prefix(skip.path.trim_end_matches('/'))
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let reason = walk.skipped.iter().find(is_above).map(|skip| skip.reason.clone());
            return Err(not_indexed(reason.unwrap_or_else(|| "it is left out".into())));
        }
        let file = match source::load(&root.join(&relative), &relative) {
            Loaded::Text(file) => file,
            Loaded::Skipped { reason, .. } => return Err(not_indexed(reason)),
        };
        let counter = TokenCounter::new();
        let chunks = chunk::chunk(&relative, file.language, &file.text, &counter)
            .into_iter()
            .map(|chunk| {
                let (start_line, end_line) = one_based(chunk.lines);
                let text = &file.text[chunk.bytes.as_range()];
                ChunkInfo {
                    start_line,
                    end_line,
                    kind: chunk.kind.name(),
                    name: chunk.name,
                    tokens: counter.count(text) as u32,
                    text: text.to_owned(),
                }
            })
            .collect();
        Ok(FileChunks { path: relative, language: file.language.name(), chunks })
    }

    /// Ends what runs and a watch, releases files and memory; every later call fails with [`Error::Closed`].
    pub fn close(&self) {
        self.roots().is_left.store(true, Ordering::SeqCst);
        self.unwatch();
        lock(&self.reader).close();
        // What the caller brought may hold the workspace itself.
        self.provider_epoch.fetch_add(1, Ordering::SeqCst);
        *lock(&self.providers) = Providers::default();
        *lock(&self.parts) = Parts::default();
        lock(&self.answers).clear();
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.unwatch();
    }
}

/// The innermost root that holds `path`, and the path relative to it.
fn locate<'r>(roots: &'r [PathBuf], path: &Path) -> Option<(&'r Path, String)> {
    roots.iter().find_map(|root| {
        let absolute = root.join(path);
        let real = absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?);
        let holding = roots.iter().filter(|root| real.starts_with(root));
        let root = holding.max_by_key(|root| root.components().count())?;
        let relative = real.strip_prefix(root).ok()?;
        let is_file = real.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_file.then(|| {
            let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
            (root.as_path(), parts.join("/"))
        })
    })
}

/// The real path of a root; that it is a folder.
fn real_folder(path: &Path) -> Result<PathBuf, Error> {
    let missing = || WalkError::Missing { path: path.to_path_buf() };
    let real = path.canonicalize().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => missing(),
        std::io::ErrorKind::NotADirectory => WalkError::NotAFolder { path: path.to_path_buf() },
        _ => WalkError::Unreadable { path: path.to_path_buf(), source: error },
    })?;
    if real.is_dir() { Ok(real) } else { Err(WalkError::NotAFolder { path: real }.into()) }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn skipped_paths(snapshot: &Snapshot, connection: &Connection) -> Result<Vec<SkippedPath>, Error> {
    Ok(snapshot
        .skipped(connection)?
        .iter()
        .map(|row| SkippedPath {
            root: snapshot.root_path(row.root).to_owned(),
            path: row.path.clone(),
            reason: row.reason.clone(),
        })
        .collect())
}
