//! Which vector belongs to which text, and what becomes of answers that are wrong.

use base64::Engine as _;
use serde_json::{Value, json};

use sextant::embed::provider::{HttpProvider, ProviderError, ProviderKind, Role};
use sextant::http::Secret;

use super::server::{DIMENSIONS, Reply, Seen, Server, data, items, ok, vector_of};
use super::{
    check_all_right, check_none_wrong, check_right, embed, embedder, settings, settings_for, texts,
};

fn shuffled(seen: &Seen) -> Reply {
    data(items(seen, DIMENSIONS).into_iter().rev().collect())
}

fn noindex(seen: &Seen) -> Reply {
    let mut items = items(seen, DIMENSIONS);
    for item in &mut items {
        item.as_object_mut().unwrap().remove("index");
    }
    data(items)
}

/// One item is missing, of several.
fn short(seen: &Seen) -> Reply {
    let mut items = items(seen, DIMENSIONS);
    if items.len() > 1 {
        items.pop();
    }
    data(items)
}

fn extra(seen: &Seen) -> Reply {
    let mut items = items(seen, DIMENSIONS);
    items.push(json!({ "index": items.len(), "embedding": vector_of("extra", DIMENSIONS) }));
    data(items)
}

fn dupindex(seen: &Seen) -> Reply {
    let mut items = items(seen, DIMENSIONS);
    for item in &mut items {
        item["index"] = 0.into();
    }
    data(items)
}

fn badindex(seen: &Seen) -> Reply {
    let mut items = items(seen, DIMENSIONS);
    let n = items.len();
    items[n - 1]["index"] = n.into();
    data(items)
}

#[test]
fn em03_vectors_are_matched_by_index_and_by_position_where_there_is_none() {
    for behaviour in [shuffled, noindex] {
        let server = Server::start(behaviour);
        check_all_right(&embedder(settings(&server)), &texts(20));
        assert_eq!(server.log().len(), 1, "twenty texts in one batch");
    }
}

#[test]
fn em04_a_batch_that_comes_back_torn_is_asked_again_and_then_text_by_text() {
    for behaviour in [short, dupindex] {
        let server = Server::start(behaviour);
        check_all_right(&embedder(settings(&server)), &texts(10));
        assert_eq!(server.log().len(), 2 + 10, "twice together, then one by one");
    }
}

#[test]
fn em04_a_server_that_never_counts_right_is_named_and_nothing_wrong_is_delivered() {
    for (behaviour, words) in
        [(extra as fn(&Seen) -> Reply, "2 vectors for 1 texts"), (badindex, "index 1 for 1 texts")]
    {
        let server = Server::start(behaviour);
        let (results, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(10));
        let error = outcome.unwrap_err();
        assert_eq!(error.code(), "PROVIDER_BAD_ANSWER");
        let message = error.to_string();
        assert!(message.contains(words) && message.contains(&server.url()), "{message}");
        assert!(message.contains("the model m"), "{message}");
        assert!(results.iter().all(Option::is_none), "nothing was delivered");
    }
}

#[test]
fn em04_one_torn_answer_costs_one_more_request() {
    for behaviour in [short, extra, dupindex, badindex] {
        let server =
            Server::start(move |seen| if seen.nth == 1 { behaviour(seen) } else { ok(seen) });
        let embedder = embedder(HttpProvider { batch_size: 10, ..settings(&server) });
        check_all_right(&embedder, &texts(30));
        assert_eq!(server.log().len(), 3 + 1);
    }
}

#[test]
fn em06_a_change_of_dimensions_stops_the_run_and_both_numbers_are_named() {
    let server = Server::start(|seen| data(items(seen, if seen.nth < 3 { 1536 } else { 4096 })));
    let embedder = embedder(HttpProvider { batch_size: 1, ..settings(&server) });
    let texts = texts(40);
    let (results, outcome) = embed(&embedder, Role::Document, &texts);
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_DIMENSIONS");
    let message = error.to_string();
    assert!(message.contains("1536") && message.contains("4096"), "{message}");
    let vectors: Vec<&Vec<f32>> =
        results.iter().flatten().filter_map(|r| r.as_ref().ok()).collect();
    assert!((1..=3).contains(&vectors.len()));
    assert!(vectors.iter().all(|vector| vector.len() == 1536));
    check_none_wrong(&texts, &results);
    assert!(server.log().len() <= 3 + 8, "what was in flight when it was seen, and no more");
    assert_eq!(embedder.dimensions(), Some(1536));
}

