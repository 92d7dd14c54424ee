//! What the settings of `query.*` ask a language model for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sextant::engine::Parts;
use sextant::query::rewrite::Purpose;

use super::{AsSetting, open};
use crate::rewriting::{Model, REPLY};
use crate::support::{Place, ask, codes, search, sync};

pub const KEYS: &[&str] = &["query.rewrite", "query.keywords", "query.intent", "query.wait"];

/// What a model is asked for when `query` is searched with these settings.
#[track_caller]
fn check(settings: &[(&str, &dyn AsSetting)], query: &str, expected: &[Purpose]) {
    let place = Place::new(&[("a.py", "def lantern():\n    return 1\n")]);
    let model = Model::new(|completion, _| match completion.purpose {
        Purpose::Rephrase => Ok(REPLY.into()),
        Purpose::Intent => Ok("find-code".into()),
    });
    let parts = Parts { language_model: Some(Arc::clone(&model) as Arc<_>), ..Parts::default() };
    let engine = open(&place, settings, parts);
    sync(&engine);
    let response = search(&engine, &ask(query));
    let mut asked: Vec<Purpose> = model.seen().iter().map(|asked| asked.purpose).collect();
    asked.sort_by_key(|purpose| *purpose == Purpose::Intent);
    assert_eq!(asked, expected, "{query}");
    assert_eq!(response.intent.is_some(), expected.contains(&Purpose::Intent));
}

#[test]
fn a_model_is_asked_for_what_is_set() {
    let (plain, pointing) = ("where is the lantern lit", "where is it lit");
    let (rephrase, both) = ([Purpose::Rephrase], [Purpose::Rephrase, Purpose::Intent]);
    check(&[], plain, &rephrase);
    check(&[("query.rewrite", &"never")], pointing, &[]);
    check(&[("query.keywords", &false)], plain, &[]);
    check(&[("query.keywords", &false)], pointing, &rephrase);
    check(&[("query.keywords", &false), ("query.rewrite", &"always")], plain, &rephrase);
    check(&[("query.intent", &true)], plain, &both);
    check(&[("query.intent", &true), ("query.rewrite", &"never")], plain, &both[1..]);
}

#[test]
fn a_model_is_waited_for_as_long_as_is_set() {
    let place = Place::new(&[("a.py", "def lantern():\n    return 1\n")]);
    let model = Model::new(|_, cancel| Model::hang(cancel));
    let parts = Parts { language_model: Some(model), ..Parts::default() };
    let engine = open(&place, &[("query.wait", &40)], parts);
    sync(&engine);
    let started = Instant::now();
    let response = search(&engine, &ask("where is the lantern lit"));
    assert!(started.elapsed() < Duration::from_millis(3000), "{:?}", started.elapsed());
    assert_eq!(codes(&response.degraded), ["QUERY_NOT_REWRITTEN"]);
    assert!(response.degraded[0].message.contains("40 ms"), "{:?}", response.degraded);
}
