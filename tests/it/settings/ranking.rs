//! What the settings of ranking and of limits change: `hybridSearch.*`, and how many hits there are.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sextant::embed::provider::{Deliver, Embedder, EmbeddingModel, ProviderError, Role};
use sextant::engine::{Engine, Parts, SearchRequest, Strategy};
use sextant::task::CancelToken;

use super::{AsSetting, configure, open, paths};
use crate::support::{Place, ask, codes, search, set_modified, sync};

pub const KEYS: &[&str] = &[
    "vectorDb.searchResultLimit",
    "hybridSearch.vectorWeight",
    "hybridSearch.textWeight",
    "hybridSearch.topK",
    "hybridSearch.mmr.enabled",
    "hybridSearch.mmr.lambda",
    "hybridSearch.temporalDecay.enabled",
    "hybridSearch.temporalDecay.halfLifeDays",
];

/// A model for which a text with the word `near` means what every query does.
#[derive(Debug)]
pub struct Near(EmbeddingModel);

impl Near {
    pub fn parts() -> Parts {
        let model = EmbeddingModel {
            provider: "callback",
            name: "near".into(),
            address: String::new(),
            dimensions: Some(4),
        };
        Parts { embedder: Some(Arc::new(Self(model))), ..Parts::default() }
    }
}

impl Embedder for Near {
    fn model(&self) -> &EmbeddingModel {
        &self.0
    }

    fn is_metered(&self) -> bool {
        false
    }

    fn embed(
        &self,
        _cancel: &CancelToken,
        role: Role,
        texts: &[&str],
        deliver: &mut Deliver<'_>,
    ) -> Result<(), ProviderError> {
        for (at, text) in texts.iter().enumerate() {
            let is_near = role == Role::Query || text.contains("near");
            let vector = if is_near { [0.8, 0.6, 0.0, 0.0] } else { [0.0, 0.6, 0.8, 0.0] };
            deliver(at, Ok(vector.to_vec()));
        }
        Ok(())
    }
}

/// `words.py` has the words of the question, `meaning.py` what it means by [`Near`].
pub fn opposites() -> Place {
    Place::new(&[
        ("words.py", "def lantern():\n    return 'lantern lantern lantern'\n"),
        ("meaning.py", "def shine():\n    return 'near, and one lantern'\n"),
        ("other.py", "def nothing():\n    return 'a wagon'\n"),
        ("more.py", "def nothing_else():\n    return 'a kettle'\n"),
    ])
}

/// The first hit for "lantern".
#[track_caller]
fn check_first(engine: &Engine, settings: &[(&str, &dyn AsSetting)], expected: &str) {
    configure(engine, settings);
    let request = SearchRequest { strategy: Strategy::Hybrid, ..ask("lantern") };
    let response = search(engine, &request);
    assert_eq!(paths(&response).first(), Some(&expected), "{:?}", response.tried);
}

#[test]
fn weights_decide_between_words_and_meaning() {
    let place = opposites();
    let engine = open(&place, &[], Near::parts());
    sync(&engine);
    let (vector, text) = ("hybridSearch.vectorWeight", "hybridSearch.textWeight");
    check_first(&engine, &[(vector, &0)], "words.py");
    check_first(&engine, &[(text, &0)], "meaning.py");
    check_first(&engine, &[(vector, &0.01), (text, &1)], "words.py");
    check_first(&engine, &[(vector, &1), (text, &0.01)], "meaning.py");
}

#[test]
fn weights_of_nothing_are_the_standard_ones_and_it_is_said_each_time() {
    let place = opposites();
    let engine = open(&place, &[], Near::parts());
    sync(&engine);
    let hits = |engine: &Engine| -> Vec<(String, u64)> {
        let hits = search(engine, &ask("lantern")).hits;
        hits.into_iter().map(|hit| (hit.path, hit.score.to_bits())).collect()
    };
    let standard = hits(&engine);
    configure(&engine, &[("hybridSearch.vectorWeight", &0), ("hybridSearch.textWeight", &0)]);
    assert_eq!(hits(&engine), standard);
    for _ in 0..2 {
        let response = search(&engine, &ask("lantern"));
        assert_eq!(codes(&response.degraded), ["WEIGHTS_ZERO"]);
        assert!(!response.is_cached, "a degraded answer is not kept");
    }
}