#[test]
fn em06_a_server_that_ignores_the_dimensions_is_found_out_with_its_first_answer() {
    let server = Server::start(|seen| data(items(seen, 4096)));
    let settings = HttpProvider { dimensions: Some(1536), batch_size: 1, ..settings(&server) };
    let (results, outcome) = embed(&embedder(settings), Role::Document, &texts(20));
    let expected = ProviderError::Dimensions { model: "m".to_owned(), expected: 1536, found: 4096 };
    assert_eq!(outcome, Err(expected));
    assert!(results.iter().all(Option::is_none));
    assert_eq!(server.log().len(), 1);
    assert_eq!(server.log()[0].body["dimensions"], 1536);
}

#[test]
fn vectors_that_are_not_finite_or_zero_cost_their_own_text_and_no_other() {
    let spoil = |bad: &'static str| {
        move |seen: &Seen| {
            let mut items = items(seen, DIMENSIONS);
            for (item, text) in items.iter_mut().zip(seen.texts()) {
                if text.contains("number_3(") {
                    item["embedding"] = "@".into();
                }
            }
            let Reply::Whole(status, headers, body) = data(items) else { unreachable!() };
            let body = String::from_utf8(body).unwrap().replace("\"@\"", bad);
            Reply::Whole(status, headers, body.into_bytes())
        }
    };
    let nan = "[NaN,1,1,1,1,1,1,1]";
    let infinite = "[1e39,1,1,1,1,1,1,1]";
    let zero = "[0,0,0,0,0,0,0,0]";
    for (bad, word, n_requests) in
        [(nan, "not finite", 2), (infinite, "not finite", 2), (zero, "zeros", 1)]
    {
        let server = Server::start(spoil(bad));
        let mut texts = texts(8);
        let (mut results, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts);
        assert_eq!(outcome, Ok(()));
        let refused = results.remove(3).unwrap().unwrap_err();
        assert!(refused.reason.contains(word), "{refused:?}");
        texts.remove(3);
        check_right(&texts, &results);
        assert_eq!(server.log().len(), n_requests);
    }
}

#[test]
fn vectors_in_base64_are_read() {
    let server = Server::start(|seen| {
        let mut items = items(seen, DIMENSIONS);
        for (item, text) in items.iter_mut().zip(seen.texts()) {
            let floats = vector_of(&text, DIMENSIONS);
            let bytes: Vec<u8> = floats.iter().flat_map(|n| n.to_le_bytes()).collect();
            item["embedding"] = base64::engine::general_purpose::STANDARD.encode(bytes).into();
        }
        data(items)
    });
    check_all_right(&embedder(settings(&server)), &texts(5));
    assert_eq!(server.log()[0].body["encoding_format"], "float");
}

#[test]
fn gemini_is_asked_in_its_protocol_with_a_task_for_each_role() {
    let server = Server::start(|seen| {
        let value = |text: String| json!({ "values": vector_of(&text, DIMENSIONS) });
        let embeddings: Vec<Value> = seen.texts().into_iter().map(value).collect();
        Reply::Whole(200, Vec::new(), json!({ "embeddings": embeddings }).to_string().into())
    });
    let settings = HttpProvider {
        kind: ProviderKind::Gemini,
        model: "gemini-embedding-001".to_owned(),
        api_key: Some(Secret::new("AIza-the-key")),
        dimensions: Some(DIMENSIONS),
        ..settings(&server)
    };
    let embedder = embedder(settings);
    check_all_right(&embedder, &texts(3));
    let (results, outcome) = embed(&embedder, Role::Query, &texts(1));
    assert_eq!(outcome, Ok(()));
    check_right(&texts(1), &results);
    for (seen, task) in server.log().iter().zip(["RETRIEVAL_DOCUMENT", "CODE_RETRIEVAL_QUERY"]) {
        assert_eq!(seen.path, "/v1beta/models/gemini-embedding-001:batchEmbedContents");
        assert_eq!(seen.header("x-goog-api-key"), Some("AIza-the-key"));
        let one = &seen.body["requests"][0];
        assert_eq!(one["taskType"], task);
        assert_eq!(one["outputDimensionality"], DIMENSIONS);
        assert_eq!(one["model"], "models/gemini-embedding-001");
    }
}

