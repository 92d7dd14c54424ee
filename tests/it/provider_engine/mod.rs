//! A workspace whose vectors come from a server that errs: what is stored, found, said and asked again. The names EM02 to
//! EM14 are those of the cases that the tests follow.

mod patience;
mod switching;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use sextant::config::settings::LogLevel;
use sextant::engine::{Engine, IndexReport, Parts, SearchRequest, Strategy};

use crate::provider::server::{
    DIMENSIONS, Reply, Seen, Server, data, items, ok, status, vector_of,
};
use crate::settings::providing::{gemini, open_at};
use crate::settings::{AsSetting, open, paths};
use crate::support::{Place, ask, codes, search, sync};

/// The only text of a file.
fn text(at: usize) -> String {
    format!("def marker_{at:02}():\n    return {at}")
}

/// Files of one text each.
fn tree(n: usize) -> Place {
    let place = Place::new(&[]);
    for at in 0..n {
        place.write(&format!("f{at:02}.py"), format!("{}\n", text(at)));
    }
    place
}

/// Whether the file is the first hit of its own text: the server gives equal texts equal vectors.
#[track_caller]
fn check_found(engine: &Engine, files: impl IntoIterator<Item = usize>) {
    for at in files {
        let request = SearchRequest { strategy: Strategy::Embeddings, ..ask(&text(at)) };
        let response = search(engine, &request);
        let expected = format!("f{at:02}.py");
        assert_eq!(paths(&response).first(), Some(&expected.as_str()), "{:?}", response.tried);
        let by = &response.tried[0].reason;
        assert!(by.contains("vectors of "), "{by}");
    }
}

#[track_caller]
fn check_complete(report: &IndexReport) {
    assert!(report.degraded.is_empty(), "{:?}", report.degraded);
    assert_eq!(report.texts_pending, 0);
}

