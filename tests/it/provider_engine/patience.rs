//! EM14: servers that hang, drip, cut and are slow. Runs end, pauses and cancellations are at once, and searches go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sextant::engine::{Outcome, WatchEvent, WatchOptions};
use sextant::task::{CancelToken, NoProgress};

use super::{check_complete, check_found, tree};
use crate::provider::server::{Reply, Seen, Server, ok, ok_body};
use crate::settings::AsSetting;
use crate::settings::providing::open_at;
use crate::support::{ask, code_of, codes, search, sync};

/// Time limit of a request.
const LIMIT: i32 = 200;

#[test]
fn em14_a_run_goes_on_where_every_other_request_is_never_answered_whole() {
    let hang: fn(&Seen) -> Reply = |_| Reply::Hang;
    let drip: fn(&Seen) -> Reply = |_| Reply::Drip;
    let cut: fn(&Seen) -> Reply = |seen| Reply::Cut(ok_body(seen));
    let slow: fn(&Seen) -> Reply = |seen| Reply::Late(Duration::from_secs(9), ok_body(seen));
    for wrong in [hang, drip, cut, slow] {
        let server =
            Server::start(move |seen| if seen.nth % 2 == 1 { wrong(seen) } else { ok(seen) });
        let place = tree(4);
        let settings: &[(&str, &dyn AsSetting)] =
            &[("embedding.timeout", &LIMIT), ("embedding.retries", &5), ("vectorDb.batchSize", &2)];
        let engine = open_at(&place, &server.url(), settings);
        let started = Instant::now();
        check_complete(&sync(&engine));
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        assert!(engine.status().unwrap().model.contains("local:m"));
    }
}

#[test]
fn em14_a_server_that_always_hangs_ends_the_run_and_the_rest_is_missing() {
    let server = Server::start(|seen| if seen.nth == 0 { ok(seen) } else { Reply::Hang });
    let place = tree(20);
    let settings: &[(&str, &dyn AsSetting)] = &[
        ("embedding.timeout", &LIMIT),
        ("embedding.retries", &1),
        ("vectorDb.batchSize", &5),
        ("embedding.maxConcurrent", &1),
    ];
    let engine = open_at(&place, &server.url(), settings);
    let started = Instant::now();
    let report = sync(&engine);
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    assert_eq!(codes(&report.degraded), ["PROVIDER_UNREACHABLE"]);
    assert_eq!((report.texts_embedded, report.texts_pending), (5, 15));
    assert_eq!(engine.status().unwrap().last_error.unwrap().code, "PROVIDER_UNREACHABLE");
}

/// Hangs from the second request on, for minutes.
fn hanging() -> (Server, [(&'static str, &'static dyn AsSetting); 3]) {
    let server = Server::start(|seen| if seen.nth == 0 { ok(seen) } else { Reply::Hang });
    let settings: [(&str, &dyn AsSetting); 3] = [
        ("embedding.timeout", &120_000),
        ("vectorDb.batchSize", &1),
        ("embedding.maxConcurrent", &2),
    ];
    (server, settings)
}

#[test]
fn em14_searches_are_answered_while_the_server_hangs_and_a_pause_is_at_once() {
    let (server, settings) = hanging();
    let place = tree(20);
    let engine = open_at(&place, &server.url(), &settings);
    let mut times = Vec::new();
    thread::scope(|scope| {
        let run = scope.spawn(|| engine.sync(&CancelToken::new(), &NoProgress));
        server.await_requests(1 + 2);
        for at in 0..20 {
            let started = Instant::now();
            let response = search(&engine, &ask(&format!("marker_{at:02}")));
            times.push(started.elapsed());
            assert_eq!(response.hits[0].path, format!("f{at:02}.py"));
            assert_eq!(codes(&response.degraded), ["EMBEDDINGS_INCOMPLETE"]);
        }
        let n = server.log().len();
        let started = Instant::now();
        engine.pause().unwrap();
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        assert_eq!(code_of(run.join().unwrap()), "INDEX_PAUSED");
        search(&engine, &ask("marker_01"));
        assert_eq!(server.log().len(), n, "no request follows");
    });
    times.sort();
    assert!(times[18] < Duration::from_secs(1), "{times:?}");
}

#[test]
fn em14_a_cancelled_run_and_a_closed_engine_return_at_once() {
    for is_closed in [false, true] {
        let (server, settings) = hanging();
        let place = tree(20);
        let engine = open_at(&place, &server.url(), &settings);
        let cancel = CancelToken::new();
        thread::scope(|scope| {
            let run = scope.spawn(|| engine.sync(&cancel, &NoProgress));
            server.await_requests(1 + 2);
            let n = server.log().len();
            let started = Instant::now();
            if is_closed {
                engine.close();
            } else {
                cancel.cancel();
            }
            let code = code_of(run.join().unwrap());
            assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
            assert!(["CANCELLED", "CLOSED"].contains(&code), "{code}");
            assert_eq!(server.log().len(), n, "no request follows");
        });
    }
}

/// What has vectors made beside a watch is stopped like a run.
#[test]
fn em14_a_pause_and_an_end_of_a_watch_do_not_wait_for_the_server() {
    let (server, settings) = hanging();
    let place = tree(20);
    let engine = Arc::new(open_at(&place, &server.url(), &settings));
    let ignore = |_: WatchEvent| {};
    engine.watch(WatchOptions { debounce: None }, Arc::new(ignore)).unwrap();
    server.await_requests(1 + 2);
    let n = server.log().len();
    let started = Instant::now();
    engine.pause().unwrap();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(server.log().len(), n, "no request follows");
    let started = Instant::now();
    engine.unwatch();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(server.log().len(), n);
}

#[test]
fn em14_a_complete_workspace_is_answered_by_words_once_queries_hang() {
    let hangs = Arc::new(AtomicBool::new(false));
    let now = Arc::clone(&hangs);
    let server = Server::start(move |seen| match now.load(Ordering::SeqCst) {
        true => Reply::Hang,
        false => ok(seen),
    });
    let place = tree(20);
    let engine = open_at(&place, &server.url(), &[("embedding.queryTimeout", &150)]);
    check_complete(&sync(&engine));
    check_found(&engine, [3]);
    hangs.store(true, Ordering::SeqCst);
    let mut times = Vec::new();
    for at in 0..20 {
        let started = Instant::now();
        let response = search(&engine, &ask(&format!("marker_{at:02}")));
        times.push(started.elapsed());
        assert_eq!(
            (response.strategy, response.hits[0].path.clone()),
            ("tfidf", format!("f{at:02}.py"))
        );
        assert_eq!(codes(&response.degraded), ["EMBEDDINGS_UNAVAILABLE"]);
        let outcome = crate::settings::tried(&response, "hybrid").outcome;
        assert!(matches!(outcome, Outcome::TimedOut | Outcome::Failed));
    }
    times.sort();
    assert!(times[18] < Duration::from_secs(1), "{times:?}");
    assert!(times[10] < Duration::from_millis(100), "one that failed is left alone: {times:?}");
}
