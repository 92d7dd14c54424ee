//! Which way of searching answers: the whole workspace, a server, vectors and words as one, and what follows when nothing is
//! found; that each can be switched off; and that all that was tried is told.

pub mod remote;
mod whole;

use std::sync::Arc;
use std::time::{Duration, Instant};

use sextant::engine::{
    Degradation, Engine, Outcome, Parts, SearchRequest, SearchResponse, Strategy,
};
use sextant::token::TokenCounter;

use crate::provided::Words;
use crate::settings::ranking::{Near, opposites};
use crate::settings::{AsSetting, check_off, configure, open, paths, tried};
use crate::support::{Place, ask, codes, search, sync};

pub const KEYS: &[&str] = &[
    "cascade.fullWorkspace",
    "cascade.fullMaxFiles",
    "cascade.fullMaxTokens",
    "cascade.embeddings",
    "cascade.hybrid",
    "cascade.embeddingsWait",
    "cascade.tfidf",
    "cascade.tfidfMaxFiles",
    "cascade.tfidfSpread",
    "cascade.tfidfReranked",
    "cascade.minScoreShare",
    "cascade.fallbackVectors",
    "cascade.fallbackText",
    "cascade.fallbackCommonFiles",
];

fn tree() -> Place {
    Place::new(&[
        ("README.md", "# The tower\n\nIt stands by the sea.\n"),
        ("package.json", "{\"name\": \"tower\", \"version\": \"1.0.0\"}\n"),
        ("src/main.py", "def main():\n    return light_lantern()\n"),
        ("src/lantern.py", "def light_lantern():\n    return 'oil => flame'\n"),
        ("src/anchor.py", "def drop_anchor():\n    return 'sailors drop iron in the harbour'\n"),
    ])
}

fn names(response: &SearchResponse) -> Vec<(&'static str, Outcome)> {
    let tried = response.tried.iter();
    tried.map(|tried| (tried.strategy, tried.outcome)).collect()
}

#[test]
fn all_that_was_tried_is_told_in_order_with_reason_and_time() {
    let place = tree();
    let engine = place.index();
    let started = Instant::now();
    let response = search(&engine, &ask("light_lantern"));
    let whole = started.elapsed().as_secs_f64() * 1000.0;
    let (skipped, answered) = (Outcome::Skipped, Outcome::Answered);
    assert_eq!(names(&response), [("full", skipped), ("remote", skipped), ("hybrid", answered)]);
    assert!(response.tried.iter().all(|tried| !tried.reason.is_empty()));
    assert!(response.tried.iter().all(|tried| (0.0..=whole).contains(&tried.took_ms)));
    assert!(response.tried[2].took_ms > 0.0);
    assert_eq!(response.strategy, "hybrid");
    // Who says how gets that alone.
    let of =
        |strategy| names(&search(&engine, &SearchRequest { strategy, ..ask("light_lantern") }));
    assert_eq!(of(Strategy::Hybrid), [("hybrid", answered)]);
    assert_eq!(of(Strategy::Tfidf), [("tfidf", answered)]);
    assert_eq!(of(Strategy::Embeddings), [("embeddings", answered)]);
}

#[test]
fn vectors_and_words_are_one_or_one_after_the_other_or_off() {
    let place = tree();
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    let ask_with = |settings: &[(&str, &dyn AsSetting)]| {
        configure(&engine, settings);
        search(&engine, &ask("light_lantern"))
    };
    assert_eq!(ask_with(&[("cascade.hybrid", &false)]).strategy, "embeddings");
    let off: (&str, &dyn AsSetting) = ("cascade.embeddings", &false);
    let response = ask_with(&[off]);
    assert_eq!(response.strategy, "tfidf");
    check_off(&response, "hybrid", "cascade.embeddings");
    let response = ask_with(&[off, ("cascade.tfidf", &false)]);
    check_off(&response, "tfidf", "cascade.tfidf");
    assert_eq!(response.strategy, "text");
    // More files than are searched by words.
    for (n, is_searched) in [(5, true), (4, false), (0, true)] {
        let response = ask_with(&[off, ("cascade.tfidfMaxFiles", &n)]);
        assert_eq!(response.strategy == "tfidf", is_searched, "{n}");
        if !is_searched {
            assert_eq!(
                tried(&response, "tfidf").reason,
                "5 files; at most 4 are searched by words"
            );
        }
    }
}

