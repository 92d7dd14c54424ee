//! The provider that the settings name.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::Config;
use crate::config::settings::{Embedding, EmbeddingModelChoice, Metered};
use crate::embed::provider::{
    Embedder, EmbeddingModel, HttpEmbedder, HttpProvider, ProviderError, ProviderKind,
};
use crate::http::Secret;

/// Models that are asked where the settings name none: of each service, the one for texts of any kind that its makers
/// recommend. Quality on code unmeasured here.
const OPENAI_MODEL: &str = "text-embedding-3-small";
const GEMINI_MODEL: &str = "gemini-embedding-001";

/// The provider that the settings name; none for the embedded model.
///
/// # Errors
/// [`ProviderError::Setting`].
pub fn embedder(config: &Config) -> Result<Option<Arc<dyn Embedder>>, ProviderError> {
    let Some(provider) = provider(config)? else { return Ok(None) };
    Ok(Some(Arc::new(HttpEmbedder::new(provider)?)))
}

/// Another model of the server of `target`, given by its id; `None` if it is that of another server.
pub fn other_model(
    config: &Config,
    target: &EmbeddingModel,
    id: &str,
) -> Option<Arc<dyn Embedder>> {
    // The address of some services has the model in it, so it is compared only once the model is put in.
    let (named, _) = id.strip_prefix(target.provider)?.strip_prefix(':')?.rsplit_once(" at ")?;
    let with_dimensions = named.strip_suffix(')').and_then(|named| named.rsplit_once(" ("));
    let (name, dimensions) = match with_dimensions.map(|(name, n)| (name, n.parse::<usize>())) {
        Some((name, Ok(dimensions))) => (name, Some(dimensions)),
        _ => (named, None),
    };
    let mut provider = provider(config).ok()??;
    provider.model = name.to_owned();
    provider.dimensions = dimensions;
    let embedder = HttpEmbedder::new(provider).ok()?;
    // The name must lead back to the same vectors.
    (embedder.model().id() == id).then(|| Arc::new(embedder) as Arc<dyn Embedder>)
}

fn provider(config: &Config) -> Result<Option<HttpProvider>, ProviderError> {
    let settings = &config.settings.embedding;
    let (kind, name, usual) = match config.settings.vector_db.embedding_model {
        EmbeddingModelChoice::Embedded => return Ok(None),
        EmbeddingModelChoice::OpenAi => (ProviderKind::OpenAi, "openai", OPENAI_MODEL),
        EmbeddingModelChoice::Gemini => (ProviderKind::Gemini, "gemini", GEMINI_MODEL),
        EmbeddingModelChoice::Local => (ProviderKind::OpenAi, "local", ""),
    };
    if name == "local" {
        require("embedding.baseUrl", &settings.base_url, "the address of your server")?;
        require("embedding.model", &settings.model, "the name of a model of your server")?;
    }
    let model = if settings.model.is_empty() { usual } else { &settings.model };
    let mut provider = HttpProvider::new(kind, name, model);
    apply(&mut provider, settings);
    provider.batch_size = config.settings.vector_db.batch_size;
    provider.max_request_tokens = config.settings.vector_db.max_tokens;
    Ok(Some(provider))
}

fn apply(provider: &mut HttpProvider, settings: &Embedding) {
    let filled = |text: &String| (!text.is_empty()).then(|| text.clone());
    provider.base_url = filled(&settings.base_url);
    provider.dimensions = (settings.dimensions > 0).then_some(settings.dimensions);
    provider.api_key = filled(&settings.api_key).map(Secret::new);
    provider.max_concurrent = settings.max_concurrent;
    provider.per_second = settings.requests_per_second as f64;
    provider.timeout = settings.timeout;
    provider.query_timeout = settings.query_timeout;
    provider.retries = settings.retries as u32;
    provider.ca_file = filled(&settings.ca_file).map(PathBuf::from);
    provider.proxy = filled(&settings.proxy).map(Secret::new);
    provider.no_proxy = filled(&settings.no_proxy);
    provider.strict_tls = settings.strict_tls;
    provider.metered = match settings.metered {
        Metered::Auto => None,
        Metered::Yes => Some(true),
        Metered::No => Some(false),
    };
}

fn require(setting: &'static str, value: &str, expected: &str) -> Result<(), ProviderError> {
    if !value.is_empty() {
        return Ok(());
    }
    let expected = expected.to_owned();
    Err(ProviderError::Setting { setting, value: "empty".into(), expected })
}
