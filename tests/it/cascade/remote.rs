//! An index on a server among the ways of searching, with a real repository and a real server.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sextant::engine::{Engine, Outcome, Parts, SearchRequest, SearchResponse, Strategy};
use sextant::remote::{
    RemoteAnswer, RemoteError, RemoteIndex, RemoteQuery, RemoteStatus, Repository,
};
use sextant::task::CancelToken;

use crate::provided::Words;
use crate::remote::adapter::TestRemote;
use crate::remote::server::{Reply, Server};
use crate::remote::world::{answer, git, hit, ready, refuses, state};
use crate::settings::{AsSetting, check_off, configure, open, paths, tried};
use crate::support::{Place, ask, code_of, codes, search, sync};

pub const KEYS: &[&str] = &[
    "cascade.remote",
    "cascade.remoteWait",
    "cascade.remoteMaxChangedFiles",
    "cascade.remoteMaxChangedShare",
    "cascade.remoteMaxEmbeddedChanges",
    "cascade.remoteLocalWait",
    "cascade.instantIndexWait",
];

const REPOSITORY: &str = "git.example/acme/app";
const STATUS: &str = "status/acme/app";
const SEARCH: &str = "search/acme/app";
/// What no test waits for.
const SOON: Duration = Duration::from_secs(4);

/// A repository of four files that the server has indexed as they are.
struct Hosted {
    place: Place,
    server: Server,
}

impl Hosted {
    fn new() -> Self {
        let place = Place::new(&[]);
        for name in ["a", "b", "c", "d"] {
            let text = format!("def lantern_{name}():\n    return '{name}'\n\n\n# end\n");
            place.write(&format!("src/{name}.py"), text);
        }
        let root = &place.root;
        git(root, &["init", "-q", "-b", "main"]);
        git(root, &["remote", "add", "origin", "https://git.example/acme/app.git"]);
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "first"]);
        let hosted = Self { place, server: Server::start() };
        hosted.server.on(STATUS, &[ready(Some(&hosted.commit()))]);
        hosted.finds(&["src/b.py", "src/a.py"]);
        hosted
    }

    fn commit(&self) -> String {
        git(&self.place.root, &["rev-parse", "HEAD"])
    }

    /// Lets the server find the first two lines of these files.
    fn finds(&self, paths: &[&str]) {
        let results: Vec<_> = paths
            .iter()
            .enumerate()
            .map(|(rank, path)| hit(REPOSITORY, path, (0, 2), 1.0 / (rank + 1) as f64))
            .collect();
        self.server.on(SEARCH, &[answer(&self.commit(), &results)]);
    }

    fn parts(&self) -> Parts {
        Parts { remote: Some(Arc::new(TestRemote::new(self.server.address))), ..Parts::default() }
    }

    fn open(&self, settings: &[(&str, &dyn AsSetting)]) -> Engine {
        let engine = open(&self.place, settings, self.parts());
        sync(&engine);
        engine
    }

    fn n_searches(&self) -> usize {
        self.server.requests(SEARCH).len()
    }
}

#[track_caller]
fn check_local(response: &SearchResponse, outcome: Outcome, reason: &str) {
    let remote = tried(response, "remote");
    assert_eq!(remote.outcome, outcome, "{remote:?}");
    assert!(remote.reason.contains(reason), "{}", remote.reason);
    assert_eq!((response.strategy, response.hits.len()), ("hybrid", 4), "{:?}", response.tried);
}

#[test]
fn the_server_answers_first_and_each_time() {
    let hosted = Hosted::new();
    let engine = hosted.open(&[]);
    let response = search(&engine, &ask("lantern"));
    assert_eq!((response.strategy, paths(&response)), ("remote", vec!["src/b.py", "src/a.py"]));
    assert_eq!((response.hits[0].text.as_str(), response.hits[0].language), ("x", "python"));
    assert_eq!((response.hits[0].start_line, response.hits[0].end_line), (1, 2));
    let reason = &tried(&response, "remote").reason;
    assert!(reason.contains(REPOSITORY) && reason.contains("0 changed files"), "{reason}");
    assert_eq!(response.tried.last().unwrap().strategy, "remote");
    // The server may know more by now.
    hosted.finds(&["src/d.py"]);
    assert_eq!(paths(&search(&engine, &ask("lantern"))), ["src/d.py"]);
    let body: serde_json::Value = serde_json::from_str(&hosted.server.requests(SEARCH)[0]).unwrap();
    assert_eq!((body["query"].as_str(), body["limit"].as_u64()), (Some("lantern"), Some(10)));
    configure(&engine, &[("cascade.remote", &false)]);
    check_off(&search(&engine, &ask("lantern")), "remote", "cascade.remote");
    assert_eq!(hosted.n_searches(), 2);
}