/// The chain to its end, without vectors: each link answers what those before it did not, unless it is off.
#[test]
fn what_is_not_found_by_words_is_found_as_it_stands_or_else_the_common_files_are() {
    let place = tree();
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    let none: (&str, &dyn AsSetting) = ("vectorDb.enabled", &false);
    configure(&engine, &[none]);
    let response = search(&engine, &ask("=>"));
    assert_eq!((response.strategy, paths(&response)), ("text", vec!["src/lantern.py"]));
    configure(&engine, &[none, ("cascade.fallbackText", &false)]);
    let response = search(&engine, &ask("=>"));
    check_off(&response, "text", "cascade.fallbackText");
    assert!(response.hits.iter().all(|hit| hit.path != "src/lantern.py"));

    configure(&engine, &[none]);
    let nowhere = "zeppelin xylophones quartzite";
    let response = search(&engine, &ask(nowhere));
    assert_eq!(response.strategy, "common-files");
    assert_eq!(codes(&response.degraded), ["NOTHING_FOUND"]);
    assert_eq!(paths(&response)[..2], ["README.md", "package.json"]);
    let expected = ["full", "remote", "hybrid", "tfidf", "embeddings", "text", "common-files"];
    let tried: Vec<&str> = response.tried.iter().map(|tried| tried.strategy).collect();
    let without: Vec<&str> = expected.into_iter().filter(|name| *name != "embeddings").collect();
    assert!(tried == expected || tried == without, "{tried:?}");
    // They stand in for no hit that had to be among certain files.
    let request = SearchRequest { paths: vec!["src".into()], ..ask(nowhere) };
    assert!(search(&engine, &request).hits.is_empty());
    configure(&engine, &[none, ("cascade.fallbackCommonFiles", &false)]);
    let response = search(&engine, &ask(nowhere));
    check_off(&response, "common-files", "cascade.fallbackCommonFiles");
    assert!(response.hits.is_empty());
}

#[test]
fn no_more_hits_than_the_limit_are_found_as_they_stand() {
    let place = Place::new(&[]);
    for at in 0..9 {
        place.write(&format!("f{at}.js"), format!("const f{at} = () => {at}\n"));
    }
    let engine = place.index();
    let request = SearchRequest { limit: Some(2), strategy: Strategy::Tfidf, ..ask("=>") };
    let response = search(&engine, &request);
    assert_eq!((response.strategy, response.hits.len()), ("text", 2), "{:?}", response.tried);
}

#[test]
fn where_a_provider_fails_and_words_find_nothing_the_embedded_vectors_answer() {
    let place = tree();
    let words = Words::new("words", 32);
    let parts = Parts { embedder: Some(Arc::clone(&words) as Arc<_>), ..Parts::default() };
    let quick: (&str, &dyn AsSetting) = ("embedding.queryTimeout", &20);
    let engine = open(&place, &[quick], parts);
    sync(&engine);
    words.change(|state| state.hangs = Some(Duration::from_secs(30)));
    let meaning = "ocean boats";
    let response = search(&engine, &ask(meaning));
    assert_eq!(response.strategy, "embeddings");
    assert_eq!(paths(&response)[0], "src/anchor.py");
    assert_eq!(tried(&response, "tfidf").outcome, Outcome::Empty);
    let instead = |response: &SearchResponse| {
        let is_it = |told: &&Degradation| told.code == "EMBEDDINGS_UNAVAILABLE";
        response.degraded.iter().find(is_it).unwrap().message.clone()
    };
    let by_vectors = "answered by the vectors of the embedded model";
    assert!(instead(&response).ends_with(by_vectors), "{}", instead(&response));
    configure(&engine, &[quick, ("vectorDb.fallbackToKeywordSearch", &false)]);
    let response = search(&engine, &ask(meaning));
    assert_eq!(response.strategy, "embeddings");
    let message = instead(&response);
    assert!(
        message.contains("so words are not asked") && message.ends_with(by_vectors),
        "{message}"
    );
    configure(&engine, &[quick, ("cascade.fallbackVectors", &false)]);
    let response = search(&engine, &ask(meaning));
    check_off(&response, "embeddings", "cascade.fallbackVectors");
    assert_eq!(response.strategy, "common-files");
}

