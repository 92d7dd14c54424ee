//! What the settings of a run change: who begins it, what it tells, what it keeps.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sextant::config::settings::{LogLevel, ProgressLocation};
use sextant::engine::{Engine, IndexReport, Parts, WatchEvent, WatchOptions};
use sextant::task::{CancelToken, Phase, Progress};

use super::{AsSetting, check_off, configure, open, tried};
use crate::provided::Words;
use crate::support::{Place, ask, code_of, codes, options, search, sync, sync_and_search};
use sextant::engine::{Outcome, SearchRequest, Strategy};

pub const KEYS: &[&str] = &[
    "vectorDb.enabled",
    "vectorDb.enableBackgroundProcessing",
    "vectorDb.enableProgressNotifications",
    "vectorDb.progressLocation",
    "vectorDb.debounceDelay",
    "vectorDb.fallbackToKeywordSearch",
    "vectorDb.cacheEnabled",
    "vectorDb.logLevel",
];

const LONG: Duration = Duration::from_secs(30);

fn tree() -> Place {
    Place::new(&[
        ("a.py", "def lantern():\n    return 1\n"),
        ("b.py", "def harbour():\n    return 2\n"),
    ])
}

fn with_words(words: &Arc<Words>) -> Parts {
    Parts { embedder: Some(Arc::clone(words) as Arc<_>), ..Parts::default() }
}

#[test]
fn without_vectors_nobody_is_asked_for_any() {
    let place = tree();
    let words = Words::new("words", 32);
    let engine = open(&place, &[("vectorDb.enabled", &false)], with_words(&words));
    sync(&engine);
    let response = search(&engine, &ask("lantern"));
    assert_eq!((response.strategy, response.hits.len()), ("tfidf", 1));
    check_off(&response, "hybrid", "vectorDb.enabled");
    assert_eq!(engine.status().unwrap().model, "none");
    let request = SearchRequest { strategy: Strategy::Embeddings, ..ask("lantern") };
    let refused = engine.search(&CancelToken::new(), &request);
    assert!(refused.as_ref().unwrap_err().to_string().contains("vectorDb.enabled is off"));
    assert_eq!(code_of(refused), "STRATEGY_UNAVAILABLE");
    assert_eq!((words.n_documents(), words.n_queries()), (0, 0));
    configure(&engine, &[]);
    assert_eq!(sync(&engine).texts_embedded, 2);
    assert_eq!(search(&engine, &ask("lantern")).strategy, "hybrid");
    assert_eq!(words.n_queries(), 1);
}

#[test]
fn what_vectors_cannot_answer_is_answered_by_words_unless_that_is_off() {
    let place = tree();
    let words = Words::new("words", 32);
    let quick: (&str, &dyn AsSetting) = ("embedding.queryTimeout", &20);
    let engine = open(&place, &[quick], with_words(&words));
    sync(&engine);
    words.change(|state| state.hangs = Some(LONG));
    assert_eq!(search(&engine, &ask("lantern")).strategy, "tfidf");
    configure(&engine, &[quick, ("vectorDb.fallbackToKeywordSearch", &false)]);
    let response = search(&engine, &ask("lantern"));
    check_off(&response, "tfidf", "vectorDb.fallbackToKeywordSearch");
    assert_eq!(codes(&response.degraded), ["EMBEDDINGS_UNAVAILABLE"]);
    // Who asks for words gets them.
    let request = SearchRequest { strategy: Strategy::Tfidf, ..ask("lantern") };
    assert_eq!(tried(&search(&engine, &request), "tfidf").outcome, Outcome::Answered);
}

#[test]
fn texts_are_embedded_again_where_nothing_is_to_be_kept() {
    for (is_kept, expected) in [(true, (0, 2)), (false, (2, 0))] {
        let place = tree();
        let words = Words::new("words", 32);
        let setting: (&str, &dyn AsSetting) = ("vectorDb.cacheEnabled", &is_kept);
        let engine = open(&place, &[setting], with_words(&words));
        let first = sync(&engine);
        assert_eq!((first.embedded, first.texts_embedded), (2, 2));
        let mut elsewhere =
            options(std::slice::from_ref(&place.root), &place.top.join("elsewhere"));
        super::set(&mut elsewhere.config, &[setting]);
        elsewhere.parts = with_words(&words);
        let report = sync(&Engine::open(elsewhere).unwrap());
        assert_eq!((report.texts_embedded, report.texts_reused), expected);
        assert_eq!((report.embedded, report.reused), expected);
        search(&engine, &ask("lantern"));
        assert_eq!(search(&engine, &ask("lantern")).is_cached, is_kept);
    }
}

/// What a sync tells with these settings.
#[track_caller]
fn told(settings: &[(&str, &dyn AsSetting)]) -> Vec<Progress> {
    let place = tree();
    let engine = open(&place, settings, with_words(&Words::new("words", 32)));
    let told = Mutex::new(Vec::new());
    engine.sync(&CancelToken::new(), &|progress| told.lock().unwrap().push(progress)).unwrap();
    told.into_inner().unwrap()
}

