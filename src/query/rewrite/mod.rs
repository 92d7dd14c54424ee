//! How would the question be asked by someone who knows what to search for?
//!
//! In: a question, the conversation before it, and a language model, if there is one. Out: the question so that it stands
//! on its own, its keywords, the most relevant first, and what kind of answer it wants. Without a model, or where it is not
//! worth asking, the question stays and its keywords are those of [`local_keywords`].
//!
//! A model costs at most the time limit. One that is slow, fails or talks nonsense leaves what there would be without it,
//! and a notice. Identifiers, paths and quoted texts of the question are never lost: what the model drops becomes a
//! keyword.
//!
//! Source: the rewriting of VS Code Copilot Chat 0.34 (a small model, temperature 0, question tokens + 200), which reverses
//! the keywords and takes spaces for keywords where the model fails.

mod intent;
mod local;
mod model;
mod parse;
mod pending;
mod prompt;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::intent::SearchIntent;
pub use self::local::{MAX_LOCAL_KEYWORDS, local_keywords};
pub use self::model::{Completion, LanguageModel, Message, ModelError, Purpose, Role};
use self::parse::Reply;
use self::pending::{Answer, ask, child_of};
pub use super::Keyword;
use super::{MAX_QUERY_BYTES, cut};
pub use crate::config::settings::RewriteWhen;
use crate::notice::Notice;
use crate::task::CancelToken;

/// One exchange of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What the person asked.
    pub question: String,
    /// What was answered; may be empty.
    pub answer: String,
}

/// A question and what is known around it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RewriteInput<'a> {
    /// In the asker's words.
    pub question: &'a str,
    /// Oldest first.
    pub history: &'a [Turn],
    /// Paths of files or folders that the asker selected.
    pub scope: &'a [String],
    /// A text of the workspace's files, such as [`tree`](crate::present::tree::tree) draws.
    pub tree: Option<&'a str>,
    /// Whether something is attached that the question may speak of: a file, a selection.
    pub has_attachments: bool,
}

/// Bounds of what a model is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteLimits {
    /// Longest wait for the model, over both calls, which run at the same time.
    pub time: Duration,
    /// Most keywords.
    pub max_keywords: usize,
    /// Tokens that the rewritten question and keywords may take beyond those of the question.
    pub extra_tokens: usize,
    /// o200k tokens of the conversation that the model is shown, the newest.
    pub history_tokens: usize,
    /// Most tokens of the answer about the kind of answer.
    pub intent_tokens: usize,
    /// Where that answer ends.
    pub intent_stop: String,
}

impl RewriteLimits {
    /// 4,000 ms and 4,000 tokens of conversation: unmeasured. 8 keywords, 200, 20 tokens and `;`: VS Code Copilot Chat
    /// 0.34.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            time: Duration::from_millis(4000),
            max_keywords: 8,
            extra_tokens: 200,
            history_tokens: 4000,
            intent_tokens: 20,
            intent_stop: ";".into(),
        }
    }
}

/// What a model is asked for, and how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewriteOptions {
    /// When it is asked to rewrite.
    pub when: RewriteWhen,
    /// Whether keywords of the model are wanted, so that it is asked for every question unless never.
    pub wants_keywords: bool,
    /// Whether it is asked for the intent, in a call of its own.
    pub wants_intent: bool,
    /// Bounds.
    pub limits: RewriteLimits,
}

/// A question, rewritten as far as that was possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Stands on its own, or is as it was asked.
    pub question: String,
    /// The most relevant first; of the model, or local.
    pub keywords: Vec<Keyword>,
    /// Whether a model has helped, so that the keywords may say more than the question.
    pub is_by_model: bool,
    /// What kind of answer is wanted, where a model was asked and said so.
    pub intent: Option<SearchIntent>,
    /// `QUERY_NOT_REWRITTEN` and `QUERY_INTENT_UNKNOWN`, where a model was asked in vain.
    pub notices: Vec<Notice>,
}

/// Rewrites a question. Never fails: without a usable answer the result is what it is without a model, and says so. Once
/// `cancel` is cancelled it returns soon.
#[must_use]
pub fn rewrite(
    cancel: &CancelToken,
    model: Option<&Arc<dyn LanguageModel>>,
    input: &RewriteInput<'_>,
    options: &RewriteOptions,
) -> Rewritten {
    let since = Instant::now();
    let limits = &options.limits;
    let asked = cut(input.question, MAX_QUERY_BYTES);
    let mut rewritten = Rewritten {
        question: input.question.to_owned(),
        keywords: local_keywords(asked),
        is_by_model: false,
        intent: None,
        notices: Vec::new(),
    };
    let Some(model) = model.filter(|_| !asked.trim().is_empty()) else { return rewritten };
    let stop = child_of(cancel);
    let rephrasing = needs_rewriting(input, options)
        .then(|| ask(&stop, model, prompt::request(asked, input, limits)));
    let intent = options.wants_intent.then(|| ask(&stop, model, intent::request(asked, limits)));
    if let Some(rephrasing) = rephrasing {
        let answer = rephrasing.wait(cancel, since, limits.time);
        use_answer(&mut rewritten, asked, &answer, options);
    }
    if let Some(intent) = intent {
        let answer = intent.wait(cancel, since, limits.time);
        let found = answer.and_then(|answer| {
            intent::parse(&answer, &limits.intent_stop)
                .ok_or_else(|| "the language model named no kind of answer".to_owned())
        });
        match found {
            Ok(intent) => rewritten.intent = Some(intent),
            Err(reason) => rewritten.notices.push(Notice {
                code: "QUERY_INTENT_UNKNOWN",
                message: format!("{reason}; the question was answered as any other"),
            }),
        }
    }
    stop.cancel();
    rewritten
}