#[test]
fn files_that_changed_here_are_answered_from_here() {
    let hosted = Hosted::new();
    hosted.place.write("src/b.py", "def lantern_b():\n    return 'changed'\n");
    hosted.place.write("src/new.py", "def lantern_new():\n    return 'new'\n");
    let engine = hosted.open(&[]);
    let response = search(&engine, &ask("lantern"));
    assert_eq!(response.strategy, "remote");
    let text = |path: &str| response.hits.iter().find(|hit| hit.path == path).map(|h| &h.text);
    assert!(text("src/b.py").unwrap().contains("'changed'"));
    assert!(text("src/new.py").unwrap().contains("'new'"));
    assert_eq!(text("src/a.py").unwrap(), "x");
    assert_eq!(response.hits.iter().filter(|hit| hit.path == "src/b.py").count(), 1);
    let reason = &tried(&response, "remote").reason;
    assert!(reason.contains("2 changed files, searched here by: vectors"), "{reason}");
    configure(&engine, &[("cascade.remoteMaxEmbeddedChanges", &1)]);
    let reason = tried(&search(&engine, &ask("lantern")), "remote").reason.clone();
    assert!(reason.contains("searched here by: words"), "{reason}");
    // A budget bounds what both say.
    let request = SearchRequest { token_budget: Some(12), ..ask("lantern") };
    let response = search(&engine, &request);
    assert!(response.tokens <= 12 && response.omitted_hits > 0, "{response:?}");
}

#[test]
fn changed_files_that_no_way_searches_are_not_taken_for_files_without_hits() {
    let hosted = Hosted::new();
    hosted.place.write("src/b.py", "def lantern_b():\n    return 'changed'\n");
    let engine = hosted.open(&[]);
    let ask_with = |settings: &[(&str, &dyn AsSetting)]| {
        configure(&engine, settings);
        let response = search(&engine, &ask("lantern"));
        assert_eq!(response.strategy, "remote");
        response
    };
    for without in ["vectorDb.enabled", "cascade.embeddings"] {
        let response = ask_with(&[(without, &false)]);
        let reason = &tried(&response, "remote").reason;
        assert!(reason.contains("searched here by: words"), "{without}: {reason}");
        assert!(response.hits.iter().any(|hit| hit.text.contains("'changed'")), "{without}");
    }
    let response = ask_with(&[("vectorDb.enabled", &false), ("cascade.tfidf", &false)]);
    assert_eq!(codes(&response.degraded), ["REMOTE_INDEX_BEHIND"]);
    assert!(tried(&response, "remote").reason.contains("cascade.tfidf is off"));
    // Nothing was found is no reason to say less.
    hosted.finds(&[]);
    hosted.place.write("src/b.py", "def other():\n    return 'changed'\n");
    sync(&engine);
    let request = SearchRequest { strategy: Strategy::Remote, ..ask("lantern") };
    configure(&engine, &[("vectorDb.enabled", &false), ("cascade.tfidfMaxFiles", &1)]);
    let response = search(&engine, &request);
    assert_eq!((response.hits.len(), codes(&response.degraded).len()), (0, 0), "{response:?}");
}

#[test]
fn a_server_is_not_asked_for_chunks_of_a_kind() {
    let hosted = Hosted::new();
    let engine = hosted.open(&[]);
    let request = SearchRequest { kinds: vec!["function".into()], ..ask("lantern") };
    let response = search(&engine, &request);
    check_local(&response, Outcome::Skipped, "the server knows no kinds");
    assert!(response.hits.iter().all(|hit| hit.kind == "function"));
    let request = SearchRequest { strategy: Strategy::Remote, ..request };
    let refused = engine.search(&CancelToken::new(), &request);
    assert!(refused.as_ref().unwrap_err().to_string().contains("knows no kinds"));
    assert_eq!(code_of(refused), "STRATEGY_UNAVAILABLE");
    assert_eq!(hosted.n_searches(), 0);
}

