//! What the settings of a provider change: which server is asked, what for, how often, how long and by which way.

use std::time::{Duration, Instant};

use serde_json::json;
use sextant::engine::{Engine, IndexReport, Parts, SearchRequest, Strategy};

use super::{AsSetting, open, paths};
use crate::provider::network::{Company, HOST, Proxy};
use crate::provider::server::{
    DIMENSIONS, Reply, Seen, Server, data, items, ok, ok_body, vector_of,
};
use crate::support::{Place, ask, codes, search, sync};

pub const KEYS: &[&str] = &[
    "vectorDb.embeddingModel",
    "vectorDb.maxTokens",
    "vectorDb.batchSize",
    "embedding.baseUrl",
    "embedding.model",
    "embedding.dimensions",
    "embedding.apiKey",
    "embedding.timeout",
    "embedding.queryTimeout",
    "embedding.maxConcurrent",
    "embedding.requestsPerSecond",
    "embedding.retries",
    "embedding.caFile",
    "embedding.proxy",
    "embedding.noProxy",
    "embedding.strictTls",
    "embedding.metered",
    "embedding.maxFiles",
    "embedding.maxFilesAllowed",
    "embedding.allowLarge",
];

/// One text a file.
fn tree(n: usize) -> Place {
    let place = Place::new(&[]);
    for at in 0..n {
        place.write(&format!("f{at:02}.py"), format!("def lantern_{at}():\n    return {at}\n"));
    }
    place
}

/// Opens a workspace that asks the server at `url`, in no way but this and `settings`.
pub fn open_at(place: &Place, url: &str, settings: &[(&str, &dyn AsSetting)]) -> Engine {
    let mut all: Vec<(&str, &dyn AsSetting)> = vec![
        ("vectorDb.embeddingModel", &"local"),
        ("embedding.baseUrl", &url),
        ("embedding.model", &"m"),
        ("embedding.requestsPerSecond", &1000),
        ("embedding.retries", &0),
    ];
    all.extend_from_slice(settings);
    open(place, &all, Parts::default())
}

/// A sync of `n` files at this server.
#[track_caller]
fn sync_at(n: usize, server: &Server, settings: &[(&str, &dyn AsSetting)]) -> IndexReport {
    sync(&open_at(&tree(n), &server.url(), settings))
}

#[track_caller]
fn check_done(report: &IndexReport) {
    assert!(report.degraded.is_empty(), "{:?}", report.degraded);
    assert_eq!(report.texts_pending, 0);
}

#[track_caller]
fn check_failed(report: &IndexReport, code: &str, words: &str) {
    assert_eq!(codes(&report.degraded), [code]);
    assert!(report.degraded[0].message.contains(words), "{:?}", report.degraded);
}

fn sizes(server: &Server) -> Vec<usize> {
    server.log().iter().map(|seen| seen.texts().len()).collect()
}

/// An answer in the protocol of Gemini.
pub fn gemini(seen: &Seen) -> Reply {
    let all: Vec<_> =
        seen.texts().iter().map(|text| json!({ "values": vector_of(text, DIMENSIONS) })).collect();
    Reply::Whole(200, Vec::new(), json!({ "embeddings": all }).to_string().into_bytes())
}

#[test]
fn the_model_says_which_protocol_is_spoken_and_by_which_name() {
    let server = Server::start(ok);
    check_done(&sync_at(2, &server, &[("embedding.model", &"nomic")]));
    check_done(&sync_at(
        2,
        &server,
        &[("vectorDb.embeddingModel", &"openai"), ("embedding.model", &"")],
    ));
    let log = server.log();
    let asked: Vec<(&str, &str)> =
        log.iter().map(|s| (s.path.as_str(), s.body["model"].as_str().unwrap())).collect();
    let path = "/v1/embeddings";
    assert_eq!(asked, [(path, "nomic"), (path, "text-embedding-3-small")]);

    let server = Server::start(gemini);
    let place = tree(2);
    let engine = open_at(&place, &server.url(), &[("vectorDb.embeddingModel", &"gemini")]);
    check_done(&sync(&engine));
    assert_eq!(server.log()[0].path, "/v1beta/models/m:batchEmbedContents");
    assert!(engine.status().unwrap().model.starts_with("gemini:m"));
    let embedded = open_at(&place, &server.url(), &[("vectorDb.embeddingModel", &"embedded")]);
    assert!(embedded.status().unwrap().model.contains("codestatic"));
}

