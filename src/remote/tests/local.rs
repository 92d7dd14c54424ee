//! Which of the two local searches counts.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::call;
use super::super::limits::RemoteLimits;
use super::super::local::{LocalAnswer, LocalError, LocalHit, LocalPart, LocalSearch, search};
use super::super::types::FileRef;
use crate::span::LineRange;
use crate::task::CancelToken;

/// What a search does.
#[derive(Clone, Copy)]
enum Act {
    Finds,
    Fails,
    /// Until it is told to stop.
    Hangs,
}

struct Scripted {
    vectors: Act,
    words: Act,
    asked: Mutex<Vec<&'static str>>,
    stopped: AtomicBool,
}

impl Scripted {
    fn act(
        &self,
        cancel: &CancelToken,
        name: &'static str,
        act: Act,
        files: &[FileRef],
    ) -> Result<Vec<LocalHit<&'static str>>, LocalError> {
        self.asked.lock().unwrap().push(name);
        match act {
            Act::Finds => {
                let lines = LineRange::new(0, 1);
                let hit =
                    |file: &FileRef| LocalHit { file: file.clone(), lines, score: 1.0, hit: name };
                Ok(files.iter().map(hit).collect())
            }
            Act::Fails => Err(LocalError::Failed { reason: "broken".into() }),
            Act::Hangs => {
                call::wait(cancel, Duration::from_secs(600));
                self.stopped.store(true, Ordering::Relaxed);
                Err(LocalError::Cancelled)
            }
        }
    }
}

impl LocalSearch<&'static str> for Scripted {
    fn by_vectors(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        _limit: usize,
    ) -> Result<Vec<LocalHit<&'static str>>, LocalError> {
        self.act(cancel, "vectors", self.vectors, files)
    }

    fn by_words(
        &self,
        cancel: &CancelToken,
        files: &[FileRef],
        _limit: usize,
    ) -> Result<Vec<LocalHit<&'static str>>, LocalError> {
        self.act(cancel, "words", self.words, files)
    }
}

struct Ran {
    answer: LocalAnswer<&'static str>,
    asked: Vec<&'static str>,
    stopped: bool,
}

fn run(n_files: usize, vectors: Act, words: Act, limits: &RemoteLimits) -> Ran {
    let stopped = AtomicBool::new(false);
    let local = Scripted { vectors, words, asked: Mutex::default(), stopped };
    let files: Vec<FileRef> =
        (0..n_files).map(|at| FileRef { folder: 0, path: format!("{at:04}") }).collect();
    let mut answers = Vec::new();
    search(&CancelToken::new(), &files, 10, limits, &local, |answer| answers.push(answer));
    assert_eq!(answers.len(), 1);
    Ran {
        answer: answers.pop().unwrap(),
        asked: local.asked.into_inner().unwrap(),
        stopped: local.stopped.into_inner(),
    }
}

/// Limits that no test waits for.
fn patient() -> RemoteLimits {
    RemoteLimits { local_embeddings_ms: 600_000, local_ms: 600_000, ..RemoteLimits::standard() }
}

fn part(answer: LocalAnswer<&'static str>) -> (LocalPart, usize) {
    let (part, hits) = answer.unwrap();
    (part, hits.len())
}

#[test]
fn nothing_changed_is_not_searched() {
    let ran = run(0, Act::Hangs, Act::Hangs, &patient());
    assert_eq!(part(ran.answer), (LocalPart::Skipped, 0));
    assert!(ran.asked.is_empty());
}

#[test]
fn few_files_are_searched_by_vectors_and_many_by_words() {
    let ran = run(300, Act::Finds, Act::Finds, &patient());
    assert_eq!((part(ran.answer), ran.asked), ((LocalPart::Vectors, 300), vec!["vectors"]));
    let ran = run(301, Act::Finds, Act::Finds, &patient());
    assert_eq!((part(ran.answer), ran.asked), ((LocalPart::Words, 301), vec!["words"]));
}

#[test]
fn words_join_late_vectors_and_the_loser_is_stopped() {
    let limits = RemoteLimits { local_embeddings_ms: 1, ..patient() };
    let ran = run(1, Act::Hangs, Act::Finds, &limits);
    assert_eq!(part(ran.answer), (LocalPart::Words, 1));
    assert_eq!(ran.asked, ["vectors", "words"]);
    assert!(ran.stopped);
}

#[test]
fn a_failure_does_not_win() {
    let ran = run(1, Act::Fails, Act::Finds, &patient());
    assert_eq!(part(ran.answer), (LocalPart::Words, 1));
    let ran = run(1, Act::Fails, Act::Fails, &patient());
    let reason = "vectors: broken; words: broken".into();
    assert_eq!(ran.answer, Err(LocalPart::Failed { reason }));
}

#[test]
fn the_whole_has_a_limit() {
    let limits = RemoteLimits { local_embeddings_ms: 1, local_ms: 40, ..patient() };
    let ran = run(1, Act::Hangs, Act::Hangs, &limits);
    assert_eq!(ran.answer, Err(LocalPart::TimedOut));
    assert!(ran.stopped);
    let ran = run(1, Act::Hangs, Act::Fails, &limits);
    assert_eq!(ran.answer, Err(LocalPart::TimedOut));
}
