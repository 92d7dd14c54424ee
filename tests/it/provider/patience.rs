//! EM14: servers that hang, drip, cut and reset; cancelling; questions that are asked twice.

use std::thread;
use std::time::{Duration, Instant};

use sextant::embed::provider::{HttpProvider, ProviderError, Role};
use sextant::task::CancelToken;

use super::server::{Reply, Seen, Server, ok, ok_body, status};
use super::{
    check_all_right, check_right, embed, embed_until, embedder, settings, settings_for, texts,
};

const TIMEOUT: Duration = Duration::from_millis(300);

/// Time limits that a test can wait for.
fn impatient(server: &Server) -> HttpProvider {
    HttpProvider { timeout: TIMEOUT, batch_size: 5, ..settings(server) }
}

/// Every other request goes wrong.
fn every_other(wrong: impl Fn(&Seen) -> Reply) -> impl Fn(&Seen) -> Reply {
    move |seen| if seen.nth % 2 == 0 { wrong(seen) } else { ok(seen) }
}

#[test]
fn em14_requests_that_hang_are_given_up_and_the_rest_goes_on() {
    let server = Server::start(every_other(|_| Reply::Hang));
    let settings = HttpProvider { retries: 8, ..impatient(&server) };
    check_all_right(&embedder(settings), &texts(20));
}

#[test]
fn em14_the_time_limit_holds_for_a_body_that_drips() {
    let server = Server::start(every_other(|_| Reply::Drip));
    let settings = HttpProvider { retries: 8, ..impatient(&server) };
    check_all_right(&embedder(settings), &texts(20));
}

#[test]
fn em14_answers_that_are_cut_or_reset_are_asked_for_again() {
    let cut = |seen: &Seen| Reply::Cut(ok_body(seen));
    let server = Server::start(every_other(cut));
    check_all_right(&embedder(HttpProvider { retries: 8, ..impatient(&server) }), &texts(20));
    let server = Server::start(every_other(|_| Reply::Reset));
    check_all_right(&embedder(HttpProvider { retries: 8, ..impatient(&server) }), &texts(20));
}

#[test]
fn em14_one_slow_answer_does_not_hold_up_the_others() {
    let server = Server::start(|seen| {
        if seen.nth == 1 { Reply::Late(Duration::from_secs(5), ok_body(seen)) } else { ok(seen) }
    });
    let start = Instant::now();
    check_all_right(&embedder(impatient(&server)), &texts(40));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

#[test]
fn em14_a_server_that_always_hangs_ends_the_run_within_limit_times_tries() {
    let server = Server::start(|_| Reply::Hang);
    let start = Instant::now();
    let settings = HttpProvider { retries: 2, batch_size: 64, ..impatient(&server) };
    let (results, outcome) = embed(&embedder(settings), Role::Document, &texts(1));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_UNREACHABLE");
    let message = error.to_string();
    assert!(message.contains("within 300ms") && message.contains("3 times"), "{message}");
    assert!(message.contains(&server.url()) && message.contains("model m"), "{message}");
    assert!(results.iter().all(Option::is_none));
    assert!(start.elapsed() < TIMEOUT * 3 + Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(server.log().len(), 3);
}

#[test]
fn em14_cancelling_returns_at_once_and_nothing_is_sent_afterwards() {
    let server = Server::start(|seen| {
        if seen.nth == 0 || seen.texts()[0] == "after" { ok(seen) } else { Reply::Hang }
    });
    let settings =
        HttpProvider { batch_size: 1, timeout: Duration::from_secs(60), ..settings(&server) };
    let embedder = embedder(settings);
    let cancel = CancelToken::new();
    let (outcome, ended) = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let (_, outcome) = embed_until(&embedder, &cancel, Role::Document, &texts(100));
            (outcome, Instant::now())
        });
        server.await_requests(1 + 8);
        let cancelled = Instant::now();
        cancel.cancel();
        let (outcome, ended) = run.join().unwrap();
        (outcome, ended - cancelled)
    });
    assert_eq!(outcome, Err(ProviderError::Cancelled));
    assert!(ended < Duration::from_millis(500), "{ended:?}");
    // A later request is the next that arrives.
    check_all_right(&embedder, &["after".to_owned()]);
    let log = server.log();
    assert_eq!(log.len(), 1 + 8 + 1);
    assert_eq!(log[9].texts(), ["after"]);
}

#[test]
fn em14_cancelling_ends_a_wait_for_another_try() {
    let server =
        Server::start(|_| Reply::Whole(429, vec![("retry-after", "30".to_owned())], Vec::new()));
    let embedder = embedder(settings(&server));
    let cancel = CancelToken::new();
    thread::scope(|scope| {
        let run = scope.spawn(|| embed_until(&embedder, &cancel, Role::Document, &texts(1)).1);
        server.await_requests(1);
        let start = Instant::now();
        cancel.cancel();
        assert_eq!(run.join().unwrap(), Err(ProviderError::Cancelled));
        assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    });
    assert_eq!(server.log().len(), 1);
}