#[test]
fn with_too_many_changes_the_server_is_not_asked() {
    let hosted = Hosted::new();
    hosted.place.write("src/b.py", "def lantern_b():\n    return 'changed'\n");
    let engine = hosted.open(&[]);
    let ask_with = |settings: &[(&str, &dyn AsSetting)]| {
        configure(&engine, settings);
        search(&engine, &ask("lantern"))
    };
    let skipped = Outcome::Skipped;
    let files: (&str, &dyn AsSetting) = ("cascade.remoteMaxChangedFiles", &0);
    check_local(&ask_with(&[files]), skipped, "1 files, at most 0");
    let share: (&str, &dyn AsSetting) = ("cascade.remoteMaxChangedShare", &0.24);
    check_local(&ask_with(&[share]), skipped, "1 of 4 files, at most 24 %");
    assert_eq!(hosted.n_searches(), 0);
    assert_eq!(ask_with(&[("cascade.remoteMaxChangedShare", &0.25)]).strategy, "remote");
}

#[test]
fn where_the_server_cannot_answer_the_search_here_does_and_the_reason_is_told() {
    let hosted = Hosted::new();
    let engine = hosted.open(&[("cascade.instantIndexWait", &0)]);
    let with = |status: Reply, outcome: Outcome, reason: &str| {
        hosted.server.on(STATUS, &[status]);
        let response = search(&engine, &ask("lantern"));
        check_local(&response, outcome, reason);
        let expected: &[&str] =
            if outcome == Outcome::Failed { &["REMOTE_INDEX_UNAVAILABLE"] } else { &[] };
        assert_eq!(codes(&response.degraded), expected, "{:?}", response.degraded);
    };
    with(state("building"), Outcome::Skipped, "still indexing");
    with(refuses(401), Outcome::Failed, "401");
    with(refuses(404), Outcome::Skipped, "does not know it");
    with(Reply::Says(200, "no".into()), Outcome::Failed, "not json");
    assert_eq!(hosted.n_searches(), 0);
    hosted.server.on(SEARCH, &[refuses(500)]);
    with(ready(Some(&hosted.commit())), Outcome::Failed, "500");
    hosted.finds(&[]);
    with(ready(Some(&hosted.commit())), Outcome::Empty, REPOSITORY);
    // No repository at all.
    let place = Place::new(&[("a.py", "def lantern():\n    return 1\n")]);
    let engine = open(&place, &[], hosted.parts());
    sync(&engine);
    let response = search(&engine, &ask("lantern"));
    assert!(tried(&response, "remote").reason.contains("git repository"));
    assert_eq!(response.strategy, "hybrid");
}