/// Lengths of the stored vectors, packed.
fn stored(place: &Place) -> Vec<u32> {
    let is_vectors = |name: &String| name.starts_with("vectors-") && name.ends_with(".db");
    let Some(name) = place.stored_names().into_iter().find(is_vectors) else { return Vec::new() };
    let connection = rusqlite::Connection::open(place.storage.join(name)).unwrap();
    let mut rows = connection.prepare("SELECT length(data) FROM vectors").unwrap();
    rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn em02_a_text_over_the_limit_costs_no_other_file_its_vector() {
    const TOO_LONG: &str = r#"{"error":{"message":"maximum context length is 8192 tokens, requested 9000","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    for (code, body) in
        [(400, TOO_LONG), (413, ""), (500, r#"{"error":"input is too large to process"}"#)]
    {
        // The second server takes pieces of the long text; the first none of any size.
        for limit in [45, 300] {
            let server = Server::start(move |seen| {
                match seen.texts().iter().any(|text| text.len() > limit) {
                    true => status(code, body),
                    false => ok(seen),
                }
            });
            let place = tree(12);
            let line = |n: usize| format!("    value_{n:03} = {n}\n");
            let long: String = (0..40).map(line).collect();
            place.write("f04_long.py", format!("def long_marker():\n{long}"));
            let engine = open_at(&place, &server.url(), &[("vectorDb.batchSize", &50)]);
            let report = sync(&engine);
            assert_eq!(report.texts_pending, 0, "{code} {limit}: {:?}", report.degraded);
            if limit == 45 {
                assert_eq!(codes(&report.degraded), ["TEXTS_REFUSED"], "{code}");
                let message = &report.degraded[0].message;
                assert!(
                    message.contains("f04_long.py (") && message.contains("too long"),
                    "{message}"
                );
            } else {
                check_complete(&report);
            }
            check_found(&engine, 0..12);
            let response = search(&engine, &ask("long_marker"));
            assert_eq!(paths(&response)[0], "f04_long.py", "by its words at least");
        }
    }
}

#[test]
fn em03_every_file_has_the_vector_of_its_own_text() {
    let shuffled = |seen: &Seen| data(items(seen, DIMENSIONS).into_iter().rev().collect());
    let without_index = |seen: &Seen| {
        let mut items = items(seen, DIMENSIONS);
        for item in &mut items {
            item.as_object_mut().unwrap().remove("index");
        }
        data(items)
    };
    for behaviour in [shuffled as fn(&Seen) -> Reply, without_index] {
        let server = Server::start(behaviour);
        let place = tree(20);
        let engine = open_at(&place, &server.url(), &[]);
        check_complete(&sync(&engine));
        check_found(&engine, 0..20);
    }
    let server = Server::start(gemini);
    let place = tree(20);
    let settings: &[(&str, &dyn AsSetting)] = &[("vectorDb.embeddingModel", &"gemini")];
    let engine = open_at(&place, &server.url(), settings);
    check_complete(&sync(&engine));
    check_found(&engine, 0..20);
}

#[test]
fn em04_answers_of_another_number_give_no_wrong_vector_and_no_silence() {
    let short = |seen: &Seen| {
        let mut items = items(seen, DIMENSIONS);
        if items.len() > 1 {
            items.pop();
        }
        data(items)
    };
    let extra = |seen: &Seen| {
        let mut items = items(seen, DIMENSIONS);
        let vector = vector_of("extra", DIMENSIONS);
        items.push(serde_json::json!({ "index": items.len(), "embedding": vector }));
        data(items)
    };
    let same_index = |seen: &Seen| {
        let mut items = items(seen, DIMENSIONS);
        for item in &mut items {
            item["index"] = 0.into();
        }
        data(items)
    };
    let beyond = |seen: &Seen| {
        let mut items = items(seen, DIMENSIONS);
        let n = items.len();
        items[n - 1]["index"] = n.into();
        data(items)
    };
    for (behaviour, is_answered_alone) in
        [(short as fn(&Seen) -> Reply, true), (extra, false), (same_index, true), (beyond, false)]
    {
        let server = Server::start(behaviour);
        let place = tree(12);
        let engine = open_at(&place, &server.url(), &[]);
        let report = sync(&engine);
        if is_answered_alone {
            check_complete(&report);
            check_found(&engine, 0..12);
        } else {
            assert_eq!(
                (codes(&report.degraded), report.texts_pending),
                (vec!["PROVIDER_BAD_ANSWER"], 12)
            );
            assert!(stored(&place).is_empty());
            let response = search(&engine, &ask("marker_03"));
            assert_eq!((response.strategy, paths(&response)[0]), ("hybrid", "f03.py"));
            assert_eq!(codes(&response.degraded), ["EMBEDDINGS_INCOMPLETE"]);
        }
    }
}

#[test]
fn em06_another_number_of_dimensions_ends_the_run_with_both_numbers() {
    let place = tree(20);
    let server = Server::start(|seen| data(items(seen, if seen.nth < 3 { 1536 } else { 4096 })));
    let settings: &[(&str, &dyn AsSetting)] = &[("vectorDb.batchSize", &2)];
    let engine = open_at(&place, &server.url(), settings);
    let report = sync(&engine);
    assert_eq!(codes(&report.degraded), ["PROVIDER_DIMENSIONS"]);
    let message = &report.degraded[0].message;
    assert!(message.contains("1536") && message.contains("4096"), "{message}");
    let status = engine.status().unwrap();
    assert_eq!(status.last_error.as_ref(), report.degraded.first());
    let lengths = stored(&place);
    assert!(!lengths.is_empty() && lengths.len() <= 6, "{}", lengths.len());
    assert!(lengths.iter().all(|length| (1536..2000).contains(length)), "{lengths:?}");
    // Those that were on their way when the fourth came back.
    let n = server.log().len();
    assert!(n <= 4 + 8, "{n}");
    assert_eq!(report.texts_pending as usize, 20 - lengths.len());

    // Another process does not know what the server said to this one, but what it has stored.
    drop(engine);
    let engine = open_at(&place, &server.url(), settings);
    let report = sync(&engine);
    assert_eq!(codes(&report.degraded), ["PROVIDER_DIMENSIONS"]);
    let message = &report.degraded[0].message;
    assert!(message.contains("1536") && message.contains("4096"), "{message}");
    assert_eq!(stored(&place), lengths);
    assert!(server.log().len() <= n + 1 + 8, "{}", server.log().len());
}

#[test]
fn em06_few_requests_follow_the_first_wrong_vector() {
    let place = tree(40);
    let server = Server::start(|seen| data(items(seen, if seen.nth < 3 { 1536 } else { 4096 })));
    let settings: &[(&str, &dyn AsSetting)] =
        &[("vectorDb.batchSize", &2), ("embedding.maxConcurrent", &1)];
    let report = sync(&open_at(&place, &server.url(), settings));
    assert_eq!(codes(&report.degraded), ["PROVIDER_DIMENSIONS"]);
    assert!(server.log().len() <= 4 + 3, "{}", server.log().len());
}

#[test]
fn em06_dimensions_that_were_asked_for_and_not_given_are_not_stored() {
    let place = tree(3);
    let server = Server::start(|seen| data(items(seen, 4096)));
    let engine = open_at(&place, &server.url(), &[("embedding.dimensions", &1536)]);
    let report = sync(&engine);
    let message = &report.degraded[0].message;
    assert!(message.contains("1536") && message.contains("4096"), "{message}");
    assert!(stored(&place).is_empty());
    assert_eq!(server.log().len(), 1);
}

/// The texts have vectors of one length, and the query gets one of another.
#[test]
fn em06_a_query_of_other_dimensions_is_answered_by_words_and_said() {
    let place = tree(4);
    let server = Server::start(|seen| {
        let is_query = seen.texts()[0].contains("who");
        data(items(seen, if is_query { 16 } else { DIMENSIONS }))
    });
    check_complete(&sync(&open_at(&place, &server.url(), &[])));
    // The process that asks has seen no vector of the texts.
    let engine = open_at(&place, &server.url(), &[]);
    let response = search(&engine, &ask("who calls marker_02"));
    assert_eq!((response.strategy, paths(&response)[0]), ("tfidf", "f02.py"));
    assert_eq!(codes(&response.degraded), ["EMBEDDINGS_UNAVAILABLE"]);
    let message = &response.degraded[0].message;
    assert!(message.contains("16 dimensions") && message.contains('8'), "{message}");
}

#[test]
fn em08_every_spelling_of_the_address_works_and_a_wrong_one_is_shown_without_the_key() {
    let strict = |prefix: &'static str| {
        move |seen: &Seen| match seen.path == format!("{prefix}/v1/embeddings") {
            true => ok(seen),
            false => status(404, r#"{"error":"not found"}"#),
        }
    };
    let server = Server::start(strict(""));
    let host = server.address;
    for address in [
        format!("http://{host}"),
        format!("http://{host}/"),
        format!("http://{host}/v1"),
        format!("http://{host}/v1/"),
        format!("http://{host}/v1/embeddings"),
        format!("http://{host}/v1/embeddings/"),
        format!("  http://{host}/v1 "),
    ] {
        let place = tree(1);
        check_complete(&sync(&open_at(&place, &address, &[])));
    }
    assert!(server.log().iter().all(|seen| seen.path == "/v1/embeddings"));
    let behind = Server::start(strict("/proxy/x"));
    let address = format!("http://{}/proxy/x/v1", behind.address);
    check_complete(&sync(&open_at(&tree(1), &address, &[])));
    let wrong = format!("http://{}/other/v1", behind.address);
    let key: (&str, &dyn AsSetting) = ("embedding.apiKey", &"sk-4711-secret");
    let report = sync(&open_at(&tree(1), &wrong, &[key]));
    let message = &report.degraded[0].message;
    assert!(message.contains(&format!("{wrong}/embeddings")) && message.contains('m'), "{message}");
    assert!(!message.contains("4711"), "{message}");
}

/// All files below a folder that have these bytes.
fn holding(folder: &Path, needle: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path).unwrap().windows(needle.len()).any(|part| part == needle) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn the_key_is_in_no_file_no_log_and_no_message() {
    const KEY: &str = "sk-4711-secret";
    let is_wrong = Arc::new(AtomicBool::new(false));
    let wrong = Arc::clone(&is_wrong);
    // A server that repeats the key, as some do.
    let server = Server::start(move |seen| match wrong.load(Ordering::SeqCst) {
        true => status(401, &format!("{{\"error\":\"no such key: {KEY}\"}}")),
        false => ok(seen),
    });
    let place = tree(3);
    let said: Arc<Mutex<String>> = Arc::default();
    let sink = Arc::clone(&said);
    let log = move |_: LogLevel, message: &str| sink.lock().unwrap().push_str(message);
    let parts = Parts { log: Some(Arc::new(log)), ..Parts::default() };
    let url = server.url();
    let settings: &[(&str, &dyn AsSetting)] = &[
        ("vectorDb.embeddingModel", &"local"),
        ("embedding.baseUrl", &url),
        ("embedding.model", &"m"),
        ("embedding.apiKey", &KEY),
        ("vectorDb.logLevel", &"debug"),
    ];
    let engine = open(&place, settings, parts);
    check_complete(&sync(&engine));
    check_found(&engine, [1]);
    is_wrong.store(true, Ordering::SeqCst);
    place.write("new.py", "def new(): pass\n");
    let report = sync(&engine);
    assert_eq!(codes(&report.degraded), ["PROVIDER_REFUSED"]);
    let response = search(&engine, &ask("another question"));
    let messages = format!("{report:?} {response:?} {:?}", engine.status().unwrap());
    assert!(messages.contains("no such key"), "{messages}");
    let said = said.lock().unwrap().clone();
    assert!(said.contains("no such key") && said.contains("another question"), "{said}");
    let config = crate::settings::config(settings);
    for text in [messages, said, format!("{config:?}")] {
        assert!(!text.contains("4711"), "{text}");
    }
    assert!(server.log().iter().all(|seen| seen.header("authorization").unwrap().contains(KEY)));
    assert_eq!(holding(&place.top, b"4711-secret"), Vec::<String>::new());
    // The vectors are there, so this looked where they are.
    assert!(!holding(&place.top, b"local:m").is_empty());
}