#[test]
fn requests_have_as_many_texts_and_tokens_as_are_set() {
    let server = Server::start(ok);
    check_done(&sync_at(7, &server, &[("vectorDb.batchSize", &3)]));
    let mut all = sizes(&server);
    all.sort_unstable();
    assert_eq!(all, [1, 3, 3]);

    let place = Place::new(&[]);
    for at in 0..6 {
        let line = |n: usize| format!("    total_{at} = total_{at} + lantern[{n}] * {n}\n");
        let body: String = (0..20).map(line).collect();
        place.write(&format!("f{at}.py"), format!("def sum_{at}():\n{body}"));
    }
    let counter = sextant::token::TokenCounter::new();
    for (tokens, is_one) in [(1000, false), (32_000, true)] {
        let server = Server::start(ok);
        let settings: &[(&str, &dyn AsSetting)] = &[
            ("vectorDb.maxTokens", &tokens),
            ("vectorDb.batchSize", &50),
            ("vectorDb.cacheEnabled", &false),
        ];
        let engine = open_at(&place, &server.url(), settings);
        check_done(&sync(&engine));
        let log = server.log();
        assert_eq!(log.len() == 1, is_one, "{:?}", sizes(&server));
        let n_tokens = |seen: &Seen| seen.texts().iter().map(|t| counter.count(t)).sum::<usize>();
        assert!(log.iter().all(|seen| n_tokens(seen) <= tokens as usize));
        assert!(log.iter().any(|seen| seen.texts().len() > 1), "{:?}", sizes(&server));
    }
}

#[test]
fn dimensions_and_the_key_are_sent() {
    let server = Server::start(|seen| data(items(seen, 4)));
    let settings: &[(&str, &dyn AsSetting)] =
        &[("embedding.dimensions", &4), ("embedding.apiKey", &"sk-of-nobody")];
    check_done(&sync_at(1, &server, settings));
    check_done(&sync_at(1, &server, &[]));
    let log = server.log();
    assert_eq!(log[0].body["dimensions"], 4);
    assert_eq!(log[0].header("authorization"), Some("Bearer sk-of-nobody"));
    assert!(log[1].body.get("dimensions").is_none() && log[1].header("authorization").is_none());
}

#[test]
fn a_request_has_so_much_time_and_so_many_tries() {
    let server = Server::start(|_| Reply::Hang);
    let report = sync_at(1, &server, &[("embedding.timeout", &60)]);
    check_failed(&report, "PROVIDER_UNREACHABLE", "within 60ms");
    assert_eq!(server.log().len(), 1);
    let report = sync_at(1, &server, &[("embedding.timeout", &60), ("embedding.retries", &1)]);
    check_failed(&report, "PROVIDER_UNREACHABLE", "2 times");
    assert_eq!(server.log().len(), 3);
}

#[test]
fn a_search_waits_for_its_vector_as_long_as_is_set() {
    let server = Server::start(|seen| match seen.texts()[0].contains("def ") {
        true => ok(seen),
        false => Reply::Hang,
    });
    let place = tree(3);
    let engine = open_at(&place, &server.url(), &[("embedding.queryTimeout", &70)]);
    check_done(&sync(&engine));
    let started = Instant::now();
    let response = search(&engine, &ask("lantern"));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(response.strategy, "tfidf");
    let reason = &super::tried(&response, "hybrid").reason;
    assert!(reason.contains("70 ms") || reason.contains("70ms"), "{reason}");
}

