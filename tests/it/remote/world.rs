//! Repositories, a server that knows them, and a local index of what is on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::remote::{
    FileRef, Folder, Found, Gate, GateReason, IndexedFiles, LocalError, LocalHit, LocalSearch,
    Outcome, Question, RemoteIndex, RemoteLimits, RemoteQuery, Repository, Resolution, search,
};
use sextant::span::LineRange;
use sextant::task::CancelToken;
use tempfile::TempDir;

use super::adapter::{TOKEN, TestRemote};
use super::server::{Reply, Server};

/// Lines of a file.
const N_LINES: u32 = 10;

/// The files that each repository begins with.
pub const FILES: &[&str] = &["src/a.rs", "src/b.rs", "src/c.rs", "src/d.rs"];

/// What the local search does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Gives one hit a file.
    Finds,
    Fails,
    /// Until it is told to stop.
    Hangs,
}

pub struct World {
    _folder: TempDir,
    top: PathBuf,
    pub server: Server,
    pub index: Option<Arc<dyn RemoteIndex>>,
    pub folders: Vec<Folder>,
    pub limits: RemoteLimits,
    pub vectors: Act,
    pub words: Act,
    /// Files that each local search was asked for.
    pub searched: Mutex<Vec<Vec<String>>>,
    pub was_stopped: AtomicBool,
    pub cancel: CancelToken,
}

impl World {
    /// Repositories `acme/<name>` that the server has indexed as they are, and finds nothing in.
    pub fn new(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start();
        let index: Arc<dyn RemoteIndex> = Arc::new(TestRemote::new(server.address));
        let mut world = Self {
            top: fs::canonicalize(folder.path()).unwrap(),
            _folder: folder,
            server,
            index: Some(index),
            folders: Vec::new(),
            // No test waits for these.
            limits: RemoteLimits {
                local_embeddings_ms: 600_000,
                local_ms: 600_000,
                instant_indexing_ms: 600_000,
                poll_interval_ms: 1,
                answer_ms: 600_000,
                call_ms: 600_000,
                diff_ms: 600_000,
                ..RemoteLimits::standard()
            },
            vectors: Act::Finds,
            words: Act::Finds,
            searched: Mutex::default(),
            was_stopped: AtomicBool::new(false),
            cancel: CancelToken::new(),
        };
        for name in names {
            world.add(name);
        }
        world
    }

    fn add(&mut self, name: &str) {
        let top = self.top.join(name);
        fs::create_dir(&top).unwrap();
        self.folders.push(Folder {
            name: name.into(),
            resolution: Resolution::Resolved(Repository {
                top: top.clone(),
                prefix: String::new(),
                remote_url: format!("https://git.example/acme/{name}.git"),
                host: "git.example".into(),
                owner: "acme".into(),
                name: name.into(),
            }),
        });
        git(&top, &["init", "-q", "-b", "main"]);
        for path in FILES {
            self.write(name, path);
        }
        git(&top, &["add", "-A"]);
        git(&top, &["commit", "-q", "-m", "first"]);
        let commit = self.commit(name);
        self.status(name, &[ready(Some(&commit))]);
        self.finds(name, &[]);
    }

    /// The folder of a repository.
    pub fn top_of(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    /// The commit that is checked out.
    pub fn commit(&self, name: &str) -> String {
        git(&self.top_of(name), &["rev-parse", "HEAD"])
    }

    /// Writes a file that is not as any before.
    pub fn write(&self, name: &str, path: &str) {
        let path = self.top.join(name).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).map_or(0, |text| text.len());
        let word = "x".repeat(before + 1);
        fs::write(path, format!("{word}\n").repeat(N_LINES as usize)).unwrap();
    }

    pub fn remove(&self, name: &str, path: &str) {
        fs::remove_file(self.top.join(name).join(path)).unwrap();
    }

    pub fn status(&self, name: &str, replies: &[Reply]) {
        self.server.on(&format!("status/acme/{name}"), replies);
    }

    pub fn trigger(&self, name: &str, replies: &[Reply]) {
        self.server.on(&format!("trigger/acme/{name}"), replies);
    }

    pub fn search(&self, name: &str, replies: &[Reply]) {
        self.server.on(&format!("search/acme/{name}"), replies);
    }

    /// Lets the server find lines 2 to 4 of these files, the first best, at the commit that is checked out.
    pub fn finds(&self, name: &str, paths: &[&str]) {
        let result = |(rank, path): (usize, &&str)| {
            hit(&format!("git.example/acme/{name}"), path, (2, 5), 1.0 / (rank + 1) as f64)
        };
        let results: Vec<Value> = paths.iter().enumerate().map(result).collect();
        self.search(name, &[answer(&self.commit(name), &results)]);
    }