/// Whether a model is worth asking to rewrite.
fn needs_rewriting(input: &RewriteInput<'_>, options: &RewriteOptions) -> bool {
    match options.when {
        RewriteWhen::Never => false,
        RewriteWhen::Always => true,
        RewriteWhen::Needed => {
            options.wants_keywords
                || input.has_attachments
                || !input.history.is_empty()
                || refers_elsewhere(input.question)
        }
    }
}

/// Whether a question cannot be understood by itself: it has a word such as "it" or "that", or a variable of the chat such
/// as `#selection` or `#file:a.rs`.
///
/// Source: VS Code Copilot Chat 0.34, which knows "it", "that" and "this".
#[must_use]
pub fn refers_elsewhere(question: &str) -> bool {
    const POINTERS: &[&str] = &["it", "that", "this", "they", "them", "these", "those", "there"];
    const VARIABLES: &[&str] = &[
        "#file",
        "#folder",
        "#selection",
        "#editor",
        "#sym",
        "#symbol",
        "#changes",
        "#problems",
        "#terminalselection",
        "#terminallastcommand",
    ];
    let lower = question.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut runs = lower.split_whitespace();
    words.any(|word| POINTERS.contains(&word))
        || runs.any(|run| {
            let name = run.split([':', ',', '.', '?']).next().unwrap_or(run);
            VARIABLES.contains(&name)
        })
}

/// Takes from an answer what makes sense.
fn use_answer(rewritten: &mut Rewritten, asked: &str, answer: &Answer, options: &RewriteOptions) {
    let limits = &options.limits;
    let mut miss = |message: String| {
        rewritten.notices.push(Notice { code: "QUERY_NOT_REWRITTEN", message });
    };
    let reply = match answer {
        Ok(answer) => {
            let max_tokens = prompt::max_tokens(asked, limits);
            parse::parse_reply(answer, asked, limits.max_keywords, max_tokens).map_err(|reason| {
                format!("the answer of the language model is of no use: {reason}")
            })
        }
        Err(reason) => Err(reason.clone()),
    };
    let Reply { question, keywords } = match reply {
        Ok(reply) => reply,
        Err(reason) => return miss(format!("{reason}; the question was used as it is")),
    };
    let question = question.unwrap_or_else(|| {
        miss("the language model gave keywords and no question; it was used as it is".into());
        asked.to_owned()
    });
    let keywords = if keywords.is_empty() {
        if options.wants_keywords {
            miss("the language model gave no keywords; the question's own words were used".into());
        }
        local_keywords(&question)
    } else {
        keywords
    };
    rewritten.keywords = with_lost(asked, &question, keywords, limits.max_keywords);
    rewritten.question = question;
    rewritten.is_by_model = true;
}

/// The keywords, with what the asker wrote as a name and the new question has not, first: nothing is more relevant. Of
/// the others there are as many as the limit leaves room for.
fn with_lost(
    asked: &str,
    question: &str,
    mut keywords: Vec<Keyword>,
    max_keywords: usize,
) -> Vec<Keyword> {
    let exact = local::exact_words(asked);
    let says = |keyword: &Keyword, word: &str| {
        keyword.word == word || keyword.variations.iter().any(|variation| variation == word)
    };
    let is_lost = |word: &&str| {
        !question.contains(word) && !keywords.iter().any(|keyword| says(keyword, word))
    };
    let mut all: Vec<Keyword> = exact
        .iter()
        .filter(|word| is_lost(word))
        .map(|&word| Keyword { word: word.to_owned(), variations: Vec::new() })
        .collect();
    let is_exact = |keyword: &Keyword| exact.iter().any(|word| says(keyword, word));
    let n_exact = all.len() + keywords.iter().filter(|keyword| is_exact(keyword)).count();
    let mut room = max_keywords.saturating_sub(n_exact);
    keywords.retain(|keyword| {
        let has_room = room > 0;
        let stays = is_exact(keyword) || has_room;
        room -= usize::from(has_room && !is_exact(keyword));
        stays
    });
    all.append(&mut keywords);
    all
}
