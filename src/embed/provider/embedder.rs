//! An embedding model behind an HTTP server.

use std::sync::Arc;

use crate::http::Environment;
use crate::task::CancelToken;

use super::run::Run;
use super::server::Server;
use super::settings::{HttpProvider, process_environment};
use super::{Deliver, Embedder, EmbeddingModel, ProviderError, Role};

/// An embedding model behind an HTTP server. Clones share connections, limits and what was learned.
#[derive(Clone, Debug)]
pub struct HttpEmbedder {
    model: EmbeddingModel,
    is_metered: bool,
    server: Arc<Server>,
}

impl HttpEmbedder {
    /// Checks the settings; asks nobody. What they leave open of proxies and certificates, the environment of the
    /// process says.
    ///
    /// # Errors
    /// [`ProviderError::Setting`] for the first setting that cannot work.
    pub fn new(settings: HttpProvider) -> Result<Self, ProviderError> {
        Self::within(settings, &*process_environment())
    }

    /// [`HttpEmbedder::new`] in another environment.
    ///
    /// # Errors
    /// [`ProviderError::Setting`] for the first setting that cannot work.
    pub fn within(
        settings: HttpProvider,
        environment: &Environment<'_>,
    ) -> Result<Self, ProviderError> {
        settings.check()?;
        let address = settings.address()?;
        let model = EmbeddingModel {
            provider: settings.provider,
            name: settings.model.trim().to_owned(),
            address: address.without_query(),
            dimensions: settings.dimensions,
        };
        let is_metered = settings.metered.unwrap_or(!address.is_private());
        let server = Arc::new(Server::new(settings, address, environment)?);
        Ok(Self { model, is_metered, server })
    }

    /// Dimensions of its vectors: as set, else those of the first answer, once there was one.
    #[must_use]
    pub fn dimensions(&self) -> Option<usize> {
        self.server.dimensions()
    }
}

impl Embedder for HttpEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_metered(&self) -> bool {
        self.is_metered
    }

    fn embed(
        &self,
        cancel: &CancelToken,
        role: Role,
        texts: &[&str],
        deliver: &mut Deliver<'_>,
    ) -> Result<(), ProviderError> {
        Run::new(&self.server, cancel, role, texts, deliver).finish()
    }
}