#[test]
fn requests_leave_so_many_at_once_and_so_many_a_second() {
    let late = |seen: &Seen| Reply::Late(Duration::from_millis(30), ok_body(seen));
    let server = Server::start(late);
    let single: (&str, &dyn AsSetting) = ("vectorDb.batchSize", &1);
    check_done(&sync_at(8, &server, &[single, ("embedding.maxConcurrent", &1)]));
    assert_eq!(server.most_in_flight(), 1);
    let server = Server::start(late);
    check_done(&sync_at(12, &server, &[single, ("embedding.maxConcurrent", &3)]));
    assert!((2..=3).contains(&server.most_in_flight()), "{}", server.most_in_flight());
    let server = Server::start(ok);
    check_done(&sync_at(4, &server, &[single, ("embedding.requestsPerSecond", &5)]));
    let log = server.log();
    let span = log[3].at - log[0].at;
    assert!(span >= Duration::from_millis(500), "three gaps of 200 ms: {span:?}");
}

#[test]
fn certificates_are_checked_with_the_file_that_is_named_unless_that_is_off() {
    let company = Company::new();
    let place = tree(1);
    let ca_file = company.ca_file.display().to_string();
    let sync_with =
        |settings: &[(&str, &dyn AsSetting)]| sync(&open_at(&place, &company.url(), settings));
    check_failed(&sync_with(&[]), "PROVIDER_UNREACHABLE", "certificate");
    check_done(&sync_with(&[("embedding.caFile", &ca_file)]));
    let off = tree(1);
    check_done(&sync(&open_at(&off, &company.url(), &[("embedding.strictTls", &false)])));
}

#[test]
fn servers_are_asked_through_the_proxy_but_for_the_hosts_that_are_named() {
    let company = Company::new();
    let proxy = Proxy::start(company.server.address, None);
    let (url, ca_file) = (format!("https://{HOST}"), company.ca_file.display().to_string());
    let through = proxy.url().expose().to_owned();
    let settings: Vec<(&str, &dyn AsSetting)> =
        vec![("embedding.caFile", &ca_file), ("embedding.proxy", &through)];
    check_done(&sync(&open_at(&tree(1), &url, &settings)));
    assert_eq!(proxy.asked(), [format!("CONNECT {HOST}:443 HTTP/1.1")]);
    let mut direct = settings.clone();
    direct.push(("embedding.noProxy", &"company.invalid"));
    let report = sync(&open_at(&tree(1), &url, &direct));
    check_failed(&report, "PROVIDER_UNREACHABLE", HOST);
    assert_eq!(proxy.asked().len(), 1);
}

#[test]
fn a_provider_that_costs_money_is_asked_for_as_many_files_as_are_allowed() {
    let server = Server::start(ok);
    let paid: (&str, &dyn AsSetting) = ("embedding.metered", &"yes");
    check_done(&sync_at(3, &server, &[paid]));
    check_done(&sync_at(3, &server, &[paid, ("embedding.maxFiles", &3)]));
    let n = server.log().len();
    let small: (&str, &dyn AsSetting) = ("embedding.maxFiles", &2);
    check_failed(&sync_at(3, &server, &[paid, small]), "EMBEDDINGS_LIMIT", "embedding.allowLarge");
    let large: (&str, &dyn AsSetting) = ("embedding.allowLarge", &true);
    let too_few: (&str, &dyn AsSetting) = ("embedding.maxFilesAllowed", &2);
    let report = sync_at(3, &server, &[paid, small, large, too_few]);
    check_failed(&report, "EMBEDDINGS_LIMIT", "embedding.maxFilesAllowed");
    assert_eq!(server.log().len(), n);
    check_done(&sync_at(3, &server, &[paid, small, large]));
    // A server of this machine costs nothing, unless it is said to.
    check_done(&sync_at(3, &server, &[small]));
    check_done(&sync_at(3, &server, &[small, ("embedding.metered", &"no")]));
}

#[test]
fn a_model_that_the_settings_leave_open_is_said_and_the_embedded_one_answers() {
    let place = tree(2);
    let engine = open(&place, &[("vectorDb.embeddingModel", &"local")], Parts::default());
    sync(&engine);
    let request = SearchRequest { strategy: Strategy::Embeddings, ..ask("lantern 1") };
    let response = search(&engine, &request);
    assert_eq!(codes(&response.degraded), ["INVALID_ARGUMENT"]);
    assert!(response.degraded[0].message.contains("embedding.baseUrl"));
    assert_eq!(paths(&response).first(), Some(&"f01.py"));
}
