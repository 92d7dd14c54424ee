//! The facade: open / sync / search / status / files / skipped / chunks / clear / close.
//!
//! All calls take `&self` and may come from any thread; they block, so callers on an event loop run them elsewhere.
//! Lines are 1-based and inclusive in everything that leaves here. A damaged database is set aside and rebuilt by the
//! next sync, and the answer says so.

mod search;
mod storage;
mod types;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use rusqlite::Connection;

pub use types::{
    ChunkInfo, Degradation, FileChunks, Hit, IndexReport, IndexedFile, OpenOptions, SearchRequest,
    SearchResponse, SkippedPath, Status, Strategy,
};

use crate::chunk;
use crate::config::Config;
use crate::embed::MODEL_ID;
use crate::error::{Error, Fault};
use crate::index::{self, root_key};
use crate::present::one_based;
use crate::source::{self, Loaded};
use crate::store::{Database, DatabaseIdentity, Snapshot, StoreError};
use crate::strategy::semantic::Statistics;
use crate::task::{CancelToken, ProgressSink};
use crate::token::TokenCounter;
use crate::walk::{self, WalkError};

/// One workspace.
pub struct Engine {
    roots: Vec<PathBuf>,
    keys: Vec<String>,
    config: Config,
    database: Database,
    reader: Mutex<Option<Reader>>,
    last_error: Mutex<Option<Degradation>>,
}

/// A connection, and what was derived from the state it read last.
struct Reader {
    connection: Connection,
    /// Which file it reads: another process may put a new database in its place.
    identity: Option<DatabaseIdentity>,
    view: Option<Arc<View>>,
}

impl Reader {
    fn open(database: &Database) -> Result<Self, Error> {
        let connection = database.connect()?;
        Ok(Self { connection, identity: database.identity(), view: None })
    }
}

/// A snapshot and what is computed from it.
struct View {
    snapshot: Snapshot,
    statistics: OnceLock<Statistics>,
}

impl View {
    fn statistics(&self, connection: &Connection, config: &Config) -> Result<&Statistics, Error> {
        if let Some(statistics) = self.statistics.get() {
            return Ok(statistics);
        }
        let statistics = Statistics::new(&self.snapshot, connection, &config.ranking)?;
        Ok(self.statistics.get_or_init(|| statistics))
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
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in &options.roots {
            let real = real_folder(root)?;
            if !roots.contains(&real) {
                roots.push(real);
            }
        }
        if roots.is_empty() {
            return Err(Error::InvalidArgument {
                name: "roots",
                value: "empty".into(),
                expected: "at least one folder".into(),
            });
        }
        let folder = storage::folder(&roots, options.storage.as_deref(), &mut config.walk)?;
        let database = Database::prepare(&folder, &config.profile())?;
        Ok(Self {
            keys: roots.iter().map(|root| root_key(root)).collect(),
            roots,
            config,
            reader: Mutex::new(Some(Reader::open(&database)?)),
            database,
            last_error: Mutex::default(),
        })
    }

    /// Brings the index up to date with the files.
    ///
    /// # Errors
    /// [`Error::Cancelled`], [`Error::Walk`], [`Error::Store`]; the last complete index is then unchanged.
    pub fn sync(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
    ) -> Result<IndexReport, Error> {
        let result = self.sync_once(cancel, progress).or_else(|error| {
            self.recover(cancel, &error)?.ok_or(error)?;
            self.sync_once(cancel, progress)
        });
        *lock(&self.last_error) = result
            .as_ref()
            .err()
            .map(|error| Degradation { code: error.code(), message: error.to_string() });
        result
    }

    fn sync_once(
        &self,
        cancel: &CancelToken,
        progress: &dyn ProgressSink,
    ) -> Result<IndexReport, Error> {
        let started = Instant::now();
        if self.database.identity().is_none() {
            // Somebody removed it. What is open can still be read, but not be brought up to date.
            Database::prepare(self.database.folder(), self.database.profile())?;
        }
        let (view, skipped) = self
            .read(|view, connection| Ok((Arc::clone(view), view.snapshot.skipped(connection)?)))?;
        let done = index::sync(
            cancel,
            progress,
            &self.database,
            (&view.snapshot, &skipped),
            &self.roots,
            &self.config,
        )?;
        drop(view);
        self.read(|view, connection| {
            let notice = done.notice.clone();
            let mut degraded: Vec<Degradation> =
                notice.map(|(code, message)| Degradation { code, message }).into_iter().collect();
            degraded.extend(truncated(&view.snapshot));
            Ok(IndexReport {
                roots: self.keys.clone(),
                files: view.snapshot.files.len() as u64,
                chunks: view.snapshot.n_live_chunks(),
                added: done.added,
                changed: done.changed,
                removed: done.removed,
                unchanged: done.unchanged,
                skipped: skipped_paths(&view.snapshot, connection)?,
                took_ms: milliseconds(started),
                degraded,
            })
        })
    }

