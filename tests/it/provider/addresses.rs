//! EM08: spellings of addresses, redirects, and that keys go nowhere else.

use sextant::embed::provider::{Embedder, HttpEmbedder, HttpProvider, ProviderError, Role};
use sextant::http::Secret;

use super::server::{Reply, Seen, Server, ok, status};
use super::{check_all_right, embed, embedder, settings, settings_for, texts};

const KEY: &str = "sk-secret-0123456789abcdef";

fn strict(path: &'static str) -> impl Fn(&Seen) -> Reply {
    move |seen| {
        if seen.path == path { ok(seen) } else { status(404, r#"{"error":"not found"}"#) }
    }
}

fn keyed(settings: HttpProvider) -> HttpProvider {
    HttpProvider { api_key: Some(Secret::new(KEY)), ..settings }
}

#[test]
fn em08_every_spelling_of_an_address_asks_the_same_path() {
    let server = Server::start(strict("/v1/embeddings"));
    let base = server.url();
    let spellings = [
        base.clone(),
        format!("{base}/"),
        format!("{base}/v1"),
        format!("{base}/v1/"),
        format!("{base}/v1/embeddings"),
        format!("{base}/v1/embeddings/"),
        format!("  {base}/v1 \n"),
        format!("{base}//v1"),
        server.address.to_string(),
    ];
    for spelling in &spellings {
        check_all_right(&embedder(settings_for(spelling)), &texts(2));
    }
    assert!(server.log().iter().all(|seen| seen.path == "/v1/embeddings"));
    assert_eq!(server.log().len(), spellings.len());
}

#[test]
fn em08_a_prefix_and_a_query_are_kept() {
    let server = Server::start(strict("/proxy/x/v1/embeddings"));
    for ending in ["/proxy/x/v1", "/proxy/x/v1/", "/proxy/x/v1/embeddings"] {
        check_all_right(&embedder(settings_for(&format!("{}{ending}", server.url()))), &texts(2));
    }
    let server = Server::start(strict("/d/embeddings?api-version=2024&key=k"));
    let url = format!("{}/d/embeddings?api-version=2024&key=k", server.url());
    check_all_right(&embedder(settings_for(&url)), &texts(2));
}

#[test]
fn em08_a_wrong_address_is_named_in_full_with_the_model_and_without_the_key() {
    let server = Server::start(strict("/v1/embeddings"));
    let settings = keyed(settings_for(&format!("{}/v2?token=hidden", server.url())));
    let (_, outcome) = embed(&embedder(settings), Role::Document, &texts(3));
    let error = outcome.unwrap_err();
    let ProviderError::Refused { status: 404, .. } = &error else { panic!("{error:?}") };
    let message = error.to_string();
    assert!(message.contains(&format!("{}/v2/embeddings", server.url())), "{message}");
    assert!(message.contains("the model m") && message.contains("not found"), "{message}");
    assert!(!message.contains(KEY) && !message.contains("hidden"), "{message}");
    assert_eq!(server.log().len(), 1, "a wrong address is not asked again");
}

#[test]
fn addresses_that_cannot_be_asked_are_refused_as_a_setting() {
    for url in ["ftp://h", "http://", "http://a b/v1", "http://h:99999"] {
        let error = HttpEmbedder::within(settings_for(url), &|_| None).unwrap_err();
        assert!(
            matches!(error, ProviderError::Setting { setting: "embedding.baseUrl", .. }),
            "{url}"
        );
        assert_eq!(error.code(), "INVALID_ARGUMENT");
    }
}

#[test]
fn a_key_that_a_server_repeats_is_not_shown() {
    let server = Server::start(|seen| {
        let key = seen.header("authorization").unwrap_or_default().to_owned();
        status(401, &format!(r#"{{"error":{{"message":"Incorrect API key provided: {key}."}}}}"#))
    });
    let embedder = embedder(keyed(settings(&server)));
    let (_, outcome) = embed(&embedder, Role::Document, &texts(3));
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), "PROVIDER_REFUSED");
    for shown in [error.to_string(), format!("{error:?}"), format!("{embedder:?}")] {
        assert!(!shown.contains(KEY), "{shown}");
    }
    assert_eq!(server.log()[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(server.log().len(), 1, "a refused key is not tried again");
}

#[test]
fn without_a_key_no_header_is_sent_and_a_refusal_says_that_there_is_none() {
    let server = Server::start(|_| status(401, ""));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(1));
    assert!(outcome.unwrap_err().to_string().contains("no key is set"));
    assert_eq!(server.log()[0].header("authorization"), None);
}

#[test]
fn a_user_in_the_address_is_sent_but_not_shown() {
    let server = Server::start(|_| status(403, ""));
    let url = server.url().replace("http://", "http://me:pass-word@");
    let embedder = embedder(settings_for(&url));
    let (_, outcome) = embed(&embedder, Role::Document, &texts(1));
    let shown = format!("{:?} {:?} {}", outcome, embedder, embedder.model().id());
    assert!(!shown.contains("pass-word"), "{shown}");
    assert_eq!(server.log()[0].header("authorization"), Some("Basic bWU6cGFzcy13b3Jk"));
}

fn redirect(code: u16, to: String) -> impl Fn(&Seen) -> Reply {
    move |seen| {
        if seen.path == "/new" {
            return ok(seen);
        }
        Reply::Whole(code, vec![("location", to.clone())], Vec::new())
    }
}

#[test]
fn redirects_that_keep_the_method_are_followed_with_body_and_key() {
    for code in [307, 308] {
        let server = Server::start(redirect(code, "/new".to_owned()));
        check_all_right(&embedder(keyed(settings(&server))), &texts(2));
        let paths: Vec<String> = server.log().iter().map(|seen| seen.path.clone()).collect();
        assert_eq!(paths, ["/v1/embeddings", "/new"]);
        assert!(server.log()[1].header("authorization").is_some());
    }
}

#[test]
fn a_redirect_to_another_origin_is_not_followed_and_names_the_new_address() {
    let other = Server::start(ok);
    let to = format!("{}/new", other.url());
    for code in [307, 308] {
        let server = Server::start(redirect(code, to.clone()));
        let (_, outcome) = embed(&embedder(keyed(settings(&server))), Role::Document, &texts(2));
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains(&to), "{message}");
        assert!(server.log()[0].header("authorization").is_some());
    }
    assert_eq!(other.log().len(), 0, "neither text nor key");
}

#[test]
fn nothing_that_a_server_was_told_in_confidence_is_repeated() {
    let server = Server::start(|seen: &Seen| {
        let basic = seen.header("authorization").unwrap_or_default().to_owned();
        let bare = basic.split(' ').next_back().unwrap_or_default().to_owned();
        status(403, &format!("no: {bare} {} pass-word", seen.path))
    });
    let url = server.url().replace("http://", "http://me:pass-word@");
    let embedder = embedder(settings_for(&format!("{url}/v1?code=hidden-code&api-version=1")));
    let (_, outcome) = embed(&embedder, Role::Document, &texts(1));
    let message = outcome.unwrap_err().to_string();
    for hidden in ["bWU6cGFzcy13b3Jk", "hidden-code", "pass-word"] {
        assert!(!message.contains(hidden), "{message}");
    }
}

#[test]
fn a_redirect_that_would_lose_the_body_names_the_new_address() {
    let server = Server::start(redirect(301, "https://new.example/v1".to_owned()));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(1));
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("https://new.example/v1"), "{message}");
}

#[test]
fn redirects_in_circles_end() {
    let server = Server::start(redirect(307, "/again".to_owned()));
    let (_, outcome) = embed(&embedder(settings(&server)), Role::Document, &texts(1));
    assert!(outcome.unwrap_err().to_string().contains("more than 5 times"));
    assert_eq!(server.log().len(), 6);
}
