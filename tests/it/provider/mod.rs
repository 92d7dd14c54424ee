//! Embedding models behind HTTP servers: what is delivered, what is asked for, and what happens when servers are not
//! as they should be. The names EM02 to EM14 are those of the cases that the tests follow.

mod addresses;
mod answers;
mod lengths;
mod limits;
pub mod network;
mod patience;
pub mod server;

use std::time::Duration;

use sextant::embed::provider::{
    Embedder, HttpEmbedder, HttpProvider, ProviderError, ProviderKind, RefusedText, Role,
};
use sextant::task::CancelToken;

use server::{DIMENSIONS, Server, vector_of};

/// One place a text: nothing, a vector or a reason.
type Results = Vec<Option<Result<Vec<f32>, RefusedText>>>;

/// A server on this machine, asked as fast as it can and given up soon.
fn settings_for(url: &str) -> HttpProvider {
    HttpProvider {
        base_url: Some(url.to_owned()),
        per_second: 10_000.0,
        timeout: Duration::from_secs(10),
        query_timeout: Duration::from_secs(10),
        back_off: Duration::from_millis(2),
        hedge_after: None,
        ..HttpProvider::new(ProviderKind::OpenAi, "local", "m")
    }
}

fn settings(server: &Server) -> HttpProvider {
    settings_for(&server.url())
}

/// An embedder that the environment of the machine does not change.
fn embedder(settings: HttpProvider) -> HttpEmbedder {
    HttpEmbedder::within(settings, &|_| None).unwrap()
}

/// Embeds texts; each is delivered once at most.
fn embed(
    embedder: &HttpEmbedder,
    role: Role,
    texts: &[String],
) -> (Results, Result<(), ProviderError>) {
    embed_until(embedder, &CancelToken::new(), role, texts)
}

fn embed_until(
    embedder: &HttpEmbedder,
    cancel: &CancelToken,
    role: Role,
    texts: &[String],
) -> (Results, Result<(), ProviderError>) {
    let mut results: Results = vec![None; texts.len()];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let outcome = embedder.embed(cancel, role, &texts, &mut |text, result| {
        assert!(results[text].is_none(), "text {text} is delivered twice");
        results[text] = Some(result);
    });
    (results, outcome)
}

/// Embeds documents, all of which get the vector that is theirs.
#[track_caller]
fn check_all_right(embedder: &HttpEmbedder, texts: &[String]) {
    let (results, outcome) = embed(embedder, Role::Document, texts);
    assert_eq!(outcome, Ok(()));
    check_right(texts, &results);
}

/// Every text has its own vector, one long.
#[track_caller]
fn check_right(texts: &[String], results: &Results) {
    for (text, result) in texts.iter().zip(results) {
        let Some(Ok(vector)) = result else { panic!("no vector for {text:.40}: {result:?}") };
        assert!(is_vector_of(text, vector), "{text:.40} has the vector of another");
    }
}

fn is_vector_of(text: &str, vector: &[f32]) -> bool {
    let expected = vector_of(text, vector.len().max(1));
    let length = expected.iter().map(|n| n * n).sum::<f32>().sqrt();
    let own = vector.iter().map(|n| n * n).sum::<f32>().sqrt();
    let cosine: f32 = expected.iter().zip(vector).map(|(a, b)| a / length * b).sum();
    (own - 1.0).abs() < 1e-4 && cosine > 0.9999
}

/// No text has the vector of another, whatever else happened.
#[track_caller]
fn check_none_wrong(texts: &[String], results: &Results) {
    for (text, result) in texts.iter().zip(results) {
        if let Some(Ok(vector)) = result {
            assert!(is_vector_of(text, vector), "{text:.40} has the vector of another");
        }
    }
}

/// Texts that look like chunks.
fn texts(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("fn number_{n}() -> usize {{\n    {n}\n}}\n")).collect()
}

#[test]
fn vectors_have_unit_length_and_requests_are_bounded_by_number_and_tokens() {
    let server = Server::start(server::ok);
    let embedder = embedder(HttpProvider { batch_size: 7, ..settings(&server) });
    assert_eq!(embedder.dimensions(), None);
    check_all_right(&embedder, &texts(50));
    assert_eq!(embedder.dimensions(), Some(DIMENSIONS));
    let sizes: Vec<usize> = server.log().iter().map(|seen| seen.texts().len()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 50);
    assert_eq!(sizes.iter().filter(|size| **size == 7).count(), 7);

    let words: Vec<String> = (0..8).map(|n| format!("{} {n}", "word ".repeat(40))).collect();
    let settings = HttpProvider { max_request_tokens: 100, ..settings(&server) };
    check_all_right(&self::embedder(settings), &words);
    let sizes: Vec<usize> = server.log()[sizes.len()..].iter().map(|s| s.texts().len()).collect();
    assert_eq!(sizes, [2, 2, 2, 2]);
}

#[test]
fn eight_requests_are_in_flight_once_the_server_has_answered() {
    let server =
        Server::start(|seen| server::Reply::Late(Duration::from_millis(20), server::ok_body(seen)));
    let embedder = embedder(HttpProvider { batch_size: 1, ..settings(&server) });
    check_all_right(&embedder, &texts(60));
    assert!(server.most_in_flight() <= 8, "{}", server.most_in_flight());
    assert!(server.most_in_flight() >= 4, "{}", server.most_in_flight());
    let log = server.log();
    let alone = log[1].at - log[0].at;
    assert!(alone >= Duration::from_millis(20), "the first request goes ahead alone");
}

#[test]
fn servers_of_others_are_metered_and_those_of_this_machine_are_not() {
    for (url, metered, expected) in [
        ("http://localhost:11434", None, false),
        ("http://192.168.1.5:8080/v1", None, false),
        ("https://api.openai.com/v1", None, true),
        ("http://localhost:4000", Some(true), true),
        ("https://api.openai.com/v1", Some(false), false),
    ] {
        let embedder = embedder(HttpProvider { metered, ..settings_for(url) });
        assert_eq!(embedder.is_metered(), expected, "{url} {metered:?}");
    }
}

#[test]
fn the_id_of_a_model_is_the_same_for_every_spelling_of_its_address() {
    let id = |url: &str| embedder(settings_for(url)).model().id();
    assert_eq!(id("http://localhost:1/v1/"), id(" localhost:1 "));
    assert_ne!(id("http://localhost:1/v1/"), id("http://localhost:2/v1"));
}