#[test]
fn how_many_hits_there_are_is_said_by_the_search_then_its_budget_then_the_settings() {
    let place = Place::new(&[]);
    for at in 0..200 {
        place.write(&format!("f{at:03}.py"), format!("def lantern_{at}():\n    return {at}\n"));
    }
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    let n = |strategy, limit, token_budget| {
        let request = SearchRequest { strategy, limit, token_budget, ..ask("lantern") };
        search(&engine, &request).hits.len()
    };
    let (hybrid, words, vectors) = (Strategy::Hybrid, Strategy::Tfidf, Strategy::Embeddings);
    assert_eq!([hybrid, words, vectors].map(|way| n(way, None, None)), [10, 8, 8]);
    configure(&engine, &[("hybridSearch.topK", &3)]);
    assert_eq!([hybrid, words, vectors].map(|way| n(way, None, None)), [3, 8, 8]);
    configure(&engine, &[("vectorDb.searchResultLimit", &5)]);
    assert_eq!([hybrid, words, vectors].map(|way| n(way, None, None)), [10, 5, 5]);
    configure(&engine, &[("hybridSearch.topK", &3), ("vectorDb.searchResultLimit", &5)]);
    // A budget stands for a hit each 250 tokens, and for no more than 128.
    for way in [hybrid, words] {
        assert_eq!(n(way, None, Some(250 * 7 + 249)), 7);
        assert_eq!(n(way, None, Some(250_000)), 128);
        assert_eq!(n(way, Some(150), Some(250_000)), 150);
        assert_eq!(n(way, Some(2), Some(250_000)), 2);
        assert_eq!(n(way, Some(12), None), 12);
    }
    assert_eq!(n(words, None, Some(100)), 1, "one hit at least");
}

#[test]
fn hits_that_say_the_same_give_way_to_others() {
    let same = "    # the lantern lights the harbour wall at night for the ships that pass\n";
    let place = Place::new(&[]);
    for name in ["a", "b", "c"] {
        place.write(&format!("{name}.py"), format!("def lantern():\n{same}    return '{name}'\n"));
    }
    place
        .write("z.py", "def lantern():\n    # oil, wick and glass belong to it\n    return burn\n");
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    let request = SearchRequest {
        strategy: Strategy::Hybrid,
        limit: Some(2),
        ..ask("lantern that lights the harbour wall")
    };
    let check = |settings: &[(&str, &dyn AsSetting)], has_other: bool| {
        configure(&engine, settings);
        let response = search(&engine, &request);
        assert_eq!(paths(&response).contains(&"z.py"), has_other, "{:?}", paths(&response));
    };
    check(&[], false);
    check(&[("hybridSearch.mmr.lambda", &0.1)], false);
    check(&[("hybridSearch.mmr.enabled", &true), ("hybridSearch.mmr.lambda", &0.1)], true);
    check(&[("hybridSearch.mmr.enabled", &true), ("hybridSearch.mmr.lambda", &1)], false);
}

#[test]
fn files_that_changed_lately_come_first_if_so_set() {
    let text = "def lantern():\n    return 'oil'\n";
    let place = Place::new(&[("a.py", text), ("b.py", text)]);
    let now = SystemTime::now();
    let days = |n: u64| Duration::from_secs(n * 86_400);
    set_modified(&place.root.join("a.py"), now - days(60));
    set_modified(&place.root.join("b.py"), now - days(30));
    let engine = open(&place, &[], Parts::default());
    sync(&engine);
    let request = SearchRequest { strategy: Strategy::Hybrid, explain: true, ..ask("lantern") };
    let plain = search(&engine, &request);
    assert_eq!(paths(&plain), ["a.py", "b.py"]);
    let age = |name: &str, path: &str| {
        let response = search(&engine, &request);
        assert_eq!(paths(&response), ["b.py", "a.py"], "{name}");
        let hit = response.hits.iter().find(|hit| hit.path == path).unwrap();
        let (_, age) = hit.explanation.iter().find(|(part, _)| *part == "age").unwrap();
        let before = plain.hits.iter().find(|hit| hit.path == path).unwrap().score;
        assert!((hit.score - before * age).abs() < 1e-5, "{hit:?}");
        *age
    };
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 0.01, "{found} {expected}");
    };
    configure(&engine, &[("hybridSearch.temporalDecay.enabled", &true)]);
    near(age("standard", "b.py"), 0.5);
    near(age("standard", "a.py"), 0.25);
    configure(
        &engine,
        &[
            ("hybridSearch.temporalDecay.enabled", &true),
            ("hybridSearch.temporalDecay.halfLifeDays", &60),
        ],
    );
    near(age("60 days", "a.py"), 0.5);
    // What counts is the change of the file, not its being indexed.
    fs::write(place.root.join("c.py"), "def nothing(): pass\n").unwrap();
    sync(&engine);
    near(age("indexed again", "a.py"), 0.5);
}
