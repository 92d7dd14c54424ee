//! Options to what the engine takes. options.d.ts says the same to TypeScript.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use napi::bindgen_prelude::Unknown;
use napi::{Env, ValueType};

use super::arguments::{Argument, Options};
use super::failure::Failure;
use super::{log, models, settings};
use crate::config::Config;
use crate::engine::{OpenOptions, Parts, SearchRequest, Strategy, WatchOptions};
use crate::query::rewrite::Turn;

const LIMITS: RangeInclusive<u32> = 1..=1000;
const TOKEN_BUDGETS: RangeInclusive<u32> = 1..=1_000_000;

const DEBOUNCE_MS: RangeInclusive<u32> = 0..=10_000;

const ROOTS: &str = "an array with the path of at least one folder";

/// The names of the strategies.
const STRATEGIES: [(&str, Strategy); 6] = [
    ("auto", Strategy::Auto),
    ("full", Strategy::Full),
    ("remote", Strategy::Remote),
    ("embeddings", Strategy::Embeddings),
    ("tfidf", Strategy::Tfidf),
    ("hybrid", Strategy::Hybrid),
];

/// A question, and whether to sync before it is answered.
pub struct Search {
    /// The question.
    pub request: SearchRequest,
    /// Whether to bring the index up to date first.
    pub sync: bool,
}

/// How a long call runs; both values are still the caller's.
pub struct CallOptions<'env> {
    /// The abort signal.
    pub signal: Option<Unknown<'env>>,
    /// The progress callback.
    pub on_progress: Option<Unknown<'env>>,
}

impl CallOptions<'_> {
    /// Nothing is asked for.
    pub const NONE: Self = Self { signal: None, on_progress: None };
}

/// Options of `open`.
///
/// # Errors
/// An option is not what it must be.
pub fn open(env: &Env, value: Unknown<'_>) -> Result<OpenOptions, Failure> {
    let argument = Argument::new(env, "options", value);
    let options = Options::read(
        &argument,
        &["roots", "storage", "cache", "config", "embedder", "languageModel", "onLog"],
    )?;
    let roots = folders(&options.require("roots", ROOTS)?)?;
    let folder = |name| -> Result<Option<PathBuf>, Failure> {
        let given = options.get(name)?;
        Ok(given
            .map(|given| given.filled_text("the path of a folder"))
            .transpose()?
            .map(Into::into))
    };
    let (storage, cache) = (folder("storage")?, folder("cache")?);
    let config = match options.get("config")? {
        Some(argument) => settings::config(&argument)?,
        None => settings::standard(),
    };
    let embedder = options
        .get("embedder")?
        .map(|argument| models::embedder(env, &argument, &config))
        .transpose()?;
    let language_model = options
        .get("languageModel")?
        .map(|argument| models::language_model(env, &argument))
        .transpose()?;
    let log = options
        .get("onLog")?
        .map(|argument| match argument.kind() {
            ValueType::Function => log::connect(env, argument.value()),
            _ => Err(argument.wrong("a function")),
        })
        .transpose()?;
    let parts = Parts { embedder, language_model, log, remote: None };
    Ok(OpenOptions { roots, storage, cache, config, parts })
}

/// The argument of `configure`.
///
/// # Errors
/// A setting is not what it must be.
pub fn configure(env: &Env, value: Unknown<'_>) -> Result<Config, Failure> {
    settings::config(&Argument::new(env, "config", value))
}

/// The roots that `setRoots` is given.
///
/// # Errors
/// They are not what they must be.
pub fn roots(env: &Env, value: Unknown<'_>) -> Result<Vec<PathBuf>, Failure> {
    folders(&Argument::new(env, "roots", value))
}

fn folders(argument: &Argument<'_>) -> Result<Vec<PathBuf>, Failure> {
    let roots = argument.texts()?;
    if roots.is_empty() {
        return Err(Failure::argument("roots", "an empty array".to_owned(), ROOTS));
    }
    if roots.iter().any(String::is_empty) {
        return Err(Failure::argument("roots", "an array with an empty path".to_owned(), ROOTS));
    }
    Ok(roots.into_iter().map(Into::into).collect())
}