#[test]
fn one_text_that_a_server_dislikes_is_refused_by_itself() {
    for (status, words) in [
        (400, r#"{"error":{"message":"the input holds a forbidden word"}}"#),
        (500, r#"{"error":"failed to encode response: json: unsupported value: NaN"}"#),
        (500, r#"{"error":"something is wrong"}"#),
    ] {
        let server = Server::start(move |seen| {
            if seen.texts().iter().any(|text| text.contains("number_5(")) {
                super::server::status(status, words)
            } else {
                ok(seen)
            }
        });
        let settings = HttpProvider { retries: 1, batch_size: 4, ..settings(&server) };
        let mut texts = texts(12);
        let (mut results, outcome) = embed(&embedder(settings), Role::Document, &texts);
        assert_eq!(outcome, Ok(()), "{status} {words}");
        assert!(results.remove(5).unwrap().unwrap_err().reason.contains(&status.to_string()));
        texts.remove(5);
        check_right(&texts, &results);
    }
}

#[test]
fn a_server_that_dislikes_everything_is_given_up_soon() {
    let server = Server::start(|_| super::server::status(400, r#"{"error":"no such thing"}"#));
    let (results, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(64));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_REFUSED");
    assert!(error.to_string().contains("no such thing"));
    assert!(results.iter().flatten().count() <= 1);
    assert!(server.log().len() <= 9, "{}", server.log().len());
}

#[test]
fn an_answer_that_is_no_json_is_a_bad_answer() {
    let server = Server::start(|_| super::server::status(200, "<html>Sign in</html>"));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Query, &texts(1));
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("no JSON") && message.contains("/v1/embeddings"), "{message}");
}

#[test]
fn blank_texts_are_not_sent() {
    let server = Server::start(ok);
    let texts = [" \n".to_owned(), "a".to_owned()];
    let (results, outcome) = embed(&embedder(settings_for(&server.url())), Role::Document, &texts);
    assert_eq!(outcome, Ok(()));
    assert!(results[0].as_ref().unwrap().is_err());
    assert_eq!(server.log()[0].texts(), ["a"]);
}

/// Any number follows from two.
fn mixed(seed: usize, nth: usize) -> usize {
    let mut hash = (seed as u64 ^ ((nth as u64) << 20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (hash >> 40) as usize
}

#[test]
fn a_server_that_errs_in_every_way_at_once_gives_no_text_the_vector_of_another() {
    for seed in 0..12 {
        let server = Server::start(move |seen| match mixed(seed, seen.nth) % 20 {
            0 => shuffled(seen),
            1 => noindex(seen),
            2 => [short, extra, dupindex, badindex][mixed(seed, seen.nth) / 20 % 4](seen),
            3 => super::server::status(502, ""),
            4 => Reply::Whole(429, vec![("retry-after-ms", "3".to_owned())], Vec::new()),
            5 => Reply::Cut(super::server::ok_body(seen)),
            6 => Reply::Reset,
            7 if seen.texts().len() > 2 => super::server::status(413, ""),
            _ => ok(seen),
        });
        let texts = texts(100);
        let settings = HttpProvider { batch_size: 7, retries: 40, ..settings(&server) };
        let settings = HttpProvider { back_off: std::time::Duration::ZERO, ..settings };
        let (results, outcome) = embed(&embedder(settings), Role::Document, &texts);
        check_none_wrong(&texts, &results);
        match outcome {
            Ok(()) => check_right(&texts, &results),
            Err(error) => assert_eq!(error.code(), "PROVIDER_BAD_ANSWER", "{seed}: {error}"),
        }
    }
}