#[test]
fn a_server_that_does_not_know_the_repository_yet_has_so_long_to_index_it() {
    let hosted = Hosted::new();
    hosted.server.on(STATUS, &[state("new")]);
    hosted.server.on("trigger/acme/app", &[Reply::Says(200, "{}".into())]);
    let engine = hosted.open(&[("cascade.instantIndexWait", &30)]);
    let started = Instant::now();
    let response = search(&engine, &ask("lantern"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    check_local(&response, Outcome::Skipped, "");
    assert_eq!(hosted.server.requests("trigger/acme/app").len(), 1);
}

#[test]
fn changed_files_are_waited_for_no_longer_than_is_set() {
    let hosted = Hosted::new();
    hosted.place.write("src/b.py", "def lantern_b():\n    return 'changed'\n");
    let words = Words::new("words", 32);
    let parts = Parts { embedder: Some(Arc::clone(&words) as Arc<_>), ..hosted.parts() };
    let settings: &[(&str, &dyn AsSetting)] =
        &[("embedding.queryTimeout", &60_000), ("cascade.remoteLocalWait", &50)];
    let engine = open(&hosted.place, settings, parts);
    sync(&engine);
    words.change(|state| state.hangs = Some(Duration::from_secs(30)));
    let started = Instant::now();
    let response = search(&engine, &ask("lantern"));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    assert_eq!(response.strategy, "remote");
    assert_eq!(codes(&response.degraded), ["REMOTE_INDEX_BEHIND"]);
}

/// Knows every repository, and searches until it is told to stop.
#[derive(Debug, Default)]
struct Slow {
    was_asked: AtomicBool,
    was_cancelled: AtomicBool,
}

impl RemoteIndex for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn status(&self, _: &CancelToken, _: &Repository) -> Result<RemoteStatus, RemoteError> {
        Ok(RemoteStatus::Ready { commit: None })
    }

    fn trigger(&self, _: &CancelToken, _: &Repository) -> Result<(), RemoteError> {
        Ok(())
    }

    fn search(
        &self,
        cancel: &CancelToken,
        _: &Repository,
        _: &RemoteQuery,
    ) -> Result<RemoteAnswer, RemoteError> {
        self.was_asked.store(true, Ordering::SeqCst);
        let due = Instant::now() + Duration::from_secs(30);
        while !cancel.is_cancelled() && Instant::now() < due {
            std::thread::park_timeout(Duration::from_millis(2));
        }
        self.was_cancelled.store(cancel.is_cancelled(), Ordering::SeqCst);
        Err(RemoteError::Cancelled)
    }
}

#[test]
fn a_server_that_hangs_is_left_behind_and_told_to_stop() {
    let hosted = Hosted::new();
    let root = &hosted.place.root;
    // An index that names no commit is compared with the upstream branch.
    git(root, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(root, &["config", "branch.main.remote", "origin"]);
    git(root, &["config", "branch.main.merge", "refs/heads/main"]);
    let slow = Arc::new(Slow::default());
    let parts = Parts { remote: Some(Arc::clone(&slow) as Arc<_>), ..Parts::default() };
    let engine = open(&hosted.place, &[], parts);
    sync(&engine);
    // On a busy machine git takes longer than the first of these, and the server is not asked yet.
    for wait in [150, 1200, 9600] {
        configure(&engine, &[("cascade.remoteWait", &wait)]);
        let started = Instant::now();
        let response = search(&engine, &ask("lantern"));
        let took = started.elapsed();
        let limit = Duration::from_millis(u64::try_from(wait).unwrap());
        assert!(took >= limit && took < limit + SOON, "{took:?}");
        check_local(&response, Outcome::TimedOut, &format!("within {wait} ms"));
        if slow.was_asked.load(Ordering::SeqCst) {
            break;
        }
    }
    // The call ends by itself once it looks at its token.
    let due = Instant::now() + SOON;
    while !slow.was_cancelled.load(Ordering::SeqCst) && Instant::now() < due {
        std::thread::park_timeout(Duration::from_millis(2));
    }
    assert!(slow.was_cancelled.load(Ordering::SeqCst));
    assert!(!search(&engine, &ask("lantern")).is_cached);

    // A server that never says a word, in the middle of a request.
    hosted.server.on(SEARCH, &[Reply::Hangs]);
    let engine = hosted.open(&[("cascade.remoteWait", &50)]);
    let started = Instant::now();
    check_local(&search(&engine, &ask("lantern")), Outcome::TimedOut, "within 50 ms");
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    let cancel = CancelToken::new();
    let settings: &[(&str, &dyn AsSetting)] = &[("cascade.remoteWait", &600_000)];
    configure(&engine, settings);
    std::thread::scope(|scope| {
        let search = scope.spawn(|| engine.search(&cancel, &ask("lantern")));
        let started = Instant::now();
        cancel.cancel();
        assert_eq!(code_of(search.join().unwrap()), "CANCELLED");
        assert!(started.elapsed() < SOON);
    });
}

#[test]
fn who_asks_for_the_server_alone_gets_it_or_the_reason() {
    let hosted = Hosted::new();
    let engine = hosted.open(&[]);
    let request = SearchRequest { strategy: Strategy::Remote, ..ask("lantern") };
    let response = search(&engine, &request);
    assert_eq!((response.strategy, paths(&response)), ("remote", vec!["src/b.py", "src/a.py"]));
    assert_eq!(response.tried.len(), 1);
    hosted.finds(&[]);
    assert!(search(&engine, &request).hits.is_empty(), "an empty answer is an answer");
    hosted.server.on(STATUS, &[refuses(403)]);
    let refused = engine.search(&CancelToken::new(), &request);
    assert!(refused.as_ref().unwrap_err().to_string().contains("403"));
    assert_eq!(code_of(refused), "STRATEGY_UNAVAILABLE");
    let without = hosted.place.index();
    let refused = without.search(&CancelToken::new(), &request);
    assert!(refused.as_ref().unwrap_err().to_string().contains("no index on a server"));
    assert_eq!(code_of(refused), "STRATEGY_UNAVAILABLE");
}
