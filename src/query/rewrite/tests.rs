//! Rewriting with models of every kind of usefulness.

use std::sync::Mutex;

use super::*;
use crate::token::TokenCounter;

/// Answers by purpose, and remembers what it was asked.
#[derive(Debug)]
struct Scripted {
    rephrase: Behaviour,
    intent: Behaviour,
    asked: Mutex<Vec<Completion>>,
}

#[derive(Clone, Copy, Debug)]
enum Behaviour {
    Says(&'static str),
    Fails,
    Panics,
    /// Until it is cancelled.
    Hangs,
    /// It must not be asked.
    Unasked,
}

impl LanguageModel for Scripted {
    fn complete(&self, cancel: &CancelToken, request: &Completion) -> Result<String, ModelError> {
        self.asked.lock().unwrap().push(request.clone());
        let behaviour = match request.purpose {
            Purpose::Rephrase => self.rephrase,
            Purpose::Intent => self.intent,
        };
        match behaviour {
            Behaviour::Says(text) => Ok(text.to_owned()),
            Behaviour::Fails => Err(ModelError::Failed { reason: "no credit".into() }),
            // Without the message of a panic, which would be noise in the output of the tests.
            Behaviour::Panics => std::panic::resume_unwind(Box::new("broken")),
            Behaviour::Hangs => loop {
                if cancel.is_cancelled() {
                    return Err(ModelError::Cancelled);
                }
                std::thread::yield_now();
            },
            Behaviour::Unasked => panic!("asked for {:?}", request.purpose),
        }
    }
}

fn scripted(rephrase: Behaviour, intent: Behaviour) -> Arc<Scripted> {
    Arc::new(Scripted { rephrase, intent, asked: Mutex::default() })
}

fn options() -> RewriteOptions {
    RewriteOptions {
        when: RewriteWhen::Needed,
        wants_keywords: false,
        wants_intent: true,
        limits: RewriteLimits::standard(),
    }
}

fn run(model: &Arc<Scripted>, input: &RewriteInput<'_>, options: &RewriteOptions) -> Rewritten {
    let model: Arc<dyn LanguageModel> = Arc::clone(model) as Arc<dyn LanguageModel>;
    rewrite(&CancelToken::new(), Some(&model), input, options)
}

fn words(rewritten: &Rewritten) -> Vec<&str> {
    rewritten.keywords.iter().map(|keyword| keyword.word.as_str()).collect()
}

const GOOD: &str = "## Question\nWhere is login tested?\n## Keywords\n- login, sign in\n- test\n";
const THAT: &str = "where is that tested?";

fn asking(question: &str) -> RewriteInput<'_> {
    RewriteInput { question, ..RewriteInput::default() }
}

#[test]
fn a_good_answer_is_used_as_it_is_ordered() {
    let model = scripted(Behaviour::Says(GOOD), Behaviour::Says("find-tests"));
    let rewritten = run(&model, &asking(THAT), &options());
    assert_eq!(rewritten.question, "Where is login tested?");
    assert_eq!(words(&rewritten), ["login", "test"]);
    assert_eq!(rewritten.keywords[0].variations, ["sign in"]);
    assert_eq!(rewritten.intent, Some(SearchIntent::FindTests));
    assert_eq!(rewritten.notices, []);
}

#[test]
fn the_requests_are_as_documented() {
    let model = scripted(Behaviour::Says(GOOD), Behaviour::Says("other"));
    let history = [Turn { question: "how do I log in?".into(), answer: "with login()".into() }];
    let input = RewriteInput {
        question: THAT,
        history: &history,
        scope: &["src/login.rs".to_owned()],
        tree: Some("src/\n\tlogin.rs\n"),
        has_attachments: false,
    };
    let _ = run(&model, &input, &options());
    let asked = model.asked.lock().unwrap();
    let of = |purpose| asked.iter().find(|request| request.purpose == purpose).unwrap();
    let rephrase = of(Purpose::Rephrase);
    let n_question = TokenCounter::new().count(THAT);
    assert_eq!(rephrase.max_tokens, n_question + 200);
    assert_eq!((rephrase.temperature, rephrase.stop.len()), (Some(0.0), 0));
    let roles: Vec<Role> = rephrase.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::User]);
    let last = &rephrase.messages[3].content;
    for part in ["## Question", "## Keywords", "at most 8", "`src/login.rs`", "\tlogin.rs"] {
        assert!(last.contains(part), "{part}");
    }
    assert!(last.ends_with(THAT));
    let intent = of(Purpose::Intent);
    assert_eq!((intent.max_tokens, intent.temperature), (20, None));
    assert_eq!(intent.stop, [";"]);
}

#[test]
fn a_model_of_no_use_costs_nothing_but_its_notice() {
    let local = rewrite(&CancelToken::new(), None, &asking(THAT), &options());
    assert_eq!(local.notices, []);
    assert_eq!((local.question.as_str(), words(&local)), (THAT, vec!["tested"]));
    let cases = [
        (Behaviour::Fails, "no credit"),
        (Behaviour::Panics, "ended without an answer"),
        (Behaviour::Hangs, "within 50 ms"),
        (Behaviour::Says(""), "empty"),
        (Behaviour::Says("I'm sorry, I can't do that."), "refusal"),
        (Behaviour::Says("It is tested in tests/login.rs"), "headings"),
    ];
    for (behaviour, reason) in cases {
        let mut options = options();
        if matches!(behaviour, Behaviour::Hangs) {
            options.limits.time = Duration::from_millis(50);
        }
        let rewritten = run(&scripted(behaviour, behaviour), &asking(THAT), &options);
        let codes: Vec<&str> = rewritten.notices.iter().map(|notice| notice.code).collect();
        assert_eq!(codes, ["QUERY_NOT_REWRITTEN", "QUERY_INTENT_UNKNOWN"], "{behaviour:?}");
        let message = &rewritten.notices[0].message;
        assert!(message.contains(reason) && !message.ends_with('.'), "{message}");
        assert_eq!(Rewritten { notices: Vec::new(), ..rewritten }, local, "{behaviour:?}");
    }
}

