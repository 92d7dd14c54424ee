//! Servers that allow only so many requests.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use sextant::embed::provider::{HttpProvider, Role};

use super::server::{Reply, Seen, Server, ok, status};
use super::{check_all_right, embed, embedder, settings, texts};

fn limited(header: (&'static str, String)) -> Reply {
    Reply::Whole(429, vec![header], br#"{"error":"slow down"}"#.to_vec())
}

/// Times between the requests of a log.
fn gaps(log: &[Seen]) -> Vec<Duration> {
    log.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
}

#[test]
fn retry_after_is_kept_in_seconds() {
    let server = Server::start(|seen| {
        if seen.nth == 0 { limited(("retry-after", "1".to_owned())) } else { ok(seen) }
    });
    check_all_right(&embedder(settings(&server)), &texts(3));
    let gaps = gaps(&server.log());
    assert_eq!(gaps.len(), 1);
    assert!(gaps[0] >= Duration::from_secs(1) && gaps[0] < Duration::from_secs(5), "{gaps:?}");
}

#[test]
fn retry_after_is_kept_as_a_date() {
    // A time in the past means now; without a wait of its own, the back-off would be half a minute.
    let past = "Sun, 06 Nov 1994 08:49:37 GMT".to_owned();
    let server = Server::start(move |seen| {
        if seen.nth == 0 { limited(("retry-after", past.clone())) } else { ok(seen) }
    });
    let start = Instant::now();
    let settings = HttpProvider { back_off: Duration::from_secs(60), ..settings(&server) };
    check_all_right(&embedder(settings), &texts(3));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn one_refusal_stops_the_whole_queue() {
    let wait = Duration::from_millis(400);
    let server = Server::start(move |seen| {
        if seen.nth == 4 { limited(("retry-after-ms", "400".to_owned())) } else { ok(seen) }
    });
    let settings = HttpProvider { batch_size: 1, per_second: 100.0, ..settings(&server) };
    check_all_right(&embedder(settings), &texts(12));
    let log = server.log();
    assert_eq!(log.len(), 13, "one request was wasted");
    let refused = log.iter().find(|seen| seen.nth == 4).unwrap().at;
    let in_pause = log
        .iter()
        .filter(|seen| seen.at > refused + Duration::from_millis(100) && seen.at < refused + wait);
    assert_eq!(in_pause.count(), 0);
}

#[test]
fn a_limit_is_learned_so_that_few_requests_are_wasted() {
    // Twenty requests a second, of which ten may come at once.
    let bucket = Mutex::new((10.0_f64, Instant::now()));
    let server = Server::start(move |seen| {
        let mut bucket = bucket.lock().unwrap();
        let (left, at) = *bucket;
        let left = (left + at.elapsed().as_secs_f64() * 20.0).min(10.0);
        *bucket = ((left - 1.0).max(left.min(0.0)), Instant::now());
        if left >= 1.0 {
            return ok(seen);
        }
        *bucket = (left, Instant::now());
        status(429, "")
    });
    let settings = HttpProvider {
        batch_size: 1,
        per_second: 40.0,
        back_off: Duration::from_millis(100),
        ..settings(&server)
    };
    check_all_right(&embedder(settings), &texts(60));
    let wasted = server.log().len() - 60;
    assert!(wasted <= 12, "{wasted} of 60");
}

#[test]
fn requests_leave_evenly_at_the_rate_that_is_set() {
    let server = Server::start(ok);
    let settings = HttpProvider { batch_size: 1, per_second: 40.0, ..settings(&server) };
    let start = Instant::now();
    check_all_right(&embedder(settings), &texts(11));
    assert!(start.elapsed() >= Duration::from_millis(245), "{:?}", start.elapsed());
}

#[test]
fn announced_limits_are_not_run_into() {
    let server = Server::start(|seen| {
        let Reply::Whole(status, _, body) = ok(seen) else { unreachable!() };
        let left = if seen.nth == 2 { "0" } else { "50" };
        let headers = vec![
            ("x-ratelimit-remaining", left.to_owned()),
            ("x-ratelimit-reset", "0.4".to_owned()),
        ];
        Reply::Whole(status, headers, body)
    });
    let settings = HttpProvider { batch_size: 1, max_concurrent: 1, ..settings(&server) };
    check_all_right(&embedder(settings), &texts(6));
    let gaps = gaps(&server.log());
    assert!(gaps[2] >= Duration::from_millis(390), "{gaps:?}");
}

#[test]
fn a_403_is_tried_again_only_if_it_is_about_the_rate() {
    let server = Server::start(|seen| {
        if seen.nth == 0 {
            status(403, r#"{"message":"API rate limit exceeded"}"#)
        } else {
            ok(seen)
        }
    });
    check_all_right(&embedder(settings(&server)), &texts(3));

    let server = Server::start(|_| status(403, r#"{"message":"this key has no access"}"#));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(3));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_REFUSED");
    assert!(error.to_string().contains("no access"));
    assert_eq!(server.log().len(), 1);
}

#[test]
fn a_server_that_limits_for_ever_is_given_up() {
    let server = Server::start(|_| status(429, r#"{"error":"slow down"}"#));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(3));
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("429") && message.contains("slow down"), "{message}");
    assert_eq!(server.log().len(), 4);
}

#[test]
fn a_quota_that_is_used_up_is_told_at_once() {
    let server = Server::start(|_| {
        status(429, r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#)
    });
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(3));
    assert!(outcome.unwrap_err().to_string().contains("pay"));
    assert_eq!(server.log().len(), 1);
}

#[test]
fn a_question_does_not_wait_longer_than_its_time_limit_for_a_limit() {
    let server = Server::start(|seen| {
        if seen.nth == 0 { ok(seen) } else { limited(("retry-after", "30".to_owned())) }
    });
    let settings = HttpProvider { query_timeout: Duration::from_secs(3), ..settings(&server) };
    let embedder = embedder(settings);
    check_all_right(&embedder, &texts(1));
    let start = Instant::now();
    for _ in 0..2 {
        let (_, outcome) = embed(&embedder, Role::Query, &texts(1));
        assert_eq!(outcome.unwrap_err().code(), "PROVIDER_UNREACHABLE");
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(server.log().len(), 2, "the second question sent nothing");
}
