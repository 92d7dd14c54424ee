//! Every setting by its name: type, range, unit, default, and what it does.
//!
//! One table, from which the binding reads what callers set, docs/settings.md is checked, and editors can declare theirs.

use std::time::Duration;

use super::PerformanceMode;
use super::settings::{
    EmbeddingModelChoice, LogLevel, Metered, ProgressLocation, RewriteWhen, Settings,
};

/// A value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// Whole numbers and others.
    Number(f64),
    /// Words.
    Text(String),
}

/// What values a setting may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number within bounds; the unit for people.
    Integer(u32, u32, &'static str),
    /// A number within bounds.
    Number(f64, f64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any words.
    Text,
    /// Words that are shown nowhere.
    Secret,
}

/// A setting.
pub struct Key {
    /// As in `vectorDb.batchSize`.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it does, for a person.
    pub about: &'static str,
    get: fn(&Settings) -> Value,
    set: fn(&mut Settings, &Value),
}

/// A value that a setting cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSetting {
    /// The setting.
    pub name: String,
    /// What was given.
    pub value: String,
    /// What would have been right.
    pub expected: String,
}

impl Kind {
    /// The values in words.
    #[must_use]
    pub fn expected(&self) -> String {
        match self {
            Self::Flag => "true or false".into(),
            Self::Integer(min, max, _) => format!("a whole number from {min} to {max}"),
            Self::Number(min, max) => format!("a number from {min} to {max}"),
            Self::Choice(names) => format!("one of {}", names.join(", ")),
            Self::Text | Self::Secret => "a string".into(),
        }
    }

    fn allows(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Flag, Value::Flag(_)) | (Self::Text | Self::Secret, Value::Text(_)) => true,
            (Self::Integer(min, max, _), Value::Number(n)) => {
                n.fract() == 0.0 && (f64::from(*min)..=f64::from(*max)).contains(n)
            }
            (Self::Number(min, max), Value::Number(n)) => (*min..=*max).contains(n),
            (Self::Choice(names), Value::Text(text)) => names.contains(&text.as_str()),
            _ => false,
        }
    }
}

impl Key {
    /// The value in `settings`.
    #[must_use]
    pub fn get(&self, settings: &Settings) -> Value {
        (self.get)(settings)
    }
}

/// Sets `name` in `settings`.
///
/// # Errors
/// [`BadSetting`]: no such setting, or not such a value.
pub fn set(settings: &mut Settings, name: &str, value: &Value) -> Result<(), BadSetting> {
    let Some(key) = KEYS.iter().find(|key| key.name == name) else {
        return Err(BadSetting {
            name: name.to_owned(),
            value: "set".into(),
            expected: "no such setting".into(),
        });
    };
    if !key.kind.allows(value) {
        let shown = match (key.kind, value) {
            (Kind::Secret, _) => "not shown".to_owned(),
            (_, Value::Flag(flag)) => flag.to_string(),
            (_, Value::Number(number)) => number.to_string(),
            (_, Value::Text(text)) => format!("{text:?}"),
        };
        let expected = key.kind.expected();
        return Err(BadSetting { name: name.to_owned(), value: shown, expected });
    }
    (key.set)(settings, value);
    Ok(())
}

/// The words of a setting that is one of several, each with its value.
trait Named: Copy + PartialEq + 'static {
    const NAMES: &'static [(&'static str, Self)];
}

impl Named for EmbeddingModelChoice {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("embedded", Self::Embedded),
        ("gemini", Self::Gemini),
        ("openai", Self::OpenAi),
        ("local", Self::Local),
    ];
}

impl Named for ProgressLocation {
    const NAMES: &'static [(&'static str, Self)] =
        &[("notification", Self::Notification), ("statusBar", Self::StatusBar)];
}

impl Named for PerformanceMode {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("balanced", Self::Balanced),
        ("performance", Self::Performance),
        ("memory", Self::Memory),
    ];
}

impl Named for LogLevel {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("warn", Self::Warn),
        ("error", Self::Error),
    ];
}

impl Named for Metered {
    const NAMES: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("yes", Self::Yes), ("no", Self::No)];
}

impl Named for RewriteWhen {
    const NAMES: &'static [(&'static str, Self)] =
        &[("never", Self::Never), ("needed", Self::Needed), ("always", Self::Always)];
}

fn name_of<T: Named>(value: T) -> Value {
    let found = T::NAMES.iter().find(|(_, known)| *known == value);
    Value::Text(found.map(|(name, _)| (*name).to_owned()).unwrap_or_default())
}

