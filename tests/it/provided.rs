//! Vectors of a provider: made once, retried until they are there, never mixed with those of another model.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sextant::embed::provider::{
    Deliver, Embedder, EmbeddingModel, ProviderError, RefusedText, Role,
};
use sextant::engine::{Engine, Outcome, SearchRequest, SearchResponse, Strategy};
use sextant::task::CancelToken;

use crate::support::{Place, ask, code_of, codes, options, search, sync, sync_and_search};

/// A model that knows words: texts that share words are near.
#[derive(Debug)]
pub struct Words {
    model: EmbeddingModel,
    metered: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub struct State {
    documents: Vec<String>,
    queries: Vec<String>,
    /// Texts with this word are refused.
    pub refused: Option<&'static str>,
    /// After so many texts, all fails.
    pub fails_after: Option<usize>,
    /// Queries hang until they are cancelled, or this time is over.
    pub hangs: Option<Duration>,
    /// Texts hang as well.
    pub hangs_for_texts: bool,
}

impl Words {
    pub fn new(name: &str, dimensions: usize) -> Arc<Self> {
        Self::with(name, dimensions, false)
    }

    fn with(name: &str, dimensions: usize, metered: bool) -> Arc<Self> {
        let model = EmbeddingModel {
            provider: "callback",
            name: name.into(),
            address: String::new(),
            dimensions: Some(dimensions),
        };
        Arc::new(Self { model, metered, state: Mutex::default() })
    }

    pub fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
    }

    pub fn n_documents(&self) -> usize {
        self.state.lock().unwrap().documents.len()
    }

