//! A language model that helps to understand questions: what it is shown, what it changes, and what it costs when it fails.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sextant::engine::{Engine, Parts, SearchRequest, SearchResponse};
use sextant::query::rewrite::{Completion, LanguageModel, ModelError, Purpose, Turn};
use sextant::task::CancelToken;

use crate::settings::{AsSetting, open, paths};
use crate::support::{Place, ask, codes, search, sync};

/// An answer that makes sense for any question about a lantern.
pub const REPLY: &str =
    "## Question\nWhere is the lantern lit?\n\n## Keywords\n- lantern\n- light\n";

type Behaviour = dyn Fn(&Completion, &CancelToken) -> Result<String, ModelError> + Send + Sync;

/// A model that does as it is told and remembers what it was asked.
pub struct Model {
    behaviour: Box<Behaviour>,
    seen: Mutex<Vec<Completion>>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Model")
    }
}

impl Model {
    pub fn new(
        behaviour: impl Fn(&Completion, &CancelToken) -> Result<String, ModelError>
        + Send
        + Sync
        + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { behaviour: Box::new(behaviour), seen: Mutex::default() })
    }

    pub fn seen(&self) -> Vec<Completion> {
        self.seen.lock().unwrap().clone()
    }

    /// Until it is told to stop.
    pub fn hang(cancel: &CancelToken) -> Result<String, ModelError> {
        while !cancel.is_cancelled() {
            std::thread::park_timeout(Duration::from_millis(2));
        }
        Err(ModelError::Cancelled)
    }
}

impl LanguageModel for Model {
    fn complete(&self, cancel: &CancelToken, request: &Completion) -> Result<String, ModelError> {
        self.seen.lock().unwrap().push(request.clone());
        (self.behaviour)(request, cancel)
    }
}

fn tree() -> Place {
    Place::new(&[
        (
            "src/payment.py",
            "def retry_payment(order):\n    \"\"\"Sends a payment again.\"\"\"\n    return send(order)\n",
        ),
        ("tests/test_payment.py", "def test_retry_payment():\n    assert retry_payment(order())\n"),
        ("tests/test_stock.py", "def test_stock_is_counted():\n    assert count_stock() == 3\n"),
        ("tests/test_mail.py", "def test_mail_is_sent():\n    assert send_mail()\n"),
        ("src/where.py", "def where_is_it(tested):\n    return tested\n"),
    ])
}

const FOLLOW_UP: &str = "and where is it tested?";

fn follow_up() -> SearchRequest {
    let turn = Turn {
        question: "where are payments sent again?".into(),
        answer: "retry_payment in src/payment.py does that".into(),
    };
    SearchRequest { history: vec![turn], ..ask(FOLLOW_UP) }
}

fn with(model: Option<&Arc<Model>>, settings: &[(&str, &dyn AsSetting)]) -> (Place, Engine) {
    let place = tree();
    let language_model = model.map(|model| Arc::clone(model) as Arc<dyn LanguageModel>);
    let engine = open(&place, settings, Parts { language_model, ..Parts::default() });
    sync(&engine);
    (place, engine)
}

/// Hits as they stand, with their scores.
fn hits(response: &SearchResponse) -> Vec<(String, u32, u64)> {
    let hits = response.hits.iter();
    hits.map(|hit| (hit.path.clone(), hit.start_line, hit.score.to_bits())).collect()
}

/// What is found without a model.
fn plain(request: &SearchRequest) -> SearchResponse {
    let (_place, engine) = with(None, &[]);
    search(&engine, request)
}

const REPHRASED: &str = "## Question\nWhere is retry_payment tested?\n\n## Keywords\n- retry_payment\n- test_retry_payment, payment\n";

#[test]
fn a_question_that_follows_another_finds_what_it_means() {
    let model = Model::new(|_, _| Ok(REPHRASED.into()));
    let (_place, engine) = with(Some(&model), &[]);
    let response = search(&engine, &follow_up());
    assert_eq!(paths(&response)[0], "tests/test_payment.py");
    assert_ne!(paths(&plain(&follow_up()))[0], "tests/test_payment.py");
    assert_eq!(response.query, FOLLOW_UP);
    assert_eq!(response.question, "Where is retry_payment tested?");
    let words: Vec<&str> = response.keywords.iter().map(|keyword| keyword.word.as_str()).collect();
    assert_eq!(words, ["retry_payment", "test_retry_payment"]);
    assert!(response.degraded.is_empty() && response.intent.is_none());
    // It was shown the conversation, and how much it may say.
    let seen = model.seen();
    let said: Vec<&str> = seen[0].messages.iter().map(|m| m.content.as_str()).collect();
    assert_eq!(
        said[1..3],
        ["where are payments sent again?", "retry_payment in src/payment.py does that"]
    );
    assert!(said.last().unwrap().ends_with(FOLLOW_UP));
    let n_tokens = sextant::token::TokenCounter::new().count(FOLLOW_UP);
    assert_eq!((seen[0].max_tokens, seen[0].temperature), (n_tokens + 200, Some(0.0)));
    // The answer is kept, and the model not asked again.
    assert!(search(&engine, &follow_up()).is_cached);
    assert_eq!(model.seen().len(), 1);
}

