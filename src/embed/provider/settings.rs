//! Which server is asked for vectors, and how hard.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::http::{Address, Environment, Limits, Network, Secret};

use super::ProviderError;

/// Texts a request. OpenAI takes 2048, Gemini 100; small local servers want few. Unmeasured.
pub const DEFAULT_BATCH_SIZE: usize = 64;
/// Tokens a request. OpenAI takes 300,000. Unmeasured.
pub const DEFAULT_MAX_REQUEST_TOKENS: usize = 64_000;
/// Requests in flight, and requests a second to begin with: those of GitHub Copilot Chat's client.
pub const DEFAULT_MAX_CONCURRENT: usize = 8;
/// See [`DEFAULT_MAX_CONCURRENT`].
pub const DEFAULT_PER_SECOND: f64 = 40.0;
/// For one request about texts to be found.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// For a question, from its being asked to its vector, repeats included: then words alone answer.
pub const DEFAULT_QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Further tries of a request.
pub const DEFAULT_RETRIES: u32 = 3;
/// First wait before a further try, if the server names none.
pub const DEFAULT_BACK_OFF: Duration = Duration::from_millis(500);
/// A question that has no answer after this time is asked a second time, and the first answer counts.
pub const DEFAULT_HEDGE_AFTER: Duration = Duration::from_millis(300);

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    /// `POST /embeddings` as OpenAI has it: also Ollama, LM Studio, llama.cpp, vLLM, Azure and most proxies.
    OpenAi,
    /// `models/…:batchEmbedContents` of the Gemini API.
    Gemini,
}

impl ProviderKind {
    /// Where its own service is.
    #[must_use]
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    /// Where `model` is asked, for a base address in any spelling.
    pub(super) fn endpoint(self, base: Address, model: &str) -> Address {
        match self {
            Self::OpenAi => base.endpoint("v1", "embeddings"),
            Self::Gemini => {
                let base = base.without_from("models");
                let base = if base.is_bare() { base.below(&["v1beta"]) } else { base };
                let method = format!("{}:batchEmbedContents", bare_model(model));
                base.below(&["models", &method])
            }
        }
    }
}

/// The name of a Gemini model without the folder that some write before it.
pub(super) fn bare_model(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

/// Which server is asked for vectors, and how hard. [`HttpProvider::new`] has the usual values.
#[derive(Clone)]
pub struct HttpProvider {
    /// Which protocol it speaks.
    pub kind: ProviderKind,
    /// `openai`, `gemini` or `local`.
    pub provider: &'static str,
    /// Its address in any usual spelling; `None`: the service of [`ProviderKind`].
    pub base_url: Option<String>,
    /// As the server names it.
    pub model: String,
    /// Dimensions to ask for; `None`: what the model gives.
    pub dimensions: Option<usize>,
    /// Local servers mostly need none.
    pub api_key: Option<Secret>,
    /// Texts a request, at most.
    pub batch_size: usize,
    /// Tokens of o200k a request, at most; one text may exceed it.
    pub max_request_tokens: usize,
    /// Requests in flight.
    pub max_concurrent: usize,
    /// Requests a second, to begin with and at most.
    pub per_second: f64,
    /// For one request about texts to be found, from the look-up of the host to the last byte.
    pub timeout: Duration,
    /// For a question, repeats included.
    pub query_timeout: Duration,
    /// Further tries of a request, if it may well succeed later.
    pub retries: u32,
    /// First wait before a further try, if the server names none; it doubles.
    pub back_off: Duration,
    /// When a question is asked a second time; `None`: never.
    pub hedge_after: Option<Duration>,
    /// See [`Network::ca_file`].
    pub ca_file: Option<PathBuf>,
    /// See [`Network::proxy`]. It may hold a password.
    pub proxy: Option<Secret>,
    /// See [`Network::no_proxy`].
    pub no_proxy: Option<String>,
    /// See [`Network::strict_tls`].
    pub strict_tls: bool,
    /// Whether somebody pays for each text; `None`: unless the host is this machine or in a private network.
    pub metered: Option<bool>,
}

impl HttpProvider {
    /// A server with the usual values for all that is not named.
    #[must_use]
    pub fn new(kind: ProviderKind, provider: &'static str, model: impl Into<String>) -> Self {
        Self {
            kind,
            provider,
            base_url: None,
            model: model.into(),
            dimensions: None,
            api_key: None,
            batch_size: DEFAULT_BATCH_SIZE,
            max_request_tokens: DEFAULT_MAX_REQUEST_TOKENS,
            max_concurrent: DEFAULT_MAX_CONCURRENT,
            per_second: DEFAULT_PER_SECOND,
            timeout: DEFAULT_TIMEOUT,
            query_timeout: DEFAULT_QUERY_TIMEOUT,
            retries: DEFAULT_RETRIES,
            back_off: DEFAULT_BACK_OFF,
            hedge_after: Some(DEFAULT_HEDGE_AFTER),
            ca_file: None,
            proxy: None,
            no_proxy: None,
            strict_tls: true,
            metered: None,
        }
    }

    /// The address that is asked.
    pub(super) fn address(&self) -> Result<Address, ProviderError> {
        let base = self.base_url.as_deref().map(str::trim).filter(|base| !base.is_empty());
        let base = base.unwrap_or_else(|| self.kind.default_base_url());
        let base = Address::parse(base).map_err(|error| ProviderError::Setting {
            setting: "embedding.baseUrl",
            value: error.value,
            expected: format!(
                "an address such as {} ({})",
                self.kind.default_base_url(),
                error.expected
            ),
        })?;
        Ok(self.kind.endpoint(base, self.model.trim()))
    }

    pub(super) fn limits(&self) -> Limits {
        Limits { max_concurrent: self.max_concurrent, per_second: self.per_second }
    }

    pub(super) fn network(&self) -> Network {
        Network {
            ca_file: self.ca_file.clone(),
            proxy: self.proxy.clone(),
            no_proxy: self.no_proxy.clone(),
            strict_tls: self.strict_tls,
        }
    }

    /// # Errors
    /// [`ProviderError::Setting`] for the first setting that cannot work.
    pub(super) fn check(&self) -> Result<(), ProviderError> {
        let fail = |setting, value: String, expected: &str| {
            Err(ProviderError::Setting { setting, value, expected: expected.to_owned() })
        };
        if self.model.trim().is_empty() {
            return fail("embedding.model", "empty".to_owned(), "the name of an embedding model");
        }
        if self.dimensions == Some(0) {
            return fail(
                "embedding.dimensions",
                "0".to_owned(),
                "at least 1, or nothing for the model's own",
            );
        }
        if self.batch_size == 0 {
            return fail("vectorDb.batchSize", "0".to_owned(), "at least 1 text");
        }
        if self.max_concurrent == 0 {
            return fail("embedding.maxConcurrent", "0".to_owned(), "at least 1 request");
        }
        if !(self.per_second > 0.0 && self.per_second.is_finite()) {
            return fail(
                "embedding.requestsPerSecond",
                self.per_second.to_string(),
                "more than 0 requests",
            );
        }
        for (setting, value) in
            [("embedding.timeout", self.timeout), ("embedding.queryTimeout", self.query_timeout)]
        {
            if value.is_zero() {
                return fail(setting, "0".to_owned(), "more than 0");
            }
        }
        let key = self.api_key.as_ref().map_or("", Secret::expose);
        if key.chars().any(|c| !c.is_ascii_graphic()) {
            // The key itself is not repeated.
            return fail(
                "embedding.apiKey",
                "not usable".to_owned(),
                "a key of visible ASCII characters",
            );
        }
        Ok(())
    }
}

/// The address is shown as in messages: what was written may hold a password.
impl fmt::Debug for HttpProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address().map(|address| address.to_string());
        formatter
            .debug_struct("HttpProvider")
            .field("kind", &self.kind)
            .field("provider", &self.provider)
            .field("address", &address.unwrap_or_default())
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .field("api_key", &self.api_key)
            .finish_non_exhaustive()
    }
}