#[test]
fn vectors_are_waited_for_no_longer_than_is_set() {
    let place = tree();
    let words = Words::new("words", 32);
    let parts = Parts { embedder: Some(Arc::clone(&words) as Arc<_>), ..Parts::default() };
    let settings: &[(&str, &dyn AsSetting)] =
        &[("embedding.queryTimeout", &60_000), ("cascade.embeddingsWait", &4000)];
    let engine = open(&place, settings, parts);
    sync(&engine);
    configure(&engine, &[settings[0], ("cascade.embeddingsWait", &30)]);
    words.change(|state| state.hangs = Some(Duration::from_secs(30)));
    let started = Instant::now();
    let response = search(&engine, &ask("light_lantern"));
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(tried(&response, "hybrid").outcome, Outcome::TimedOut);
    assert!(tried(&response, "hybrid").reason.contains("30 ms"));
    assert_eq!(response.strategy, "tfidf");
}

/// Hits by words for "lantern", with these settings.
#[track_caller]
fn by_words(engine: &Engine, limit: usize, settings: &[(&str, &dyn AsSetting)]) -> Vec<String> {
    configure(engine, settings);
    let request = SearchRequest { strategy: Strategy::Tfidf, limit: Some(limit), ..ask("lantern") };
    paths(&search(engine, &request)).into_iter().map(str::to_owned).collect()
}

#[test]
fn what_scores_too_far_below_the_best_by_words_is_no_hit() {
    let place =
        Place::new(&[("best.py", "def lantern():\n    return lantern(lantern, lantern)\n")]);
    for at in 0..5 {
        let filler: String = (0..60).map(|n| format!("    value_{n} = {n}\n")).collect();
        let text = format!("def other_{at}():\n{filler}    return 'lantern'\n");
        place.write(&format!("far_{at}.py"), text);
    }
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    assert_eq!(by_words(&engine, 50, &[("cascade.tfidfSpread", &0)]), ["best.py"]);
    assert_eq!(by_words(&engine, 50, &[("cascade.tfidfSpread", &1)]).len(), 6);
    // The standard: at least a quarter of the best.
    let standard = by_words(&engine, 50, &[]);
    assert_eq!(standard, by_words(&engine, 50, &[("cascade.tfidfSpread", &0.75)]));
    configure(&engine, &[("cascade.minScoreShare", &1)]);
    assert_eq!(search(&engine, &ask("lantern")).hits.len(), 1);
    configure(&engine, &[]);
    assert!(search(&engine, &ask("lantern")).hits.len() > 1);
}

#[test]
fn so_many_candidates_by_words_are_ranked_again_by_meaning() {
    let place = opposites();
    let engine = open(&place, &[], Near::parts());
    sync(&engine);
    // Vectors of the provider rank what words find, and nothing else.
    let first = |limit: usize, reranked: i32| {
        let settings: &[(&str, &dyn AsSetting)] = &[
            ("cascade.embeddings", &false),
            ("hybridSearch.textWeight", &0),
            ("cascade.tfidfReranked", &reranked),
            ("cascade.tfidfSpread", &1),
        ];
        configure(&engine, settings);
        let response = search(&engine, &SearchRequest { limit: Some(limit), ..ask("lantern") });
        assert_eq!(response.strategy, "tfidf");
        response.hits[0].path.clone()
    };
    assert_eq!(first(1, 128), "meaning.py");
    assert_eq!(first(1, 2), "meaning.py");
    assert_eq!(first(1, 1), "words.py", "the second candidate is not looked at");
    assert_eq!(first(2, 0), "words.py");
}