#[test]
fn nothing_is_sent_for_a_cancelled_token() {
    let server = Server::start(ok);
    let cancel = CancelToken::new();
    cancel.cancel();
    let (_, outcome) = embed_until(&embedder(settings(&server)), &cancel, Role::Query, &texts(1));
    assert_eq!(outcome, Err(ProviderError::Cancelled));
    assert!(server.log().is_empty());
}

#[test]
fn em14_a_question_has_its_own_time_limit_while_an_index_run_hangs() {
    let server = Server::start(|_| Reply::Hang);
    let settings = HttpProvider {
        batch_size: 1,
        timeout: Duration::from_secs(60),
        query_timeout: TIMEOUT,
        ..settings(&server)
    };
    let embedder = embedder(settings);
    let cancel = CancelToken::new();
    thread::scope(|scope| {
        let run = scope.spawn(|| embed_until(&embedder, &cancel, Role::Document, &texts(50)).1);
        server.await_requests(1);
        let start = Instant::now();
        let (_, outcome) = embed(&embedder, Role::Query, &texts(1));
        assert_eq!(outcome.unwrap_err().code(), "PROVIDER_UNREACHABLE");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
        cancel.cancel();
        assert_eq!(run.join().unwrap(), Err(ProviderError::Cancelled));
    });
}

#[test]
fn a_question_passes_an_index_run_that_fills_all_places() {
    let server = Server::start(|seen| {
        if seen.nth == 0 || seen.texts()[0] == "question" { ok(seen) } else { Reply::Hang }
    });
    let settings =
        HttpProvider { batch_size: 1, timeout: Duration::from_secs(60), ..settings(&server) };
    let embedder = embedder(settings);
    let cancel = CancelToken::new();
    thread::scope(|scope| {
        let run = scope.spawn(|| embed_until(&embedder, &cancel, Role::Document, &texts(50)).1);
        server.await_requests(1 + 8);
        let question = ["question".to_owned()];
        let (results, outcome) = embed(&embedder, Role::Query, &question);
        assert_eq!(outcome, Ok(()));
        check_right(&question, &results);
        cancel.cancel();
        assert_eq!(run.join().unwrap(), Err(ProviderError::Cancelled));
    });
}

#[test]
fn a_question_without_an_answer_is_asked_a_second_time() {
    let server = Server::start(|seen| if seen.nth == 0 { Reply::Hang } else { ok(seen) });
    let hedge_after = Some(Duration::from_millis(30));
    let embedder = embedder(HttpProvider { hedge_after, ..settings(&server) });
    let start = Instant::now();
    let (results, outcome) = embed(&embedder, Role::Query, &texts(1));
    assert_eq!(outcome, Ok(()));
    check_right(&texts(1), &results);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(server.log().len(), 2);
}

#[test]
fn documents_are_not_asked_for_twice() {
    let server = Server::start(|seen| Reply::Late(Duration::from_millis(80), ok_body(seen)));
    let hedge_after = Some(Duration::from_millis(5));
    let embedder = embedder(HttpProvider { hedge_after, ..settings(&server) });
    check_all_right(&embedder, &texts(3));
    assert_eq!(server.log().len(), 1);
}

#[test]
fn server_errors_are_tried_again_and_then_told() {
    let server = Server::start(|seen| if seen.nth < 3 { status(502, "") } else { ok(seen) });
    check_all_right(&embedder(settings(&server)), &texts(5));
    assert_eq!(server.log().len(), 4);

    let server = Server::start(|_| status(503, r#"{"error":"model is loading"}"#));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(5));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_UNREACHABLE");
    assert!(error.to_string().contains("model is loading"), "{error}");
    assert_eq!(server.log().len(), 4);
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let settings = HttpProvider { back_off: Duration::from_secs(30), ..settings_for(&url) };
    let (_, outcome) = embed(&embedder(settings), Role::Document, &texts(1));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_UNREACHABLE");
    assert!(error.to_string().contains(&url), "{error}");
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    let server = Server::start(|_| Reply::Whole(200, Vec::new(), vec![b' '; 3 << 20]));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(1));
    assert!(outcome.unwrap_err().to_string().contains("longer than"));
}

#[test]
fn a_cancelled_run_does_not_end_another() {
    let server = Server::start(|seen| match seen.texts()[0].as_str() {
        text if text.contains("number_0(") => ok(seen),
        "other" => Reply::Late(Duration::from_millis(200), ok_body(seen)),
        _ => Reply::Hang,
    });
    let settings = HttpProvider {
        batch_size: 1,
        max_concurrent: 4,
        timeout: Duration::from_secs(60),
        ..settings(&server)
    };
    let embedder = embedder(settings);
    check_all_right(&embedder, &texts(1));
    let cancel = CancelToken::new();
    let hanging = &texts(4)[1..];
    thread::scope(|scope| {
        let run = scope.spawn(|| embed_until(&embedder, &cancel, Role::Document, hanging).1);
        server.await_requests(1 + 3);
        let other = scope.spawn(|| check_all_right(&embedder, &["other".to_owned()]));
        server.await_requests(1);
        cancel.cancel();
        assert_eq!(run.join().unwrap(), Err(ProviderError::Cancelled));
        other.join().unwrap();
    });
}