#[test]
fn one_call_may_fail_without_the_other() {
    let model = scripted(Behaviour::Says(GOOD), Behaviour::Fails);
    let rewritten = run(&model, &asking(THAT), &options());
    assert_eq!(rewritten.question, "Where is login tested?");
    assert_eq!((rewritten.intent, rewritten.notices[0].code), (None, "QUERY_INTENT_UNKNOWN"));
    let model = scripted(Behaviour::Fails, Behaviour::Says("explain;"));
    let rewritten = run(&model, &asking(THAT), &options());
    assert_eq!(rewritten.question, THAT);
    assert_eq!(rewritten.intent, Some(SearchIntent::Explain));
    assert_eq!(rewritten.notices[0].code, "QUERY_NOT_REWRITTEN");
}

#[test]
fn cancelling_ends_the_wait_and_the_model() {
    let model = scripted(Behaviour::Hangs, Behaviour::Hangs);
    let shared: Arc<dyn LanguageModel> = Arc::clone(&model) as Arc<dyn LanguageModel>;
    let cancel = CancelToken::new();
    cancel.cancel();
    let mut options = options();
    options.limits.time = Duration::MAX;
    let rewritten = rewrite(&cancel, Some(&shared), &asking(THAT), &options);
    assert_eq!(rewritten.question, THAT);
    assert!(rewritten.notices.iter().all(|notice| notice.message.starts_with("cancelled")));
    drop(shared);
    // The threads let go of the model when they end.
    while Arc::strong_count(&model) > 1 {
        std::thread::yield_now();
    }
}

#[test]
fn a_model_is_asked_only_where_the_question_needs_it() {
    let unasked = scripted(Behaviour::Unasked, Behaviour::Unasked);
    let quiet = RewriteOptions { wants_intent: false, ..options() };
    let clear = run(&unasked, &asking("where is the parser"), &quiet);
    assert_eq!((clear.notices.len(), words(&clear)), (0, vec!["parser"]));
    assert_eq!(run(&unasked, &asking(" \n"), &options()).keywords, []);
    let never = RewriteOptions { when: RewriteWhen::Never, wants_keywords: true, ..quiet.clone() };
    assert_eq!(run(&unasked, &asking(THAT), &never).notices, []);
    let history = [Turn { question: "a".into(), answer: String::new() }];
    let cases = [
        (RewriteInput { history: &history, ..asking("parser") }, quiet.clone()),
        (RewriteInput { has_attachments: true, ..asking("parser") }, quiet.clone()),
        (asking(THAT), quiet.clone()),
        (asking("explain #selection"), quiet.clone()),
        (asking("parser"), RewriteOptions { wants_keywords: true, ..quiet.clone() }),
        (asking("parser"), RewriteOptions { when: RewriteWhen::Always, ..quiet }),
    ];
    for (input, options) in cases {
        let model = scripted(Behaviour::Says(GOOD), Behaviour::Unasked);
        assert_eq!(run(&model, &input, &options).question, "Where is login tested?", "{input:?}");
    }
}

#[test]
fn words_that_point_elsewhere_are_seen() {
    for (question, expect) in [
        ("where is it?", true),
        ("what does THAT do", true),
        ("are there tests", true),
        ("look at #file:src/a.rs", true),
        ("#selection?", true),
        ("where is iterate", false),
        ("what is this_value", false),
        ("#include <stdio.h>", false),
        ("", false),
    ] {
        assert_eq!(refers_elsewhere(question), expect, "{question:?}");
    }
}

#[test]
fn names_that_the_asker_wrote_survive() {
    let asked = "how does that use parseUrl, foo_bar, a/b.ts and \"no route\"?";
    let model = scripted(
        Behaviour::Says(
            "## Question\nHow does the router use parseUrl?\n## Keywords\n- router\n- a/b.ts\n",
        ),
        Behaviour::Says("explain"),
    );
    let rewritten = run(&model, &asking(asked), &options());
    assert_eq!(words(&rewritten), ["foo_bar", "no route", "router", "a/b.ts"]);
    let mut few = options();
    few.limits.max_keywords = 1;
    let rewritten = run(&model, &asking(asked), &few);
    assert_eq!(words(&rewritten), ["foo_bar", "a/b.ts", "no route"]);
}

#[test]
fn an_answer_without_keywords_takes_those_of_its_question() {
    let model = scripted(
        Behaviour::Says("## Question\nWhere is login tested?\n"),
        Behaviour::Says("find-tests"),
    );
    let rewritten = run(&model, &asking(THAT), &options());
    assert_eq!((words(&rewritten), rewritten.notices.len()), (vec!["login", "tested"], 0));
    let wanting = RewriteOptions { wants_keywords: true, ..options() };
    assert_eq!(run(&model, &asking(THAT), &wanting).notices[0].code, "QUERY_NOT_REWRITTEN");
}