#[test]
fn progress_is_told_with_where_to_show_it_unless_it_is_off() {
    let all = told(&[]);
    assert!(all.iter().all(|progress| progress.location == ProgressLocation::Notification));
    for phase in [Phase::Walk, Phase::Index, Phase::Embed] {
        assert!(all.iter().any(|progress| progress.phase == phase), "{phase:?}");
    }
    let all = told(&[("vectorDb.progressLocation", &"statusBar")]);
    assert!(!all.is_empty());
    assert!(all.iter().all(|progress| progress.location == ProgressLocation::StatusBar));
    assert!(told(&[("vectorDb.enableProgressNotifications", &false)]).is_empty());
}

#[test]
fn the_log_gets_what_is_at_least_as_important_as_set() {
    let place = tree();
    let said: Arc<Mutex<Vec<(LogLevel, String)>>> = Arc::default();
    let sink = Arc::clone(&said);
    let log = move |level: LogLevel, message: &str| {
        sink.lock().unwrap().push((level, message.to_owned()));
    };
    let words = Words::new("words", 32);
    words.change(|state| state.fails_after = Some(0));
    let parts = Parts { log: Some(Arc::new(log)), ..with_words(&words) };
    let engine = open(&place, &[("vectorDb.logLevel", &"debug")], parts);
    let levels = |level: &str| {
        configure(&engine, &[("vectorDb.logLevel", &level)]);
        said.lock().unwrap().clear();
        // A warning, a search to debug, and news.
        words.change(|state| state.fails_after = Some(0));
        place.write("c.py", format!("def {level}_new():\n    return 3\n"));
        sync(&engine);
        search(&engine, &ask("lantern"));
        words.change(|state| state.fails_after = None);
        sync(&engine);
        let mut levels: Vec<LogLevel> = said.lock().unwrap().iter().map(|(l, _)| *l).collect();
        levels.sort();
        levels.dedup();
        levels
    };
    assert_eq!(levels("debug"), [LogLevel::Debug, LogLevel::Info, LogLevel::Warn]);
    assert_eq!(levels("info"), [LogLevel::Info, LogLevel::Warn]);
    assert_eq!(levels("warn"), [LogLevel::Warn]);
    assert_eq!(levels("error"), []);
}

/// Watches with the delay of the settings.
fn watch(engine: &Arc<Engine>) -> Receiver<IndexReport> {
    let (sender, synced) = channel();
    let sender = Mutex::new(sender);
    let sink = move |event: WatchEvent| {
        if let WatchEvent::Synced(report) = event {
            let _ = sender.lock().unwrap().send(report);
        }
    };
    engine.watch(WatchOptions { debounce: None }, Arc::new(sink)).unwrap();
    synced
}

/// The next report that tells of a file.
fn next_change(synced: &Receiver<IndexReport>) -> IndexReport {
    loop {
        let report = synced.recv_timeout(LONG).unwrap();
        if report.added + report.changed > 0 {
            return report;
        }
    }
}

#[test]
fn the_delay_of_a_watch_is_that_of_the_settings_also_of_newer_ones() {
    let place = tree();
    let delay = Duration::from_millis(1500);
    let engine = open(&place, &[("vectorDb.debounceDelay", &1500)], Parts::default());
    let engine = Arc::new(engine);
    let synced = watch(&engine);
    next_change(&synced);
    let written = Instant::now();
    fs::write(place.root.join("new.py"), "def newer(): pass\n").unwrap();
    next_change(&synced);
    assert!(written.elapsed() >= delay, "{:?}", written.elapsed());
    configure(&engine, &[("vectorDb.debounceDelay", &10_000)]);
    let written = Instant::now();
    fs::write(place.root.join("new.py"), "def newest_of_all(): pass\n").unwrap();
    configure(&engine, &[("vectorDb.debounceDelay", &100)]);
    next_change(&synced);
    assert!(written.elapsed() < Duration::from_secs(8), "{:?}", written.elapsed());
}

#[test]
fn without_background_work_a_watched_workspace_is_brought_up_to_date_by_searches() {
    let place = tree();
    let words = Words::new("words", 32);
    let (off, quick): ((&str, &dyn AsSetting), (&str, &dyn AsSetting)) =
        (("vectorDb.enableBackgroundProcessing", &false), ("vectorDb.debounceDelay", &100));
    let engine = Arc::new(open(&place, &[off, quick], with_words(&words)));
    let synced = watch(&engine);
    let found = |query: &str| sync_and_search(&engine, query).unwrap();
    assert_eq!(found("lantern").hits.len(), 1);
    // Vectors as well: nobody else would have them made.
    assert_eq!(words.n_documents(), 2);
    fs::write(place.root.join("new.py"), "def brand_new_word(): pass\n").unwrap();
    let nothing = synced.recv_timeout(Duration::from_millis(700));
    assert!(matches!(nothing, Err(RecvTimeoutError::Timeout)), "{nothing:?}");
    assert_eq!(engine.files().unwrap().len(), 2);
    let response = found("brand_new_word");
    assert_eq!(response.hits[0].path, "new.py");
    assert!(response.degraded.is_empty(), "{:?}", response.degraded);
    assert_eq!(words.n_documents(), 3);
    // Back on, by itself.
    fs::write(place.root.join("newer.py"), "def newer_word(): pass\n").unwrap();
    configure(&engine, &[quick]);
    let report = next_change(&synced);
    assert_eq!(report.files, 4);
}