#[test]
fn keywords_of_the_model_are_looked_for_beside_the_question() {
    let reply = "## Question\nHow are numbers right?\n\n## Keywords\n- count_stock\n";
    let model = Model::new(move |_, _| Ok(reply.into()));
    let (_place, engine) = with(Some(&model), &[]);
    let request = ask("how are numbers right?");
    assert_eq!(paths(&search(&engine, &request))[0], "tests/test_stock.py");
    assert_ne!(paths(&plain(&request)).first(), Some(&"tests/test_stock.py"));
}

#[test]
fn the_kind_of_answer_is_asked_for_in_a_call_of_its_own_with_its_limits() {
    let model = Model::new(|completion, _| match completion.purpose {
        Purpose::Rephrase => Ok(REPHRASED.into()),
        Purpose::Intent => Ok("find-tests; I think".into()),
    });
    let (_place, engine) = with(Some(&model), &[("query.intent", &true)]);
    let response = search(&engine, &follow_up());
    assert_eq!(response.intent, Some("find-tests"));
    let seen = model.seen();
    let intent = seen.iter().find(|asked| asked.purpose == Purpose::Intent).unwrap();
    assert_eq!((intent.max_tokens, intent.stop.as_slice()), (20, &[";".to_owned()][..]));
    assert_eq!(seen.len(), 2);

    let vague = Model::new(|completion, _| match completion.purpose {
        Purpose::Rephrase => Ok(REPHRASED.into()),
        Purpose::Intent => Ok("that depends".into()),
    });
    let (_place, engine) = with(Some(&vague), &[("query.intent", &true)]);
    let response = search(&engine, &follow_up());
    assert_eq!((response.intent, codes(&response.degraded)), (None, vec!["QUERY_INTENT_UNKNOWN"]));
    assert_eq!(paths(&response)[0], "tests/test_payment.py");
}

/// A model of no use costs its time and a notice: all else is as without it.
#[track_caller]
fn check_useless(model: &Arc<Model>, wait_ms: i32, reason: &str) {
    let (_place, engine) = with(Some(model), &[("query.wait", &wait_ms)]);
    let started = Instant::now();
    let response = search(&engine, &follow_up());
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    assert_eq!(codes(&response.degraded), ["QUERY_NOT_REWRITTEN"]);
    assert!(response.degraded[0].message.contains(reason), "{:?}", response.degraded);
    let plain = plain(&follow_up());
    assert_eq!(hits(&response), hits(&plain));
    assert_eq!(response.question, FOLLOW_UP);
    assert_eq!(response.keywords, plain.keywords);
    assert!(!search(&engine, &follow_up()).is_cached, "a degraded answer is not kept");
}

#[test]
fn a_model_that_is_slow_fails_or_talks_nonsense_costs_a_notice() {
    const PATIENT: i32 = 60_000;
    check_useless(&Model::new(|_, cancel| Model::hang(cancel)), 200, "within 200 ms");
    let failed = |_: &Completion, _: &CancelToken| {
        Err(ModelError::Failed { reason: "it has no quota left".into() })
    };
    check_useless(&Model::new(failed), PATIENT, "it has no quota left");
    check_useless(&Model::new(|_, _| panic!("on purpose")), PATIENT, "ended without an answer");
    check_useless(&Model::new(|_, _| Ok(String::new())), PATIENT, "empty");
    check_useless(&Model::new(|_, _| Ok("Sorry, I cannot help with that.".into())), PATIENT, "");
    check_useless(&Model::new(|_, _| Ok("In tests/test_payment.py.".into())), PATIENT, "headings");
}

#[test]
fn a_model_that_was_cancelled_does_not_hold_the_search() {
    let model = Model::new(|_, cancel| Model::hang(cancel));
    let (_place, engine) = with(Some(&model), &[("query.wait", &600_000)]);
    let cancel = CancelToken::new();
    std::thread::scope(|scope| {
        let search = scope.spawn(|| engine.search(&cancel, &follow_up()));
        while model.seen().is_empty() {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        cancel.cancel();
        assert_eq!(search.join().unwrap().unwrap_err().code(), "CANCELLED");
    });
}

#[test]
fn who_does_not_want_a_model_asks_none() {
    let model = Model::new(|_, _| Ok(REPHRASED.into()));
    let (_place, engine) = with(Some(&model), &[("query.intent", &true)]);
    let request = SearchRequest { rewrite: false, ..follow_up() };
    let response = search(&engine, &request);
    assert!(model.seen().is_empty());
    assert_eq!(hits(&response), hits(&plain(&request)));
    assert!(response.degraded.is_empty());
}

#[test]
fn without_a_model_there_are_the_words_of_the_question() {
    let request = ask("where does `retry_payment` send the payments again");
    let response = plain(&request);
    let words: Vec<&str> = response.keywords.iter().map(|keyword| keyword.word.as_str()).collect();
    assert_eq!(words[0], "retry_payment");
    assert!(words.contains(&"payments") && !words.contains(&"the"), "{words:?}");
    assert!(response.degraded.is_empty());
    // They are for the caller to see; what is found is what the question finds.
    assert_eq!(hits(&response), hits(&plain(&SearchRequest { rewrite: false, ..request.clone() })));
    let named = plain(&SearchRequest { keywords: vec!["count_stock".into()], ..request });
    assert_eq!(named.keywords[0].word, "count_stock");
    assert!(paths(&named).contains(&"tests/test_stock.py"));
}
