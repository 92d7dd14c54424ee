//! The whole workspace as the answer: which are small enough, and what is shown of them.

use std::fs;

use sextant::engine::{Engine, Outcome, Parts, SearchRequest, SearchResponse, Strategy};
use sextant::task::CancelToken;
use sextant::token::TokenCounter;

use crate::settings::{AsSetting, check_off, configure, open, paths, tried};
use crate::support::{Place, ask, code_of, search, sync};

const FILES: &[(&str, &str)] = &[
    ("b/second.py", "\n\ndef second():\n    return 'größe 漢字'\n\n\n"),
    ("a.py", "def first():\n    return 1\n"),
    ("b/empty.py", ""),
    ("c/third.md", "# Third\n\nNothing about it."),
];

/// Tokens of all files without their last line ends.
fn n_tokens(place: &Place) -> usize {
    let counter = TokenCounter::new();
    let text = |path: &str| fs::read_to_string(place.root.join(path)).unwrap();
    let count = |(path, _): &(&str, &str)| counter.count(text(path).trim_end_matches('\n'));
    FILES.iter().map(count).sum()
}

fn with_budget(engine: &Engine, budget: usize) -> SearchResponse {
    search(
        engine,
        &SearchRequest { token_budget: Some(budget), limit: None, ..ask("anything at all") },
    )
}

#[test]
fn a_small_workspace_is_shown_whole_by_path_whatever_is_asked() {
    let place = Place::new(FILES);
    let engine = place.index();
    let request = SearchRequest { limit: Some(3), token_budget: Some(5000), ..ask("zeppelin") };
    let response = search(&engine, &request);
    assert_eq!((response.strategy, response.omitted_hits), ("full", 0));
    assert_eq!(paths(&response), ["a.py", "b/second.py", "c/third.md"]);
    for hit in &response.hits {
        let text = fs::read_to_string(place.root.join(&hit.path)).unwrap();
        assert_eq!(hit.text, text.trim_end_matches('\n'));
        assert_eq!((hit.start_line, hit.kind), (1, "full-file"));
        assert_eq!(hit.end_line as usize, hit.text.lines().count());
    }
    assert_eq!(response.tokens as usize, n_tokens(&place));
    assert_eq!(tried(&response, "full").outcome, Outcome::Answered);
    // Globs and languages are honoured.
    let request = SearchRequest { paths: vec!["b".into()], ..request };
    assert_eq!(paths(&search(&engine, &request)), ["b/second.py"]);
    let request =
        SearchRequest { paths: Vec::new(), languages: vec!["markdown".into()], ..request };
    assert_eq!(paths(&search(&engine, &request)), ["c/third.md"]);
}

#[test]
fn who_asks_for_it_alone_is_told_what_exactly_stands_in_the_way() {
    let place = Place::new(FILES);
    let engine = place.index();
    let why = |request: SearchRequest| {
        let request = SearchRequest { strategy: Strategy::Full, ..request };
        engine.search(&CancelToken::new(), &request).unwrap_err().to_string()
    };
    let limited = SearchRequest { limit: Some(2), ..ask("second") };
    let of_kind = SearchRequest { kinds: vec!["function".into()], ..ask("second") };
    let nowhere = SearchRequest { paths: vec!["zeppelin".into()], ..ask("second") };
    let cramped = SearchRequest { token_budget: Some(3), ..ask("second") };
    for (request, expected, is_large) in [
        (limited.clone(), "3 files; limit is 2", false),
        (of_kind, "a kind was asked for", false),
        (nowhere, "no file that the filters allow", false),
        (cramped, "4 tokens or more", true),
    ] {
        let message = why(request);
        assert!(message.contains(expected), "{message}");
        assert_eq!(message.contains("too large"), is_large, "{message}");
    }
    // A number of hits is kept, whoever answers.
    let response = search(&engine, &SearchRequest { token_budget: Some(5000), ..limited });
    assert_ne!(response.strategy, "full");
    assert!(response.hits.len() <= 2);
}