fn by_name<T: Named>(value: &Value, into: &mut T) {
    if let Value::Text(text) = value
        && let Some((_, known)) = T::NAMES.iter().find(|(name, _)| name == text)
    {
        *into = *known;
    }
}

/// A field that a setting is stored in.
trait Field {
    fn read(&self) -> Value;
    fn write(&mut self, value: &Value);
}

impl Field for bool {
    fn read(&self) -> Value {
        Value::Flag(*self)
    }
    fn write(&mut self, value: &Value) {
        if let Value::Flag(flag) = value {
            *self = *flag;
        }
    }
}

impl Field for usize {
    fn read(&self) -> Value {
        Value::Number(*self as f64)
    }
    fn write(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = *number as usize;
        }
    }
}

impl Field for u32 {
    fn read(&self) -> Value {
        Value::Number(f64::from(*self))
    }
    fn write(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = *number as u32;
        }
    }
}

impl Field for f32 {
    fn read(&self) -> Value {
        // Settings have two or three digits.
        Value::Number((f64::from(*self) * 1e6).round() / 1e6)
    }
    fn write(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = *number as f32;
        }
    }
}

impl Field for Duration {
    fn read(&self) -> Value {
        Value::Number(self.as_millis() as f64)
    }
    fn write(&mut self, value: &Value) {
        if let Value::Number(number) = value {
            *self = Self::from_millis(*number as u64);
        }
    }
}

impl Field for String {
    fn read(&self) -> Value {
        Value::Text(self.clone())
    }
    fn write(&mut self, value: &Value) {
        if let Value::Text(text) = value {
            text.trim().clone_into(self);
        }
    }
}

macro_rules! named_field {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn read(&self) -> Value {
                name_of(*self)
            }
            fn write(&mut self, value: &Value) {
                by_name(value, self);
            }
        }
    )*};
}
named_field!(
    EmbeddingModelChoice,
    ProgressLocation,
    PerformanceMode,
    LogLevel,
    Metered,
    RewriteWhen
);

macro_rules! keys {
    ($($name:literal, $($field:ident).+, $kind:expr, $about:literal;)*) => {
        &[$(Key {
            name: $name,
            kind: $kind,
            about: $about,
            get: |settings| settings.$($field).+.read(),
            set: |settings, value| settings.$($field).+.write(value),
        }),*]
    };
}

const SHARE: Kind = Kind::Number(0.0, 1.0);
const WAIT: Kind = Kind::Integer(0, 600_000, "milliseconds");

