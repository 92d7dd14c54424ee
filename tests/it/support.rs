//! What the tests share: a workspace on disk, questions, and the comparison of two indexes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sextant::config::Config;
use sextant::engine::{
    Degradation, Engine, Hit, IndexReport, OpenOptions, Parts, SearchRequest, SearchResponse,
    SkippedPath, Strategy,
};
use sextant::error::Error;
use sextant::task::{CancelToken, NoProgress};
use tempfile::TempDir;

/// A root and a storage folder beside it.
pub struct Place {
    _folder: TempDir,
    /// Holds both.
    pub top: PathBuf,
    pub root: PathBuf,
    pub storage: PathBuf,
    tick: AtomicU64,
}

impl Place {
    /// Builds a tree of files with their content.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        let root = top.join("tree");
        fs::create_dir(&root).unwrap();
        let storage = top.join("storage");
        let place = Self { _folder: folder, top, root, storage, tick: AtomicU64::new(0) };
        for (path, content) in files {
            place.write(path, content);
        }
        place
    }

    /// Writes a file below the root, with a time of change of its own that lies well in the past.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.write_at(&self.root.join(path), content);
    }

    /// As [`Place::write`], anywhere.
    pub fn write_at(&self, absolute: &Path, content: impl AsRef<[u8]>) {
        fs::create_dir_all(absolute.parent().unwrap()).unwrap();
        fs::write(absolute, content).unwrap();
        self.touch(absolute);
    }

    /// Gives a file a new time of change in the past.
    pub fn touch(&self, absolute: &Path) {
        let tick = self.tick.fetch_add(1, Ordering::Relaxed);
        set_modified(absolute, SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000 + tick));
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).unwrap();
    }

    pub fn options(&self) -> OpenOptions {
        options(std::slice::from_ref(&self.root), &self.storage)
    }

    #[track_caller]
    pub fn open(&self) -> Engine {
        Engine::open(self.options()).unwrap()
    }

    /// Opens and syncs.
    #[track_caller]
    pub fn index(&self) -> Engine {
        let engine = self.open();
        sync(&engine);
        engine
    }

    pub fn database(&self) -> PathBuf {
        self.storage.join("index.db")
    }

    /// The database, for looking at it or damaging it.
    pub fn connect(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.database()).unwrap()
    }

    /// The paths that the checkpoint of an interrupted run holds.
    pub fn staged(&self) -> Vec<String> {
        self.connect()
            .prepare("SELECT path FROM files WHERE live = 0 ORDER BY path")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap()
    }

    /// What lies in the storage folder.
    pub fn stored_names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.storage)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Database files that were set aside, without their logs.
    pub fn set_aside(&self) -> Vec<String> {
        let is_kept = |name: &String| {
            name.starts_with("index.db.damaged-")
                && !name.ends_with("-wal")
                && !name.ends_with("-shm")
        };
        self.stored_names().into_iter().filter(is_kept).collect()
    }
}

pub fn options(roots: &[PathBuf], storage: &Path) -> OpenOptions {
    OpenOptions {
        roots: roots.to_vec(),
        storage: Some(storage.to_path_buf()),
        cache: Some(beside(storage)),
        config: Config::standard(),
        parts: Parts::default(),
    }
}

/// Where the tests of `storage` keep embeddings: beside it, never in the cache of whoever runs them.
pub fn beside(storage: &Path) -> PathBuf {
    storage.with_file_name("embeddings")
}

pub fn set_modified(absolute: &Path, time: SystemTime) {
    File::options().write(true).open(absolute).unwrap().set_modified(time).unwrap();
}

/// Replaces a file's content by one of the same length, leaving its size and its time of change as they were.
#[track_caller]
pub fn replace_unseen(absolute: &Path, from: &str, to: &str) {
    assert_eq!(from.len(), to.len());
    let before = fs::metadata(absolute).unwrap();
    let text = fs::read_to_string(absolute).unwrap();
    assert!(text.contains(from));
    fs::write(absolute, text.replace(from, to)).unwrap();
    set_modified(absolute, before.modified().unwrap());
    assert_eq!(fs::metadata(absolute).unwrap().len(), before.len());
}

#[track_caller]
pub fn sync(engine: &Engine) -> IndexReport {
    engine.sync(&CancelToken::new(), &NoProgress).unwrap()
}

/// A question with nothing special about it.
pub fn ask(query: &str) -> SearchRequest {
    SearchRequest {
        query: query.to_owned(),
        keywords: Vec::new(),
        limit: Some(10),
        token_budget: None,
        strategy: Strategy::Auto,
        paths: Vec::new(),
        languages: Vec::new(),
        kinds: Vec::new(),
        explain: false,
        rewrite: true,
        history: Vec::new(),
        attached: Vec::new(),
    }
}

#[track_caller]
pub fn search(engine: &Engine, request: &SearchRequest) -> SearchResponse {
    engine.search(&CancelToken::new(), request).unwrap()
}