/// Options of `watch`.
///
/// # Errors
/// An option is not what it must be.
pub fn watch(env: &Env, value: Unknown<'_>) -> Result<WatchOptions, Failure> {
    let argument = Argument::new(env, "options", value);
    let options = Options::read(&argument, &["debounceDelay"])?;
    let milliseconds = options
        .get("debounceDelay")?
        .map(|argument| argument.whole_number(&DEBOUNCE_MS))
        .transpose()?;
    Ok(WatchOptions { debounce: milliseconds.map(|ms| Duration::from_millis(ms as u64)) })
}

/// The callback of `watch`, if there is one.
///
/// # Errors
/// It is not a function.
pub fn on_event<'env>(
    env: &'env Env,
    value: Unknown<'env>,
) -> Result<Option<Unknown<'env>>, Failure> {
    let argument = Argument::new(env, "onEvent", value);
    match argument.kind() {
        ValueType::Undefined => Ok(None),
        ValueType::Function => Ok(Some(value)),
        _ => Err(argument.wrong("a function")),
    }
}

/// Options of `search`.
///
/// # Errors
/// An option is not what it must be.
pub fn search(env: &Env, value: Unknown<'_>) -> Result<Search, Failure> {
    let argument = Argument::new(env, "options", value);
    let options = Options::read(
        &argument,
        &[
            "query",
            "keywords",
            "limit",
            "tokenBudget",
            "strategy",
            "paths",
            "languages",
            "kinds",
            "explain",
            "sync",
            "rewrite",
            "history",
            "attached",
        ],
    )?;
    let texts = |name| match options.get(name)? {
        Some(argument) => argument.texts(),
        None => Ok(Vec::new()),
    };
    let request = SearchRequest {
        query: options.require("query", "a string")?.text()?,
        keywords: texts("keywords")?,
        limit: options.get("limit")?.map(|argument| argument.whole_number(&LIMITS)).transpose()?,
        token_budget: options
            .get("tokenBudget")?
            .map(|argument| argument.whole_number(&TOKEN_BUDGETS))
            .transpose()?,
        strategy: match options.get("strategy")? {
            Some(argument) => argument.one_of(&STRATEGIES)?,
            None => Strategy::Auto,
        },
        paths: texts("paths")?,
        languages: texts("languages")?,
        kinds: texts("kinds")?,
        explain: flag(&options, "explain", false)?,
        rewrite: flag(&options, "rewrite", true)?,
        history: match options.get("history")? {
            Some(argument) => history(&argument)?,
            None => Vec::new(),
        },
        attached: texts("attached")?,
    };
    Ok(Search { request, sync: flag(&options, "sync", false)? })
}

/// Options of a long call.
///
/// # Errors
/// An option is not what it must be.
pub fn call<'env>(env: &'env Env, value: Unknown<'env>) -> Result<CallOptions<'env>, Failure> {
    let argument = Argument::new(env, "options", value);
    let options = Options::read(&argument, &["signal", "onProgress"])?;
    Ok(CallOptions {
        signal: options.get("signal")?.map(|argument| argument.value()),
        on_progress: options.get("onProgress")?.map(|argument| argument.value()),
    })
}

/// The conversation before a question.
fn history(argument: &Argument<'_>) -> Result<Vec<Turn>, Failure> {
    argument
        .entries("an array of { question, answer }")?
        .iter()
        .map(|turn| {
            let options = Options::read(turn, &["history.question", "history.answer"])?;
            let question = options.require("history.question", "a string")?.text()?;
            let answer = options.get("history.answer")?.map(|given| given.text()).transpose()?;
            Ok(Turn { question, answer: answer.unwrap_or_default() })
        })
        .collect()
}

fn flag(options: &Options<'_>, name: &'static str, standard: bool) -> Result<bool, Failure> {
    options.get(name)?.map_or(Ok(standard), |argument| argument.flag())
}
