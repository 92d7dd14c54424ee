//! Options to what the engine takes. options.d.ts says the same to TypeScript.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use napi::bindgen_prelude::Unknown;
use napi::{Env, ValueType};

use super::arguments::{Argument, Options};
use super::failure::Failure;
use crate::config::{Config, PerformanceMode, WalkConfig};
use crate::engine::{OpenOptions, SearchRequest, Strategy, WatchOptions};

/// Hits when the caller does not say how many.
const DEFAULT_LIMIT: usize = 10;
const LIMITS: RangeInclusive<u32> = 1..=1000;
const TOKEN_BUDGETS: RangeInclusive<u32> = 1..=1_000_000;

/// Milliseconds without a change before a watch brings the index up to date, when the caller does not say how many.
/// Unmeasured: editors save several files within a second.
const DEFAULT_DEBOUNCE_MS: u64 = 1000;
const DEBOUNCE_MS: RangeInclusive<u32> = 0..=10_000;

/// An editor wants to stay usable while its files are indexed.
const DEFAULT_PERFORMANCE_MODE: PerformanceMode = PerformanceMode::Balanced;

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

/// The names of the performance modes.
const PERFORMANCE_MODES: [(&str, PerformanceMode); 3] = [
    ("performance", PerformanceMode::Performance),
    ("balanced", PerformanceMode::Balanced),
    ("memory", PerformanceMode::Memory),
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
    let options = Options::read(&argument, &["roots", "storage", "config"])?;
    let roots = folders(&options.require("roots", ROOTS)?)?;
    let storage = options
        .get("storage")?
        .map(|storage| storage.filled_text("the path of a folder"))
        .transpose()?;
    let config = match options.get("config")? {
        Some(argument) => config(&argument)?,
        None => standard(),
    };
    Ok(OpenOptions { roots, storage: storage.map(Into::into), cache: None, config })
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
    let milliseconds = match options.get("debounceDelay")? {
        Some(argument) => argument.whole_number(&DEBOUNCE_MS)? as u64,
        None => DEFAULT_DEBOUNCE_MS,
    };
    Ok(WatchOptions { debounce: Duration::from_millis(milliseconds) })
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
        ],
    )?;
    let texts = |name| match options.get(name)? {
        Some(argument) => argument.texts(),
        None => Ok(Vec::new()),
    };
    let request = SearchRequest {
        query: options.require("query", "a string")?.text()?,
        keywords: texts("keywords")?,
        limit: match options.get("limit")? {
            Some(argument) => argument.whole_number(&LIMITS)?,
            None => DEFAULT_LIMIT,
        },
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

/// The settings of a caller who says nothing.
fn standard() -> Config {
    Config { performance_mode: DEFAULT_PERFORMANCE_MODE, ..Config::standard() }
}

fn config(argument: &Argument<'_>) -> Result<Config, Failure> {
    // `null` stands for "no options" in a call, not for "no settings".
    if argument.kind() == ValueType::Null {
        return Err(argument.wrong("an object"));
    }
    let options = Options::read(
        argument,
        &["config.ignore", "config.performanceMode", "config.hybridSearch"],
    )?;
    let standard = standard();
    let walk = match options.get("config.ignore")? {
        Some(argument) => ignore(&argument, standard.walk)?,
        None => standard.walk,
    };
    let performance_mode = match options.get("config.performanceMode")? {
        Some(argument) => argument.one_of(&PERFORMANCE_MODES)?,
        None => standard.performance_mode,
    };
    let (vector_weight, text_weight) = match options.get("config.hybridSearch")? {
        Some(argument) => weights(&argument, (standard.vector_weight, standard.text_weight))?,
        None => (standard.vector_weight, standard.text_weight),
    };
    Ok(Config { walk, performance_mode, vector_weight, text_weight, ..standard })
}

fn ignore(argument: &Argument<'_>, standard: WalkConfig) -> Result<WalkConfig, Failure> {
    let options = Options::read(
        argument,
        &[
            "config.ignore.gitignore",
            "config.ignore.sextantignore",
            "config.ignore.defaults",
            "config.ignore.secrets",
            "config.ignore.exclude",
        ],
    )?;
    Ok(WalkConfig {
        use_gitignore: flag(&options, "config.ignore.gitignore", standard.use_gitignore)?,
        use_sextantignore: flag(
            &options,
            "config.ignore.sextantignore",
            standard.use_sextantignore,
        )?,
        use_default_exclusions: flag(
            &options,
            "config.ignore.defaults",
            standard.use_default_exclusions,
        )?,
        exclude_secrets: flag(&options, "config.ignore.secrets", standard.exclude_secrets)?,
        exclude: match options.get("config.ignore.exclude")? {
            Some(argument) => argument.texts()?,
            None => standard.exclude,
        },
        never_enter: standard.never_enter,
    })
}

fn weights(argument: &Argument<'_>, standard: (f32, f32)) -> Result<(f32, f32), Failure> {
    const VECTOR: &str = "config.hybridSearch.vectorWeight";
    const TEXT: &str = "config.hybridSearch.textWeight";
    let options = Options::read(argument, &[VECTOR, TEXT])?;
    let weight = |name| options.get(name)?.map(|argument| argument.weight()).transpose();
    let (vector, text) = match (weight(VECTOR)?, weight(TEXT)?) {
        (Some(vector), Some(text)) => (vector, text),
        (Some(vector), None) => (vector, 1.0 - vector),
        (None, Some(text)) => (1.0 - text, text),
        (None, None) => standard,
    };
    let sum = vector + text;
    if sum == 0.0 {
        return Err(Failure::argument(
            "config.hybridSearch",
            "two weights of 0".to_owned(),
            "at least one weight above 0",
        ));
    }
    Ok((vector / sum, text / sum))
}

fn flag(options: &Options<'_>, name: &'static str, standard: bool) -> Result<bool, Failure> {
    options.get(name)?.map_or(Ok(standard), |argument| argument.flag())
}