    /// If `error` says that the database is damaged: sets it aside and makes a new one. `Ok(None)` for other errors.
    fn recover(&self, cancel: &CancelToken, error: &Error) -> Result<Option<()>, Error> {
        let Error::Store(StoreError::Damaged { detail, .. }) = error else { return Ok(None) };
        let mut reader = lock(&self.reader);
        let _write_lock = self.database.lock(cancel, index::PATIENCE)?.ok_or(Error::Cancelled)?;
        // The connection must not outlive the file that it reads.
        let seen = reader.take().and_then(|reader| reader.identity);
        if seen == self.database.identity() {
            self.database.set_aside(detail)?;
        } else {
            // Somebody else has put a new one there meanwhile.
            self.database.replace()?;
        }
        *reader = Some(Reader::open(&self.database)?);
        Ok(Some(()))
    }

    /// Runs `work` on one state of the database from start to end.
    fn read<T>(
        &self,
        work: impl FnOnce(&Arc<View>, &Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut guard = lock(&self.reader);
        let reader = guard.as_mut().ok_or(Error::Closed)?;
        let identity = self.database.identity();
        if identity.is_some() && identity != reader.identity {
            *reader = Reader::open(&self.database)?;
        }
        let transaction = self.database.begin_read(&reader.connection)?;
        let is_current = match &reader.view {
            Some(view) => view.snapshot.is_current(&reader.connection)?,
            None => false,
        };
        let view = match &reader.view {
            Some(view) if is_current => Arc::clone(view),
            before => {
                let before = before.as_ref().map(|view| &view.snapshot);
                let snapshot =
                    Snapshot::load(&self.database, &reader.connection, &self.keys, before)?;
                Arc::new(View { snapshot, statistics: OnceLock::new() })
            }
        };
        let result = work(&view, &reader.connection);
        drop(transaction);
        reader.view = Some(view);
        result
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
        let prepared = search::Prepared::new(request, &self.config)?;
        let started = Instant::now();
        let mut response = self.read(|view, connection| {
            view.snapshot.require_complete()?;
            let statistics = view.statistics(connection, &self.config)?;
            prepared.answer(cancel, (&view.snapshot, connection), statistics, &self.config.ranking)
        })?;
        response.took_ms = milliseconds(started);
        Ok(response)
    }

    /// [`Engine::sync`], then [`Engine::search`]. A database that turns out to be damaged is rebuilt in between; an index
    /// that cannot be brought up to date (disk full, no permission) answers as it is. Either is said in the answer.
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
        search::Prepared::new(request, &self.config)?;
        let mut degraded = match self.sync(cancel, progress) {
            Ok(report) => report.degraded,
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
                degraded.extend(self.sync(cancel, progress)?.degraded);
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
        if lock(&self.reader).is_none() {
            return Err(Error::Closed);
        }
        let (root, relative) = self
            .locate(Path::new(path))
            .ok_or_else(|| not_indexed("there is no such file below a root".into()))?;
        // What may not be indexed is not shown either.
        let walk = walk::walk(&CancelToken::new(), root, &self.config.walk)?;
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

    /// The root that holds `path`, and the path relative to it.
    fn locate(&self, path: &Path) -> Option<(&Path, String)> {
        self.roots.iter().find_map(|root| {
            let absolute = root.join(path);
            let real = absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?);
            let relative = real.strip_prefix(root).ok()?;
            let is_file = real.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
            is_file.then(|| {
                let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                (root.as_path(), parts.join("/"))
            })
        })
    }

    /// How the workspace stands.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn status(&self) -> Result<Status, Error> {
        self.read(|view, _| {
            let snapshot = &view.snapshot;
            Ok(Status {
                state: if snapshot.incomplete.is_empty() { "ready" } else { "empty" },
                roots: self.keys.clone(),
                files: snapshot.files.len() as u64,
                chunks: snapshot.n_live_chunks(),
                pending_files: 0,
                model: if self.config.use_vectors { MODEL_ID } else { "none" }.to_owned(),
                storage: self.database.folder().to_string_lossy().into_owned(),
                database_bytes: self.database.bytes(),
                watching: false,
                last_error: lock(&self.last_error).clone(),
            })
        })
    }

    /// Removes the index. The next sync builds it anew.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn clear(&self) -> Result<(), Error> {
        let mut guard = lock(&self.reader);
        let reader = guard.as_mut().ok_or(Error::Closed)?;
        reader.view = None;
        let lock =
            self.database.lock(&CancelToken::new(), index::PATIENCE)?.ok_or(Error::Cancelled)?;
        crate::store::Writer::open(&self.database, lock)?.clear(&self.keys)?;
        Ok(())
    }

    /// Releases files and memory; every later call fails with [`Error::Closed`].
    pub fn close(&self) {
        *lock(&self.reader) = None;
    }
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
