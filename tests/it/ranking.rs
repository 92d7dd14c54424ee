//! What comes first, in general terms. Small trees; the evaluation measures the rest.

use sextant::engine::{SearchRequest, Strategy};

use crate::support::{Place, ask, search};

const FILES: &[(&str, &str)] = &[
    (
        "src/session/token.rs",
        "/// Whether the token's time is over.\npub fn is_token_expired(token: &Token, now: u64) -> bool {\n    token.expires_at <= now\n}\n",
    ),
    (
        "src/http/handler.rs",
        "pub fn handle(request: Request) -> Response {\n    if is_token_expired(&request.token, now()) {\n        return refuse(is_token_expired(&request.token, 0));\n    }\n    answer(request)\n}\n",
    ),
    (
        "src/http/middleware.rs",
        "/// Calls is_token_expired first.\npub fn guard(request: Request) {\n    assert!(!is_token_expired(&request.token, now()));\n}\n",
    ),
    (
        "tests/token_test.rs",
        "#[test]\nfn old_ones_are_refused() {\n    assert!(is_token_expired(&token(5), 6));\n    assert!(!is_token_expired(&token(7), 6));\n}\n",
    ),
    (
        "lib/rack/response.rb",
        "module Rack\n  # What goes back to the browser.\n  class Response\n    def initialize(body)\n      @body = body\n    end\n\n    def finish\n      [200, {}, @body]\n    end\n  end\nend\n",
    ),
    (
        "lib/rack/lint.rb",
        "module Rack\n  class Lint\n    # A Rack::Response is checked; Rack::Response again.\n    def check(response)\n      raise 'no Rack::Response' unless response.is_a?(Rack::Response)\n    end\n  end\nend\n",
    ),
    (
        "lib/rack/mock.rb",
        "module Rack\n  class MockResponse < Rack::Response\n    def ok?\n      true\n    end\n  end\nend\n",
    ),
    ("src/case_upper.ts", "export class Parser {\n  run() { return 1; }\n}\n"),
    ("src/case_lower.ts", "export function parser() {\n  return new Parser();\n}\n"),
    (
        "flask/globals.py",
        "from contextvars import ContextVar\n\ng = LocalProxy(_cv_app, 'g')\nrequest = LocalProxy(_cv_request)\n",
    ),
    ("flask/views.py", "def show(g):\n    return render(g.user, g.db, g)\n"),
    ("examples/token.rs", "fn main() {\n    println!(\"{}\", is_token_expired(&token(), 1));\n}\n"),
];

#[track_caller]
fn check(place: &Place, query: &str, expected: &[&str]) {
    let engine = place.index();
    let strategies = [Strategy::Hybrid, Strategy::Tfidf];
    for strategy in strategies {
        let hits = search(&engine, &SearchRequest { strategy, ..ask(query) }).hits;
        let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        assert!(paths.starts_with(expected), "{query} {strategy:?}: {paths:?}");
    }
}

/// Whether one path stands before another.
#[track_caller]
fn check_before(place: &Place, query: &str, first: &str, second: &str) {
    let hits = search(&place.index(), &ask(query)).hits;
    let at = |path: &str| hits.iter().position(|hit| hit.path == path).unwrap_or(usize::MAX);
    assert!(
        at(first) < at(second),
        "{query}: {first} at {}, {second} at {}",
        at(first),
        at(second)
    );
}

#[test]
fn a_definition_stands_before_its_uses() {
    let place = Place::new(FILES);
    check(&place, "is_token_expired", &["src/session/token.rs"]);
    check(&place, "isTokenExpired", &["src/session/token.rs"]);
    check(&place, "where do we check that a token has expired?", &["src/session/token.rs"]);
    check(&place, "where is is_token_expired defined", &["src/session/token.rs"]);
}

#[test]
fn tests_stand_below_sources_unless_asked_for() {
    let place = Place::new(FILES);
    for source in ["src/http/handler.rs", "src/http/middleware.rs"] {
        check_before(&place, "is_token_expired", source, "tests/token_test.rs");
        check_before(&place, "is_token_expired", source, "examples/token.rs");
    }
    check(&place, "test that an expired token is refused", &["tests/token_test.rs"]);
}

#[test]
fn letter_case_decides_between_definitions() {
    let place = Place::new(FILES);
    check(&place, "Parser", &["src/case_upper.ts", "src/case_lower.ts"]);
    check(&place, "parser", &["src/case_lower.ts", "src/case_upper.ts"]);
}

#[test]
fn a_name_of_one_letter_is_found() {
    let place = Place::new(FILES);
    check(&place, "g", &["flask/globals.py"]);
}

#[test]
fn a_qualified_name_is_found_by_its_last_part() {
    let place = Place::new(FILES);
    check(&place, "Rack::Response", &["lib/rack/response.rb"]);
    check(&place, "what does Rack::Response do", &["lib/rack/response.rb"]);
    check(&place, "Rack.Response", &["lib/rack/response.rb"]);
    let hit = &search(&place.index(), &ask("Rack::Response")).hits[0];
    assert_eq!(hit.name.as_deref().map(|name| name.ends_with("Response")), Some(true), "{hit:?}");
}

#[test]
fn keywords_count_like_words() {
    let place = Place::new(FILES);
    let engine = place.index();
    let request =
        SearchRequest { keywords: vec!["is_token_expired".into()], ..ask("whose time is over") };
    assert_eq!(search(&engine, &request).hits[0].path, "src/session/token.rs");
}

/// The order does not depend on the order of files or of their indexing.
#[test]
fn equal_hits_are_ordered_by_path() {
    let place = Place::new(&[]);
    for name in ["d", "b", "a", "c"] {
        place.write(&format!("src/{name}/same.rs"), "pub fn beacon_same() -> u32 {\n    1\n}\n");
    }
    let engine = place.index();
    place.write("src/a/same.rs", "pub fn other() {}\n");
    engine.sync(&Default::default(), &sextant::task::NoProgress).unwrap();
    place.write("src/a/same.rs", "pub fn beacon_same() -> u32 {\n    1\n}\n");
    engine.sync(&Default::default(), &sextant::task::NoProgress).unwrap();
    let hits = search(&engine, &ask("beacon_same")).hits;
    let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths, ["src/a/same.rs", "src/b/same.rs", "src/c/same.rs", "src/d/same.rs"]);
}