    pub fn ask(&self) -> Result<Outcome<&'static str>, GateReason> {
        self.ask_for("how is it done", 10)
    }

    pub fn ask_for(&self, text: &str, limit: usize) -> Result<Outcome<&'static str>, GateReason> {
        let question = Question {
            index: self.index.as_ref(),
            folders: &self.folders,
            query: &RemoteQuery::new(text, limit),
            limits: &self.limits,
            files: self,
        };
        let result = search(&self.cancel, &question, self);
        let text = format!("{result:?}");
        assert!(!text.contains(TOKEN), "{text}");
        result
    }

    /// Which gate closes, and how often the server was asked the question.
    #[track_caller]
    pub fn check_gate(&self, gate: Gate, detail: &str) {
        let reason = self.ask().unwrap_err();
        assert_eq!(reason.gate, gate, "{reason}");
        assert!(reason.to_string().contains(detail), "{reason}");
    }

    /// What is found: `name/path`, with `!` if it was found here. Warnings come first, by code.
    #[track_caller]
    pub fn check(&self, expected: &[&str]) {
        assert_eq!(self.show(&self.ask().unwrap()), expected);
    }

    pub fn show(&self, outcome: &Outcome<&'static str>) -> Vec<String> {
        let warnings = outcome.warnings.iter().map(|warning| warning.code.to_owned());
        let hits = outcome.hits.iter().map(|hit| {
            let mark = if matches!(hit.found, Found::Local(_)) { "!" } else { "" };
            format!("{mark}{}/{}", self.folders[hit.file.folder].name, hit.file.path)
        });
        warnings.chain(hits).collect()
    }

    fn absolute(&self, file: &FileRef) -> PathBuf {
        self.top.join(&self.folders[file.folder].name).join(&file.path)
    }

    /// Files of a folder on disk, in order.
    fn listed(&self, folder: usize) -> Vec<String> {
        let top = self.top.join(&self.folders[folder].name).join("src");
        let Ok(entries) = fs::read_dir(top) else { return Vec::new() };
        let name = |entry: fs::DirEntry| format!("src/{}", entry.file_name().to_str().unwrap());
        let mut paths: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        paths.sort();
        paths
    }

    fn act(
        &self,
        cancel: &CancelToken,
        act: Act,
        how: &'static str,
        files: &[FileRef],
    ) -> Result<Vec<LocalHit<&'static str>>, LocalError> {
        let paths = files.iter().map(|file| file.path.clone()).collect();
        self.searched.lock().unwrap().push(paths);
        match act {
            Act::Fails => Err(LocalError::Failed { reason: "broken".into() }),
            Act::Hangs => {
                while !cancel.is_cancelled() {
                    thread::park_timeout(Duration::from_millis(1));
                }
                self.was_stopped.store(true, Ordering::Relaxed);
                Err(LocalError::Cancelled)
            }
            Act::Finds => Ok(files
                .iter()
                .enumerate()
                .map(|(rank, file)| LocalHit {
                    file: file.clone(),
                    lines: LineRange::new(0, 3),
                    score: 40.0 / (rank + 1) as f64,
                    hit: how,
                })
                .collect()),
        }
    }
}

impl IndexedFiles for World {
    fn count(&self) -> usize {
        (0..self.folders.len()).map(|folder| self.listed(folder).len()).sum()
    }

    fn is_indexed(&self, file: &FileRef) -> bool {
        self.absolute(file).is_file()
    }

    fn is_wanted(&self, file: &FileRef) -> bool {
        self.is_indexed(file) && !file.path.ends_with("hidden.rs")
    }

    fn n_lines(&self, _file: &FileRef) -> Option<u32> {
        Some(N_LINES)
    }

    fn wanted_in(&self, folder: usize, at_most: usize) -> Option<Vec<String>> {
        Some(self.listed(folder)).filter(|paths| paths.len() <= at_most)
    }
}

impl LocalSearch<&'static str> for World {
    fn by_vectors(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        _limit: usize,
    ) -> Result<Vec<LocalHit<&'static str>>, LocalError> {
        self.act(cancel, self.vectors, "vectors", files)
    }

    fn by_words(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        _limit: usize,
    ) -> Result<Vec<LocalHit<&'static str>>, LocalError> {
        self.act(cancel, self.words, "words", files)
    }
}

pub fn ready(commit: Option<&str>) -> Reply {
    Reply::ok(&json!({ "state": "ready", "commit": commit }))
}

pub fn state(name: &str) -> Reply {
    Reply::ok(&json!({ "state": name }))
}

pub fn refuses(status: u16) -> Reply {
    Reply::Says(status, "<html>no</html>".into())
}

pub fn answer(commit: &str, results: &[Value]) -> Reply {
    Reply::ok(&json!({ "commit": commit, "results": results }))
}

pub fn hit(repository: &str, path: &str, lines: (u32, u32), score: f64) -> Value {
    json!({
        "repository": repository,
        "path": path,
        "start": lines.0,
        "end": lines.1,
        "text": "x",
        "score": score,
    })
}

/// Runs git as nobody in particular.
pub fn git(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.com")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.com")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}
