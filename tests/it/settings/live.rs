//! Settings take effect while a workspace is open, and answers are kept until something changes.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sextant::engine::{Engine, Parts, SearchRequest, Strategy};
use sextant::query::rewrite::{Completion, LanguageModel, ModelError};
use sextant::task::CancelToken;

use super::ranking::{Near, opposites};
use super::{configure, open, paths};
use crate::support::{Place, ask, finds, search, sync};

#[test]
fn an_answer_is_kept_until_files_settings_or_roots_change() {
    let place = opposites();
    let engine = place.index();
    let is_cached = || search(&engine, &ask("lantern")).is_cached;
    assert_eq!([is_cached(), is_cached()], [false, true]);
    let first = search(&engine, &ask("lantern"));
    assert_eq!(paths(&first), paths(&search(&engine, &ask("lantern"))));
    assert!(!search(&engine, &SearchRequest { limit: Some(1), ..ask("lantern") }).is_cached);
    // Nothing changed.
    sync(&engine);
    assert!(is_cached());
    place.write("new.py", "def lantern_new():\n    return 1\n");
    sync(&engine);
    assert_eq!([is_cached(), is_cached()], [false, true]);
    assert!(paths(&search(&engine, &ask("lantern"))).contains(&"new.py"));
    configure(&engine, &[("hybridSearch.topK", &4)]);
    assert_eq!([is_cached(), is_cached()], [false, true]);
    let other = place.top.join("other");
    place.write_at(&other.join("x.py"), "def lantern_other():\n    return 1\n");
    engine.set_roots(&[place.root.clone(), other]).unwrap();
    sync(&engine);
    assert_eq!([is_cached(), is_cached()], [false, true]);
    configure(&engine, &[("vectorDb.cacheEnabled", &false)]);
    assert_eq!([is_cached(), is_cached()], [false, false]);
}

#[test]
fn settings_take_effect_with_the_next_search() {
    let place = opposites();
    let engine = open(&place, &[], Near::parts());
    sync(&engine);
    let n = || {
        let request = SearchRequest { limit: None, strategy: Strategy::Hybrid, ..ask("lantern") };
        search(&engine, &request).hits.len()
    };
    assert!(n() > 1);
    configure(&engine, &[("hybridSearch.topK", &1)]);
    assert_eq!(n(), 1);
    configure(&engine, &[]);
    assert!(n() > 1);
    // Which files are ours is a setting as well, and takes effect with the next run.
    let mut config = super::config(&[]);
    config.walk.exclude = vec!["words.py".into()];
    engine.configure(&config).unwrap();
    sync(&engine);
    assert!(!finds(&engine, "'lantern lantern lantern'"));
}

#[test]
fn other_settings_do_not_have_a_query_embedded_again() {
    let place = opposites();
    let words = crate::provided::Words::new("words", 32);
    let parts = Parts { embedder: Some(Arc::clone(&words) as Arc<_>), ..Parts::default() };
    let engine = open(&place, &[], parts);
    sync(&engine);
    search(&engine, &ask("lantern"));
    configure(&engine, &[("vectorDb.logLevel", &"error"), ("hybridSearch.topK", &2)]);
    assert!(!search(&engine, &ask("lantern")).is_cached);
    assert_eq!(words.n_queries(), 1);
}

/// Says that it was asked, and answers when it is told to.
#[derive(Debug)]
struct Gate {
    asked: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
}

impl LanguageModel for Gate {
    fn complete(&self, _: &CancelToken, _: &Completion) -> Result<String, ModelError> {
        self.asked.lock().unwrap().send(()).unwrap();
        self.go_on.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
        Ok("## Question\nlantern\n\n## Keywords\n- lantern\n".into())
    }
}

#[test]
fn an_answer_that_older_settings_gave_is_not_kept_for_newer_ones() {
    let place = opposites();
    let (asked, is_asked) = channel();
    let (go_on, may_go_on) = channel();
    let gate = Gate { asked: Mutex::new(asked), go_on: Mutex::new(may_go_on) };
    let parts = Parts { language_model: Some(Arc::new(gate)), ..Parts::default() };
    let engine: Engine = open(&place, &[("query.wait", &60_000)], parts);
    sync(&engine);
    let request = SearchRequest { limit: None, strategy: Strategy::Hybrid, ..ask("lantern") };
    std::thread::scope(|scope| {
        let search_before = scope.spawn(|| search(&engine, &request));
        is_asked.recv_timeout(Duration::from_secs(20)).unwrap();
        configure(&engine, &[("hybridSearch.topK", &1), ("query.wait", &60_000)]);
        go_on.send(()).unwrap();
        assert!(search_before.join().unwrap().hits.len() > 1);
        go_on.send(()).unwrap();
        let after = search(&engine, &request);
        assert_eq!((after.hits.len(), after.is_cached), (1, false));
    });
}

#[test]
fn what_an_index_is_made_with_is_for_opening() {
    let place = Place::new(&[("a.py", "def lantern(): pass\n")]);
    let engine = place.index();
    let mut config = super::config(&[]);
    config.use_syntax = false;
    let error = engine.configure(&config).unwrap_err();
    assert_eq!(error.code(), "INVALID_ARGUMENT");
}
