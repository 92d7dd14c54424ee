//! A change of model, two engines at once, and a run that was broken off: no text is embedded twice, and search by meaning
//! never stops.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use sextant::engine::{Engine, SearchRequest, Strategy};
use sextant::task::{CancelToken, NoProgress};

use super::{check_complete, check_found, text, tree};
use crate::provider::server::{Reply, Seen, Server, ok, status};
use crate::settings::AsSetting;
use crate::settings::providing::{gemini, open_at};
use crate::support::{Place, ask, code_of, codes, options, search, sync};

/// The texts of all requests.
fn embedded(server: &Server) -> Vec<String> {
    server.log().iter().flat_map(Seen::texts).collect()
}

/// A server whose model `new` does not work until it is told to; any other does.
struct Models {
    server: Server,
    works: Arc<AtomicBool>,
}

impl Models {
    fn start(answer: fn(&Seen) -> Reply) -> Self {
        let works = Arc::new(AtomicBool::new(false));
        let now = Arc::clone(&works);
        let server = Server::start(move |seen| {
            let is_new = Self::is_new(seen);
            match is_new && seen.texts()[0].contains("def ") && !now.load(Ordering::SeqCst) {
                true => status(503, ""),
                false => answer(seen),
            }
        });
        Self { server, works }
    }

    fn is_new(seen: &Seen) -> bool {
        seen.body["model"] == "new" || seen.path.contains("/new:")
    }

    fn open(&self, place: &Place, protocol: &'static str, model: &'static str) -> Engine {
        let settings: &[(&str, &dyn AsSetting)] =
            &[("vectorDb.embeddingModel", &protocol), ("embedding.model", &model)];
        open_at(place, &self.server.url(), settings)
    }

    /// The query is embedded by this model, and what is found is right.
    #[track_caller]
    fn check_answers(&self, engine: &Engine, is_new: bool, word: &str) {
        let query = format!("{word} marker_03");
        let response = search(engine, &ask(&query));
        assert_eq!((response.strategy, response.hits[0].path.as_str()), ("hybrid", "f03.py"));
        let last = self.server.log().into_iter().rev().find(|seen| seen.texts() == [query.clone()]);
        assert_eq!(last.map(|seen| Self::is_new(&seen)), Some(is_new), "{:?}", response.degraded);
        let reason = &response.tried.last().unwrap().reason;
        assert!(reason.contains(if is_new { ":new" } else { ":old" }), "{reason}");
    }
}

#[test]
fn the_old_vectors_serve_until_the_new_are_complete_also_after_a_restart() {
    for (protocol, answer) in
        [("local", ok as fn(&Seen) -> Reply), ("openai", ok), ("gemini", gemini)]
    {
        let models = Models::start(answer);
        let place = tree(6);
        let engine = models.open(&place, protocol, "old");
        check_complete(&sync(&engine));
        models.check_answers(&engine, false, "first");

        // While it is open.
        let url = models.server.url();
        let settings: &[(&str, &dyn AsSetting)] = &[
            ("vectorDb.embeddingModel", &protocol),
            ("embedding.model", &"new"),
            ("embedding.baseUrl", &url),
            ("embedding.requestsPerSecond", &1000),
            ("embedding.retries", &0),
        ];
        crate::settings::configure(&engine, settings);
        let report = sync(&engine);
        assert_eq!(report.texts_pending, 6);
        models.check_answers(&engine, false, "second");
        assert_eq!(codes(&search(&engine, &ask("other")).degraded), ["EMBEDDINGS_INCOMPLETE"]);
        assert!(engine.status().unwrap().model.contains(":old"), "{protocol}");

        // And after a restart.
        drop(engine);
        let engine = models.open(&place, protocol, "new");
        models.check_answers(&engine, false, "third");
        sync(&engine);
        models.check_answers(&engine, false, "fourth");

        models.works.store(true, Ordering::SeqCst);
        check_complete(&sync(&engine));
        assert!(engine.status().unwrap().model.contains(":new"));
        models.check_answers(&engine, true, "fifth");
        assert!(search(&engine, &ask("sixth")).degraded.is_empty());
        let vectors = place.stored_names();
        let n = vectors.iter().filter(|n| n.starts_with("vectors-") && n.ends_with(".db")).count();
        assert_eq!(n, 1, "those of the old model are gone: {vectors:?}");
    }
}