    pub fn n_queries(&self) -> usize {
        self.state.lock().unwrap().queries.len()
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let n = self.model.dimensions.unwrap();
        let mut vector = vec![0.01f32; n];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
            let hash = word.bytes().fold(7usize, |hash, byte| hash * 31 + byte as usize);
            vector[hash % n] += 1.0;
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

impl Embedder for Words {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_metered(&self) -> bool {
        self.metered
    }

    fn embed(
        &self,
        cancel: &CancelToken,
        role: Role,
        texts: &[&str],
        deliver: &mut Deliver<'_>,
    ) -> Result<(), ProviderError> {
        let (hangs, also_texts) = {
            let state = self.state.lock().unwrap();
            (state.hangs, state.hangs_for_texts)
        };
        if let Some(longest) = hangs.filter(|_| role == Role::Query || also_texts) {
            let due = Instant::now() + longest;
            while Instant::now() < due {
                if cancel.is_cancelled() {
                    return Err(ProviderError::Cancelled);
                }
                std::thread::park_timeout(Duration::from_millis(5));
            }
        }
        for (at, text) in texts.iter().enumerate() {
            if cancel.is_cancelled() {
                return Err(ProviderError::Cancelled);
            }
            let mut state = self.state.lock().unwrap();
            if state.fails_after.is_some_and(|n| state.documents.len() >= n) {
                return Err(ProviderError::Unreachable {
                    address: "http://nowhere".into(),
                    reason: "it is down".into(),
                });
            }
            match role {
                Role::Query => state.queries.push((*text).to_owned()),
                Role::Document => state.documents.push((*text).to_owned()),
            }
            let is_refused = state.refused.is_some_and(|word| text.contains(word));
            drop(state);
            deliver(
                at,
                match is_refused {
                    true => Err(RefusedText { reason: "it is not liked".into() }),
                    false => Ok(self.vector(text)),
                },
            );
        }
        Ok(())
    }
}

fn open(place: &Place, embedder: &Arc<Words>) -> Engine {
    let mut options = place.options();
    options.parts.embedder = Some(Arc::clone(embedder) as Arc<dyn Embedder>);
    Engine::open(options).unwrap()
}

fn tree() -> Place {
    let place = Place::new(&[]);
    for (name, words) in [
        ("wagon", "horses pull the heavy wagon across muddy fields"),
        ("kettle", "boiling water whistles within the copper kettle"),
        ("anchor", "sailors drop their iron anchor near the harbour"),
        ("violin", "strings vibrate below the bow and the violin sings"),
    ] {
        place.write(&format!("{name}.py"), format!("def {name}():\n    \"\"\"{words}\"\"\"\n"));
    }
    place
}

fn by_meaning(engine: &Engine, query: &str) -> SearchResponse {
    search(engine, &SearchRequest { strategy: Strategy::Embeddings, ..ask(query) })
}

#[track_caller]
fn check_first(response: &SearchResponse, path: &str) {
    let paths: Vec<&str> = response.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths.first(), Some(&path), "{paths:?} {:?}", response.tried);
}

#[test]
fn texts_are_embedded_once_and_queries_are_kept() {
    let place = tree();
    let words = Words::new("words", 64);
    let engine = open(&place, &words);
    let report = sync(&engine);
    assert_eq!((report.texts_embedded, report.texts_reused, report.texts_pending), (4, 0, 0));
    assert!(engine.status().unwrap().model.contains("words"));
    check_first(&by_meaning(&engine, "whistles copper"), "kettle.py");
    check_first(&by_meaning(&engine, "iron harbour"), "anchor.py");
    check_first(&by_meaning(&engine, "whistles copper"), "kettle.py");
    assert_eq!(words.n_queries(), 2);
    // Nothing changed, one file changed, one was renamed.
    assert_eq!(sync(&engine).texts_embedded, 0);
    place.write("wagon.py", "def wagon():\n    \"\"\"oxen draw a cart\"\"\"\n");
    assert_eq!(sync(&engine).texts_embedded, 1);
    std::fs::rename(place.root.join("violin.py"), place.root.join("fiddle.py")).unwrap();
    assert_eq!(sync(&engine).texts_embedded, 0);
    check_first(&by_meaning(&engine, "strings bow"), "fiddle.py");
    assert_eq!(words.n_documents(), 5);
    // Another process, and another index of the same user.
    drop(engine);
    assert_eq!(sync(&open(&place, &words)).texts_embedded, 0);
    let mut elsewhere = options(std::slice::from_ref(&place.root), &place.top.join("elsewhere"));
    elsewhere.parts.embedder = Some(Arc::clone(&words) as Arc<dyn Embedder>);
    let report = sync(&Engine::open(elsewhere).unwrap());
    assert_eq!((report.texts_embedded, report.texts_reused), (0, 4));
}

#[test]
fn what_fails_is_retried_and_the_embedded_model_answers_until_then() {
    let place = tree();
    let words = Words::new("words", 64);
    words.change(|state| state.fails_after = Some(2));
    let engine = open(&place, &words);
    let report = sync(&engine);
    assert_eq!((report.texts_embedded, report.texts_pending), (2, 2));
    assert_eq!(codes(&report.degraded), ["PROVIDER_UNREACHABLE"]);
    assert!(engine.status().unwrap().model.contains("codestatic"));
    let response = search(&engine, &ask("where do sailors drop iron"));
    assert_eq!(
        (response.strategy, codes(&response.degraded)),
        ("hybrid", vec!["EMBEDDINGS_INCOMPLETE"])
    );
    check_first(&response, "anchor.py");
    assert_eq!(words.n_queries(), 0, "vectors of two models are never compared");
    words.change(|state| state.fails_after = None);
    let report = sync(&engine);
    assert_eq!((report.texts_embedded, report.texts_pending), (2, 0));
    let response = search(&engine, &ask("where do sailors drop iron"));
    assert!(response.degraded.is_empty());
    assert!(response.tried.last().unwrap().reason.contains("callback:words (64)"));
    assert_eq!(words.n_queries(), 1);
}

#[test]
fn a_refused_text_fails_alone_and_is_asked_for_again() {
    let place = tree();
    let words = Words::new("words", 64);
    words.change(|state| state.refused = Some("kettle"));
    let engine = open(&place, &words);
    let report = sync(&engine);
    assert_eq!((report.texts_embedded, report.texts_pending), (3, 0));
    assert_eq!(codes(&report.degraded), ["TEXTS_REFUSED"]);
    assert!(report.degraded[0].message.contains("kettle.py (it is not liked)"));
    check_first(&by_meaning(&engine, "horses fields"), "wagon.py");
    // Nothing more is to come, and who asks again is told the same without a further request.
    let response = search(&engine, &ask("boiling water"));
    assert!(response.degraded.is_empty(), "{:?}", response.degraded);
    check_first(&response, "kettle.py");
    let n_asked = words.n_documents();
    sync_and_search(&engine, "horses").unwrap();
    assert_eq!(words.n_documents(), n_asked);
    words.change(|state| state.refused = None);
    assert_eq!(sync(&engine).texts_embedded, 1);
    check_first(&by_meaning(&engine, "boiling water"), "kettle.py");
}

#[test]
fn another_model_takes_over_once_it_is_complete() {
    let place = tree();
    let old = Words::new("old", 64);
    sync(&open(&place, &old));
    let new = Words::new("new", 32);
    new.change(|state| state.fails_after = Some(3));
    let engine = open(&place, &new);
    let report = sync(&engine);
    assert_eq!((report.texts_embedded, report.texts_pending), (3, 1));
    // The old one is not there to embed a query, so the embedded model answers.
    assert_eq!(codes(&search(&engine, &ask("iron anchor")).degraded), ["EMBEDDINGS_INCOMPLETE"]);
    let n_files = || {
        let names = std::fs::read_dir(&place.storage).unwrap();
        names.filter(|e| e.as_ref().unwrap().path().extension().is_some_and(|x| x == "db")).count()
    };
    assert_eq!(n_files(), 3, "the index and two models");
    new.change(|state| state.fails_after = None);
    assert_eq!(sync(&engine).texts_embedded, 1);
    assert_eq!(n_files(), 3, "another program may still use the old one");
    check_first(&by_meaning(&engine, "iron harbour"), "anchor.py");
}

#[test]
fn a_slow_provider_does_not_hold_up_a_search() {
    let place = tree();
    let words = Words::new("words", 64);
    let engine = open(&place, &words);
    sync(&engine);
    words.change(|state| state.hangs = Some(Duration::from_secs(60)));
    let mut config = place.options().config;
    config.settings.embedding.query_timeout = Duration::from_millis(50);
    engine.configure(&config).unwrap();
    for _ in 0..3 {
        let started = Instant::now();
        let response = search(&engine, &ask("whistles within copper"));
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        assert_eq!(
            (response.strategy, codes(&response.degraded)),
            ("tfidf", vec!["EMBEDDINGS_UNAVAILABLE"])
        );
        check_first(&response, "kettle.py");
        let outcomes: Vec<_> = response.tried.iter().map(|t| (t.strategy, t.outcome)).collect();
        assert_eq!(outcomes[0], ("full", Outcome::Skipped));
        assert_eq!(outcomes[1], ("remote", Outcome::Skipped));
        assert!(matches!(outcomes[2], ("hybrid", Outcome::TimedOut | Outcome::Failed)));
        assert_eq!(outcomes[3], ("tfidf", Outcome::Answered));
    }
    // Without words there is no answer, which is said.
    config.settings.vector_db.fallback_to_keyword_search = false;
    config.settings.cascade.fallback_vectors = false;
    config.settings.cascade.fallback_text = false;
    config.settings.cascade.fallback_common_files = false;
    engine.configure(&config).unwrap();
    let response = search(&engine, &ask("whistles within copper"));
    assert!(response.hits.is_empty());
    assert_eq!(codes(&response.degraded), ["EMBEDDINGS_UNAVAILABLE"]);
    let cancel = CancelToken::new();
    cancel.cancel();
    assert_eq!(code_of(engine.search(&cancel, &ask("another question"))), "CANCELLED");
}

#[test]
fn a_paid_provider_is_not_asked_for_a_large_workspace_unless_allowed() {
    let place = tree();
    let words = Words::with("words", 64, true);
    let engine = open(&place, &words);
    let mut config = place.options().config;
    let embedding = &mut config.settings.embedding;
    assert_eq!((embedding.max_files, embedding.max_files_allowed), (750, 50_000));
    embedding.max_files = 3;
    engine.configure(&config).unwrap();
    let report = sync(&engine);
    assert_eq!((codes(&report.degraded), words.n_documents()), (vec!["EMBEDDINGS_LIMIT"], 0));
    let answer = search(&engine, &ask("boiling water"));
    check_first(&answer, "kettle.py");
    let told = &answer.degraded[0].message;
    assert!(told.contains("set embedding.allowLarge"), "{told}");
    config.settings.embedding.allow_large = true;
    engine.configure(&config).unwrap();
    assert_eq!(sync(&engine).texts_embedded, 4);
    config.settings.embedding.max_files_allowed = 3;
    engine.configure(&config).unwrap();
    place.write("new.py", "def new(): pass\n");
    assert_eq!(codes(&sync(&engine).degraded), ["EMBEDDINGS_LIMIT"]);
}

#[test]
fn vectors_of_hidden_and_cleared_text_are_gone() {
    let place = tree();
    let words = Words::new("words", 64);
    let engine = open(&place, &words);
    sync(&engine);
    let n_vectors = || {
        let path = std::fs::read_dir(&place.storage).unwrap().flatten().map(|entry| entry.path());
        let path = path
            .into_iter()
            .find(|p| p.extension().is_some_and(|x| x == "db") && !p.ends_with("index.db"));
        path.map(|path| {
            let connection = rusqlite::Connection::open(path).unwrap();
            let sql = "SELECT count(*) FROM vectors";
            connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
        })
    };
    assert_eq!(n_vectors(), Some(4));
    place.write(".sextantignore", "kettle.py\n");
    sync(&engine);
    assert_eq!(n_vectors(), Some(4), "one went, that of the rules came");
    engine.clear().unwrap();
    assert_eq!(n_vectors(), None);
    assert_eq!(sync(&engine).texts_reused, 4);
}

#[test]
fn every_root_of_a_search_is_ranked_as_if_embedded_anew() {
    let place = tree();
    let words = Words::new("words", 64);
    let engine = open(&place, &words);
    sync(&engine);
    for round in 0..6 {
        place.write(
            &format!("new_{round}.py"),
            format!("def part_{round}():\n    return 'horses {round}'\n"),
        );
        place.write("wagon.py", format!("def wagon():\n    \"\"\"cart {round} horses\"\"\"\n"));
        sync(&engine);
    }
    let mut fresh = options(std::slice::from_ref(&place.root), &place.top.join("fresh"));
    fresh.parts.embedder = Some(Words::new("words", 64) as Arc<dyn Embedder>);
    let fresh = Engine::open(fresh).unwrap();
    sync(&fresh);
    let mut seen = HashSet::new();
    for query in ["horses", "cart horses", "iron harbour", "part"] {
        for strategy in [Strategy::Embeddings, Strategy::Hybrid, Strategy::Tfidf] {
            let request = SearchRequest { strategy, limit: Some(50), ..ask(query) };
            let hits = |engine: &Engine| -> Vec<(String, u32, String)> {
                let found = search(engine, &request).hits;
                found
                    .into_iter()
                    .map(|h| (h.path, h.start_line, format!("{:.5}", h.score)))
                    .collect()
            };
            let found = hits(&engine);
            assert_eq!(found, hits(&fresh), "{query} {strategy:?}");
            seen.extend(found);
        }
    }
    assert!(seen.len() > 8);
}

#[test]
fn a_damaged_file_of_vectors_costs_the_vectors_and_nothing_else() {
    let place = tree();
    let words = Words::new("words", 64);
    sync(&open(&place, &words));
    let vectors = || {
        let names = std::fs::read_dir(&place.storage).unwrap().flatten().map(|entry| entry.path());
        let is_it = |path: &std::path::PathBuf| {
            path.extension().is_some_and(|x| x == "db") && !path.ends_with("index.db")
        };
        names.into_iter().find(is_it).unwrap()
    };
    std::fs::write(vectors(), vec![7; 8192]).unwrap();
    let engine = open(&place, &words);
    let response = search(&engine, &ask("boiling water"));
    check_first(&response, "kettle.py");
    assert_eq!(codes(&response.degraded), ["EMBEDDINGS_INCOMPLETE"]);
    assert!(place.set_aside().is_empty(), "the index is not damaged");
    let report = sync(&engine);
    assert_eq!((report.texts_reused, report.texts_pending), (4, 0));
    check_first(&by_meaning(&engine, "iron harbour"), "anchor.py");
}

#[test]
fn an_index_that_is_built_anew_never_gets_the_vectors_of_the_old_one() {
    let place = tree();
    let words = Words::new("words", 64);
    let engine = open(&place, &words);
    sync(&engine);
    check_first(&by_meaning(&engine, "iron harbour"), "anchor.py");
    // The same numbers of segments and states, of other texts in another order.
    place.remove("anchor.py");
    place.write("a_new.py", "def first():\n    \"\"\"sailors sing\"\"\"\n");
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(place.storage.join(format!("index.db{suffix}")));
    }
    sync(&engine);
    check_first(&by_meaning(&engine, "sailors sing"), "a_new.py");
    check_first(&by_meaning(&engine, "whistles copper"), "kettle.py");
}