/// All settings, in the order of docs/settings.md.
#[rustfmt::skip]
pub const KEYS: &[Key] = keys![
    "vectorDb.enabled", vector_db.enabled, Kind::Flag, "Search by meaning. Off: by words alone, and no provider is asked.";
    "vectorDb.embeddingModel", vector_db.embedding_model, Kind::Choice(&["embedded", "gemini", "openai", "local"]), "Who makes the vectors: the model inside the program, Google's or OpenAI's service, or a server of your own that speaks OpenAI's language (Ollama, LM Studio, llama.cpp, vLLM).";
    "vectorDb.maxTokens", vector_db.max_tokens, Kind::Integer(1000, 32_000, "tokens"), "Most tokens of text in one request to a provider.";
    "vectorDb.batchSize", vector_db.batch_size, Kind::Integer(1, 50, "texts"), "Most texts in one request to a provider.";
    "vectorDb.searchResultLimit", vector_db.search_result_limit, Kind::Integer(1, 20, "hits"), "Hits of a search that does not say how many, unless it is a hybrid one.";
    "vectorDb.enableBackgroundProcessing", vector_db.enable_background_processing, Kind::Flag, "A watched workspace is brought up to date by itself. Off: when it is searched or synced.";
    "vectorDb.enableProgressNotifications", vector_db.enable_progress_notifications, Kind::Flag, "Progress is told.";
    "vectorDb.progressLocation", vector_db.progress_location, Kind::Choice(&["notification", "statusBar"]), "Where progress is shown.";
    "vectorDb.debounceDelay", vector_db.debounce_delay, Kind::Integer(100, 10_000, "milliseconds"), "How long nothing must change before a watched workspace is brought up to date.";
    "vectorDb.performanceMode", vector_db.performance_mode, Kind::Choice(&["balanced", "performance", "memory"]), "How much of the machine an index run may take: half of the cores, all of them, or one and little memory.";
    "vectorDb.fallbackToKeywordSearch", vector_db.fallback_to_keyword_search, Kind::Flag, "What vectors cannot answer is answered by words.";
    "vectorDb.cacheEnabled", vector_db.cache_enabled, Kind::Flag, "Answers are kept until something changes, and texts that were embedded before are not embedded again.";
    "vectorDb.logLevel", vector_db.log_level, Kind::Choice(&["debug", "info", "warn", "error"]), "The least that is told to the log.";
    "hybridSearch.vectorWeight", hybrid_search.vector_weight, SHARE, "Weight of the list by meaning; rescaled with the other to sum 1.";
    "hybridSearch.textWeight", hybrid_search.text_weight, SHARE, "Weight of the list by words.";
    "hybridSearch.topK", hybrid_search.top_k, Kind::Integer(1, 50, "hits"), "Hits of a hybrid search that does not say how many.";
    "hybridSearch.mmr.enabled", hybrid_search.mmr_enabled, Kind::Flag, "Prefer hits that differ from each other.";
    "hybridSearch.mmr.lambda", hybrid_search.mmr_lambda, SHARE, "1 is all relevance, 0 all diversity.";
    "hybridSearch.temporalDecay.enabled", hybrid_search.temporal_decay_enabled, Kind::Flag, "Prefer files that changed lately.";
    "hybridSearch.temporalDecay.halfLifeDays", hybrid_search.half_life_days, Kind::Integer(1, 365, "days"), "Days after which a score counts half.";
    "cascade.fullWorkspace", cascade.full_workspace, Kind::Flag, "A small workspace is answered whole, if the search has a token budget.";
    "cascade.fullMaxFiles", cascade.full_max_files, Kind::Integer(1, 10_000, "files"), "A small workspace has fewer files than this.";
    "cascade.fullMaxTokens", cascade.full_max_tokens, Kind::Integer(1, 1_000_000, "tokens"), "And fewer tokens than this, all files together.";
    "cascade.remote", cascade.remote, Kind::Flag, "An index on a server is asked, if there is one.";
    "cascade.remoteWait", cascade.remote_wait, WAIT, "So long a server is waited for before the search begins here as well.";
    "cascade.remoteMaxChangedFiles", cascade.remote_max_changed_files, Kind::Integer(0, 1_000_000, "files"), "With more changed files than this, the server is not asked.";
    "cascade.remoteMaxChangedShare", cascade.remote_max_changed_share, SHARE, "With a larger share of changed files than this, neither.";
    "cascade.remoteMaxEmbeddedChanges", cascade.remote_max_embedded_changes, Kind::Integer(0, 1_000_000, "files"), "Up to so many changed files are searched by meaning, more by words.";
    "cascade.remoteLocalWait", cascade.remote_local_wait, WAIT, "So long the search of changed files may take.";
    "cascade.instantIndexWait", cascade.instant_index_wait, WAIT, "So long a server that has no index yet may take to make one.";
    "cascade.embeddings", cascade.embeddings, Kind::Flag, "Vectors are searched.";
    "cascade.hybrid", cascade.hybrid, Kind::Flag, "Vectors and words are searched as one. Off: vectors, and words if they give nothing.";
    "cascade.embeddingsWait", cascade.embeddings_wait, WAIT, "So long vectors are waited for before words answer.";
    "cascade.tfidf", cascade.tfidf, Kind::Flag, "Words are searched.";
    "cascade.tfidfMaxFiles", cascade.tfidf_max_files, Kind::Integer(0, 10_000_000, "files"), "Up to so many files are searched by words; 0 for any number.";
    "cascade.tfidfSpread", cascade.tfidf_spread, SHARE, "Hits by words that score less than 1 minus this of the best are left out.";
    "cascade.tfidfReranked", cascade.tfidf_reranked, Kind::Integer(0, 1000, "candidates"), "So many candidates by words are ranked again by meaning; 0 for none.";
    "cascade.minScoreShare", cascade.min_score_share, SHARE, "Hits that score less than this share of the best are left out; 0 for none.";
    "cascade.fallbackVectors", cascade.fallback_vectors, Kind::Flag, "If nothing else answers: meaning alone.";
    "cascade.fallbackText", cascade.fallback_text, Kind::Flag, "If nothing else answers: the characters as they stand.";
    "cascade.fallbackCommonFiles", cascade.fallback_common_files, Kind::Flag, "If nothing else answers: README, manifests and entry points.";
    "embedding.baseUrl", embedding.base_url, Kind::Text, "Address of the provider; empty for that of the service.";
    "embedding.model", embedding.model, Kind::Text, "Name of the model; empty for the usual one of the service.";
    "embedding.dimensions", embedding.dimensions, Kind::Integer(0, 65_536, "dimensions"), "Dimensions to ask for; 0 for what the model gives.";
    "embedding.apiKey", embedding.api_key, Kind::Secret, "The key. Never logged, never stored.";
    "embedding.timeout", embedding.timeout, Kind::Integer(10, 600_000, "milliseconds"), "Time limit of a request.";
    "embedding.queryTimeout", embedding.query_timeout, Kind::Integer(10, 600_000, "milliseconds"), "So long a search waits for the vector of its query.";
    "embedding.maxConcurrent", embedding.max_concurrent, Kind::Integer(1, 64, "requests"), "Requests at once.";
    "embedding.requestsPerSecond", embedding.requests_per_second, Kind::Integer(1, 1000, "requests"), "Requests a second to begin with.";
    "embedding.retries", embedding.retries, Kind::Integer(0, 10, "tries"), "Further tries of a request that may succeed later.";
    "embedding.caFile", embedding.ca_file, Kind::Text, "File with certificates to trust as well.";
    "embedding.proxy", embedding.proxy, Kind::Text, "Address of a proxy; empty for that of the environment.";
    "embedding.noProxy", embedding.no_proxy, Kind::Text, "Hosts that are asked without the proxy, separated by commas.";
    "embedding.strictTls", embedding.strict_tls, Kind::Flag, "Certificates must be right.";
    "embedding.metered", embedding.metered, Kind::Choice(&["auto", "yes", "no"]), "Whether somebody pays for each text; `auto`: unless the provider is in this machine's network.";
    "embedding.maxFiles", embedding.max_files, Kind::Integer(0, 1_000_000, "files"), "Up to so many files are embedded unasked by a provider that somebody pays for.";
    "embedding.maxFilesAllowed", embedding.max_files_allowed, Kind::Integer(0, 1_000_000, "files"), "The same where large workspaces are allowed.";
    "embedding.allowLarge", embedding.allow_large, Kind::Flag, "Large workspaces are allowed.";
    "query.rewrite", query.rewrite, Kind::Choice(&["never", "needed", "always"]), "When a language model, if there is one, puts a question in other words; `needed`: if it points elsewhere (\"it\", \"that\") or follows others.";
    "query.keywords", query.keywords, Kind::Flag, "A language model, if there is one, names keywords for every question.";
    "query.intent", query.intent, Kind::Flag, "A language model, if there is one, tells what kind of answer is wanted.";
    "query.wait", query.wait, WAIT, "So long a language model is waited for.";
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_reads_back_what_was_set_and_touches_nothing_else() {
        for key in KEYS {
            let mut settings = Settings::standard();
            let before = key.get(&settings);
            let other = match (key.kind, &before) {
                (Kind::Flag, Value::Flag(flag)) => Value::Flag(!flag),
                (Kind::Integer(min, max, _), Value::Number(n)) => {
                    Value::Number(f64::from(if *n == f64::from(max) { min } else { max }))
                }
                (Kind::Number(..), _) => Value::Number(0.125),
                (Kind::Choice(names), Value::Text(text)) => {
                    Value::Text(names.iter().find(|name| *name != text).unwrap().to_string())
                }
                _ => Value::Text("other".into()),
            };
            set(&mut settings, key.name, &other).unwrap();
            assert_eq!(key.get(&settings), other, "{}", key.name);
            for unchanged in KEYS.iter().filter(|other| other.name != key.name) {
                let standard = unchanged.get(&Settings::standard());
                assert_eq!(unchanged.get(&settings), standard, "{}", unchanged.name);
            }
        }
    }

    #[test]
    fn defaults_are_within_bounds_and_wrong_values_are_refused_by_name() {
        let standard = Settings::standard();
        for key in KEYS {
            assert!(key.kind.allows(&key.get(&standard)), "{}", key.name);
        }
        let mut settings = Settings::standard();
        for (name, value, expected) in [
            ("vectorDb.batchSize", Value::Number(51.0), "a whole number from 1 to 50"),
            ("vectorDb.batchSize", Value::Number(1.5), "a whole number from 1 to 50"),
            ("vectorDb.maxTokens", Value::Number(999.0), "a whole number from 1000 to 32000"),
            ("vectorDb.enabled", Value::Text("yes".into()), "true or false"),
            ("hybridSearch.mmr.lambda", Value::Number(f64::NAN), "a number from 0 to 1"),
            ("vectorDb.logLevel", Value::Text("loud".into()), "one of debug, info, warn, error"),
            ("vectorDb.nothing", Value::Flag(true), "no such setting"),
        ] {
            let bad = set(&mut settings, name, &value).unwrap_err();
            assert_eq!((bad.name.as_str(), bad.expected.as_str()), (name, expected));
        }
        assert_eq!(settings, standard);
        let bad = set(&mut settings, "embedding.apiKey", &Value::Number(123.0)).unwrap_err();
        assert!(!bad.value.contains("123"), "{bad:?}");
    }
}