#[test]
fn the_standard_is_128_candidates() {
    let place = Place::new(&[]);
    // 140 files that say the word twice, and one of the wanted meaning that says it once.
    for at in 0..140 {
        let text = format!("def lantern_{at}():\n    return 'lantern'\n");
        place.write(&format!("f{at:03}.py"), text);
    }
    place.write(
        "z.py",
        "def shine_here():\n    value = 'it is near, with one lantern'\n    return value\n",
    );
    let engine = open(&place, &[], Near::parts());
    sync(&engine);
    let has_near = |reranked: i32| {
        let settings: &[(&str, &dyn AsSetting)] = &[
            ("cascade.embeddings", &false),
            ("hybridSearch.textWeight", &0),
            ("cascade.tfidfSpread", &1),
            ("cascade.tfidfReranked", &reranked),
        ];
        configure(&engine, if reranked == 128 { &settings[..3] } else { settings });
        let request = SearchRequest { limit: Some(1), ..ask("lantern") };
        paths(&search(&engine, &request)) == ["z.py"]
    };
    assert_eq!([has_near(1000), has_near(128)], [true, false]);
}

#[test]
fn a_budget_is_spent_on_whole_hits_in_order_and_the_last_is_cut_at_a_line() {
    let place = Place::new(&[]);
    for at in 0..9 {
        let lines: String =
            (0..6 + at).map(|n| format!("    lantern_{at}_{n} = 'oil {n}'\n")).collect();
        place.write(&format!("f{at}.py"), format!("def lantern_{at}():\n{lines}"));
    }
    let engine = place.index();
    let counter = TokenCounter::new();
    let request = SearchRequest { strategy: Strategy::Hybrid, ..ask("lantern oil") };
    let all = search(&engine, &request);
    assert_eq!((all.hits.len(), all.omitted_hits, all.omitted_lines), (9, 0, 0));
    let n_tokens = |texts: &[&str]| texts.iter().map(|text| counter.count(text)).sum::<usize>();
    let texts: Vec<&str> = all.hits.iter().map(|hit| hit.text.as_str()).collect();
    assert_eq!(all.tokens as usize, n_tokens(&texts));
    for budget in (30..all.tokens as usize + 40).step_by(23) {
        let request = SearchRequest { token_budget: Some(budget), ..request.clone() };
        let some = search(&engine, &request);
        let shown: Vec<&str> = some.hits.iter().map(|hit| hit.text.as_str()).collect();
        assert_eq!(some.tokens as usize, n_tokens(&shown), "{budget}");
        assert!(some.tokens as usize <= budget);
        assert_eq!(some.hits.len() + some.omitted_hits as usize, 9, "{budget}");
        let Some((last, whole)) = shown.split_last() else { continue };
        assert_eq!(whole, &texts[..whole.len()], "{budget}");
        let full = texts[whole.len()];
        assert!(full.starts_with(last), "{budget}");
        let missing = full.lines().count() - last.lines().count();
        assert_eq!(some.omitted_lines as usize, missing, "{budget}");
        let hit = some.hits.last().unwrap();
        assert_eq!((hit.end_line - hit.start_line + 1) as usize, last.lines().count());
        if missing > 0 {
            let lines: Vec<&str> = full.split_inclusive('\n').collect();
            assert_eq!(lines[..last.lines().count()].concat().trim_end(), last.trim_end());
        }
    }
    let request = SearchRequest { token_budget: Some(1), ..request };
    let nothing = search(&engine, &request);
    assert_eq!(codes(&nothing.degraded), ["BUDGET_TOO_SMALL"]);
    assert_eq!((nothing.hits.len(), nothing.omitted_hits > 0), (0, true));
}