#[test]
fn a_provider_that_was_left_for_the_embedded_model_is_not_asked_again() {
    let before = Models::start(ok);
    let place = tree(6);
    let engine = before.open(&place, "local", "old");
    check_complete(&sync(&engine));
    crate::settings::configure(&engine, &[("vectorDb.embeddingModel", &"embedded")]);
    sync(&engine);

    let n_asked = before.server.log().len();
    let after = Models::start(ok);
    let url = after.server.url();
    let settings: &[(&str, &dyn AsSetting)] = &[
        ("vectorDb.embeddingModel", &"local"),
        ("embedding.model", &"new"),
        ("embedding.baseUrl", &url),
        ("embedding.retries", &0),
    ];
    crate::settings::configure(&engine, settings);
    assert_eq!(sync(&engine).texts_pending, 6);
    let answer = search(&engine, &ask("first marker_03"));
    assert_eq!(answer.strategy, "hybrid");
    let told = &answer.degraded[0].message;
    assert!(told.ends_with("those of the embedded model answer"), "{told}");
    assert_eq!(before.server.log().len(), n_asked);
}

#[test]
fn two_engines_on_one_storage_embed_each_text_once() {
    let server = Server::start(ok);
    let place = tree(40);
    let settings: &[(&str, &dyn AsSetting)] = &[("vectorDb.batchSize", &2)];
    let engines = [(); 2].map(|()| open_at(&place, &server.url(), settings));
    thread::scope(|scope| {
        for engine in &engines {
            scope.spawn(move || {
                loop {
                    let report = sync(engine);
                    if report.texts_pending == 0 {
                        return check_complete(&report);
                    }
                    assert_eq!(codes(&report.degraded), ["EMBEDDINGS_INCOMPLETE"]);
                    thread::yield_now();
                }
            });
        }
    });
    let mut counts: HashMap<String, usize> = HashMap::new();
    for text in embedded(&server) {
        *counts.entry(text).or_default() += 1;
    }
    assert_eq!(counts.len(), 40);
    assert!(counts.values().all(|n| *n == 1), "{counts:?}");
    for engine in &engines {
        check_found(engine, [0, 39]);
    }
}

#[test]
fn after_a_run_that_was_broken_off_only_what_is_missing_is_embedded() {
    // So many requests are answered; the others hang.
    let left = Arc::new(AtomicUsize::new(4));
    let now = Arc::clone(&left);
    let server = Server::start(move |seen| {
        match now.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => ok(seen),
            Err(_) => Reply::Hang,
        }
    });
    let place = tree(30);
    let settings: &[(&str, &dyn AsSetting)] =
        &[("vectorDb.batchSize", &3), ("embedding.maxConcurrent", &1)];
    let engine = open_at(&place, &server.url(), settings);
    let cancel = CancelToken::new();
    thread::scope(|scope| {
        let run = scope.spawn(|| engine.sync(&cancel, &NoProgress));
        server.await_requests(4 + 1);
        cancel.cancel();
        assert_eq!(code_of(run.join().unwrap()), "CANCELLED");
    });
    drop(engine);
    left.store(1000, Ordering::SeqCst);
    let before = embedded(&server).len();
    let engine = open_at(&place, &server.url(), settings);
    let report = sync(&engine);
    check_complete(&report);
    assert_eq!((report.texts_embedded, embedded(&server).len() - before), (18, 18));
    check_found(&engine, 0..30);
    // What another workspace of the same user has embedded is not embedded again.
    let n = server.log().len();
    let copy = place.top.join("copy");
    for at in 0..30 {
        place.write_at(&copy.join(format!("g{at:02}.py")), format!("{}\n", text(at)));
    }
    let mut elsewhere = options(&[copy], &place.top.join("elsewhere"));
    let url = server.url();
    let settings: &[(&str, &dyn AsSetting)] = &[
        ("vectorDb.embeddingModel", &"local"),
        ("embedding.baseUrl", &url),
        ("embedding.model", &"m"),
    ];
    crate::settings::set(&mut elsewhere.config, settings);
    let engine = Engine::open(elsewhere).unwrap();
    let report = sync(&engine);
    assert_eq!((report.texts_embedded, report.texts_reused), (0, 30));
    assert_eq!(server.log().len(), n);
    let request = SearchRequest { strategy: Strategy::Embeddings, ..ask(&text(7)) };
    assert_eq!(search(&engine, &request).hits[0].path, "g07.py");
}