#[test]
fn an_empty_workspace_is_not_complete() {
    let place = Place::new(&[]);
    let words = Words::new("words", 64);
    let engine = open(&place, &words);
    sync(&engine);
    place.write("kettle.py", "def kettle():\n    \"\"\"boiling water\"\"\"\n");
    words.change(|state| state.fails_after = Some(0));
    sync(&engine);
    let response = search(&engine, &ask("boiling water"));
    assert_eq!(
        (response.strategy, codes(&response.degraded)),
        ("hybrid", vec!["EMBEDDINGS_INCOMPLETE"])
    );
}

#[test]
fn a_search_that_syncs_waits_for_missing_vectors_no_longer_than_is_set() {
    let place = tree();
    let words = Words::new("words", 64);
    words.change(|state| {
        state.hangs = Some(Duration::from_secs(60));
        state.hangs_for_texts = true;
    });
    let engine = open(&place, &words);
    let mut config = place.options().config;
    config.settings.cascade.embeddings_wait = Duration::from_millis(100);
    engine.configure(&config).unwrap();
    let started = Instant::now();
    let response = sync_and_search(&engine, "boiling water").unwrap();
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    check_first(&response, "kettle.py");
    assert_eq!(codes(&response.degraded), ["EMBEDDINGS_INCOMPLETE"]);
    // What was not made is not lost.
    words.change(|state| state.hangs = None);
    assert_eq!(sync(&engine).texts_embedded, 4);
}