/// The variables of this process.
pub(super) fn process_environment() -> Box<Environment<'static>> {
    Box::new(|name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: ProviderKind, base: Option<&str>, model: &str, expected: &str) {
        let mut settings = HttpProvider::new(kind, "openai", model);
        settings.base_url = base.map(str::to_owned);
        assert_eq!(settings.address().unwrap().to_url(), expected);
    }

    #[test]
    fn endpoints_of_both_protocols() {
        let openai = ProviderKind::OpenAi;
        check(openai, None, "m", "https://api.openai.com/v1/embeddings");
        check(openai, Some(" "), "m", "https://api.openai.com/v1/embeddings");
        check(openai, Some("localhost:11434"), "m", "http://localhost:11434/v1/embeddings");
        let gemini = ProviderKind::Gemini;
        let google = "https://generativelanguage.googleapis.com";
        let expected = format!("{google}/v1beta/models/m:batchEmbedContents");
        check(gemini, None, "m", &expected);
        check(gemini, None, "models/m", &expected);
        check(gemini, Some(&format!("{google}/")), "m", &expected);
        check(
            gemini,
            Some(&format!("{google}/v1beta/models/m:batchEmbedContents")),
            "m",
            &expected,
        );
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        let refused = |change: &dyn Fn(&mut HttpProvider)| {
            let mut settings = HttpProvider::new(ProviderKind::OpenAi, "openai", "m");
            change(&mut settings);
            let error = settings.check().and_then(|()| settings.address().map(drop)).unwrap_err();
            let ProviderError::Setting { setting, .. } = error else { panic!("{error}") };
            setting
        };
        assert_eq!(refused(&|s| s.model = " ".into()), "embedding.model");
        assert_eq!(refused(&|s| s.dimensions = Some(0)), "embedding.dimensions");
        assert_eq!(refused(&|s| s.per_second = f64::NAN), "embedding.requestsPerSecond");
        assert_eq!(refused(&|s| s.timeout = Duration::ZERO), "embedding.timeout");
        assert_eq!(refused(&|s| s.base_url = Some("ftp://h".into())), "embedding.baseUrl");
        assert_eq!(refused(&|s| s.api_key = Some(Secret::new("a b"))), "embedding.apiKey");
    }
}