pub fn sync_and_search(engine: &Engine, query: &str) -> Result<SearchResponse, Error> {
    engine.sync_and_search(&CancelToken::new(), &NoProgress, &ask(query))
}

/// Paths of the hits, best first.
#[track_caller]
pub fn found(engine: &Engine, query: &str) -> Vec<String> {
    search(engine, &ask(query)).hits.into_iter().map(|hit| hit.path).collect()
}

/// Whether a hit's text has `word`.
#[track_caller]
pub fn finds(engine: &Engine, word: &str) -> bool {
    let request = SearchRequest { limit: Some(100), ..ask(word) };
    search(engine, &request).hits.iter().any(|hit| hit.text.contains(word))
}

#[track_caller]
pub fn code_of<T>(result: Result<T, Error>) -> &'static str {
    match result {
        Ok(_) => "OK",
        Err(error) => {
            assert!(!error.to_string().is_empty());
            error.code()
        }
    }
}

pub fn codes(degraded: &[Degradation]) -> Vec<&'static str> {
    degraded.iter().map(|degradation| degradation.code).collect()
}

/// Questions of every sort, for the trees of [`crate::code`].
pub const QUERIES: &[&str] = &[
    "where is the session token refreshed",
    "parse config",
    "SessionStore",
    "validate_request",
    "how do we expire a cache entry?",
    "test for invoice rendering",
    "=>",
    "x",
    "readme overview of the routes",
    "merge user buffer into index and resolve the connection",
    "größe 设置 配置",
    "Router::resolve",
];

/// A hit, comparable bit for bit.
#[derive(Debug, PartialEq)]
struct Row {
    place: (String, String, u32, u32),
    what: (&'static str, Option<String>, &'static str),
    score: u64,
    text: String,
}

impl From<Hit> for Row {
    fn from(hit: Hit) -> Self {
        Self {
            place: (hit.root, hit.path, hit.start_line, hit.end_line),
            what: (hit.kind, hit.name, hit.language),
            score: hit.score.to_bits(),
            text: hit.text,
        }
    }
}

/// What an engine says of files, skips and [`QUERIES`].
pub struct State {
    files: Vec<(String, String, &'static str, u64, u32)>,
    skipped: Vec<SkippedPath>,
    n_chunks: u64,
    /// Per question, by name.
    answers: Vec<(String, Vec<Row>, Vec<Degradation>)>,
}

impl State {
    #[track_caller]
    pub fn of(engine: &Engine) -> Self {
        let mut answers = Vec::new();
        for query in QUERIES {
            for strategy in [Strategy::Hybrid, Strategy::Tfidf, Strategy::Embeddings] {
                let request = SearchRequest { strategy, limit: Some(20), ..ask(query) };
                let response = search(engine, &request);
                let rows = response.hits.into_iter().map(Row::from).collect();
                answers.push((format!("{query:?} {strategy:?}"), rows, response.degraded));
            }
        }
        let files = engine.files().unwrap();
        Self {
            files: files
                .into_iter()
                .map(|file| (file.root, file.path, file.language, file.size, file.chunks))
                .collect(),
            skipped: engine.skipped().unwrap(),
            n_chunks: engine.status().unwrap().chunks,
            answers,
        }
    }

    /// The first difference, if any.
    pub fn difference(&self, fresh: &Self) -> Option<String> {
        let of_answers = || {
            self.answers.iter().zip(&fresh.answers).find_map(|(ours, theirs)| {
                let name = &ours.0;
                first_difference(&format!("{name} hit"), &ours.1, &theirs.1)
                    .or_else(|| first_difference(&format!("{name} notice"), &ours.2, &theirs.2))
            })
        };
        first_difference("file", &self.files, &fresh.files)
            .or_else(|| first_difference("skip", &self.skipped, &fresh.skipped))
            .or_else(|| first_difference("chunks", &[self.n_chunks], &[fresh.n_chunks]))
            .or_else(of_answers)
    }
}

fn first_difference<T: PartialEq + std::fmt::Debug>(
    name: &str,
    ours: &[T],
    theirs: &[T],
) -> Option<String> {
    let n = ours.len().max(theirs.len());
    (0..n)
        .find(|&at| ours.get(at) != theirs.get(at))
        .map(|at| format!("{name} {at}:\n{:#?}\nfresh:\n{:#?}", ours.get(at), theirs.get(at)))
}

/// The first difference between `live` and a fresh index of the same roots.
pub fn difference_from_fresh(live: &Engine, roots: &[PathBuf]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let fresh = Engine::open(options(roots, &folder.path().join("storage"))).unwrap();
    sync(&fresh);
    State::of(live).difference(&State::of(&fresh))
}

#[track_caller]
pub fn check_equals_fresh(live: &Engine, roots: &[PathBuf]) {
    if let Some(difference) = difference_from_fresh(live, roots) {
        panic!("{difference}");
    }
}