#[test]
fn it_needs_a_budget_or_to_be_asked_for() {
    let place = Place::new(FILES);
    let engine = place.index();
    let response = search(&engine, &ask("second"));
    assert!(tried(&response, "full").reason.contains("no token budget"));
    assert_eq!(response.strategy, "hybrid");
    let request = SearchRequest { strategy: Strategy::Full, ..ask("second") };
    assert_eq!(search(&engine, &request).hits.len(), 3);
    configure(&engine, &[("cascade.fullWorkspace", &false)]);
    check_off(&with_budget(&engine, 5000), "full", "cascade.fullWorkspace");
    assert_eq!(search(&engine, &request).hits.len(), 3, "who asks for it gets it");
}

#[test]
fn fewer_files_and_tokens_than_set_are_small() {
    let place = Place::new(FILES);
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    let is_full = |settings: &[(&str, &dyn AsSetting)], budget: usize| {
        configure(&engine, settings);
        with_budget(&engine, budget).strategy == "full"
    };
    let tokens = n_tokens(&place);
    assert_eq!([3, 4].map(|n| is_full(&[("cascade.fullMaxFiles", &n)], 5000)), [false, true]);
    let limits = [tokens as i32 - 1, tokens as i32, tokens as i32 + 1];
    let small = limits.map(|n| is_full(&[("cascade.fullMaxTokens", &n)], 5000));
    assert_eq!(small, [false, false, true]);
    // The budget is a bound that may be reached.
    assert_eq!([tokens - 1, tokens].map(|budget| is_full(&[], budget)), [false, true]);
}

#[test]
fn ninety_nine_files_are_small_and_a_hundred_are_not() {
    let place = Place::new(&[]);
    for at in 0..99 {
        place.write(&format!("f{at:02}.py"), format!("def f{at}(): pass\n"));
    }
    let engine = place.index();
    assert_eq!(with_budget(&engine, 32_000).hits.len(), 99);
    place.write("more.py", "def more(): pass\n");
    sync(&engine);
    let response = with_budget(&engine, 32_000);
    assert_eq!(response.strategy, "hybrid");
    assert_eq!(tried(&response, "full").reason, "100 files; fewer than 100 are small");
    let request = SearchRequest { strategy: Strategy::Full, ..ask("more") };
    let refused = engine.search(&CancelToken::new(), &request);
    let message = refused.as_ref().unwrap_err().to_string();
    assert!(message.contains("too large") && message.contains("100 files"), "{message}");
    assert_eq!(code_of(refused), "STRATEGY_UNAVAILABLE");
}

#[test]
fn what_was_found_too_large_is_not_counted_again_until_something_changes() {
    let place = Place::new(&[]);
    let large: String = (0..200).map(|n| format!("word{n} = {n}\n")).collect();
    for at in 0..60 {
        place.write(&format!("f{at:02}.py"), &large);
    }
    let engine = place.index();
    let reason = |engine: &Engine, query: &str, budget: usize| {
        let request = SearchRequest { token_budget: Some(budget), limit: None, ..ask(query) };
        tried(&search(engine, &request), "full").reason.clone()
    };
    assert_eq!(reason(&engine, "one", 40_000), "32000 tokens or more");
    assert_eq!(reason(&engine, "two", 40_000), "32000 tokens or more, as counted before");
    assert_eq!(reason(&engine, "three", 9_000), "9001 tokens or more, as counted before");
    // What a filter leaves is another matter.
    let few = SearchRequest {
        token_budget: Some(9_000),
        limit: None,
        paths: vec!["f00.py".into()],
        ..ask("four")
    };
    assert_eq!(search(&engine, &few).strategy, "full");
    for at in 1..60 {
        place.remove(&format!("f{at:02}.py"));
    }
    sync(&engine);
    assert_eq!(with_budget(&engine, 9_000).strategy, "full");
    let cancel = CancelToken::new();
    cancel.cancel();
    assert_eq!(code_of(engine.search(&cancel, &ask("five"))), "CANCELLED");
}
