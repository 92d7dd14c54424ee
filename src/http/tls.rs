//! Encrypted connections: which certificates are trusted, and what a refused one says.
//!
//! Trusted are the platform's authorities and those of one more file. A refusal names the issuer. Checking can be
//! switched off, which the caller must have asked for. The store of the platform is read with the first encrypted
//! connection, so that a server without encryption does not depend on it.

use std::fmt;
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, OtherError,
    SignatureScheme, StreamOwned,
};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};

use super::issuer;

/// Which certificates are trusted.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    /// Authorities beside those of the platform.
    pub(super) extra: Vec<CertificateDer<'static>>,
    /// Said with a refusal, such as that the file of authorities could not be read.
    pub(super) remark: Option<String>,
    /// Whether certificates are checked at all.
    pub(super) strict: bool,
}

/// The certificates of a PEM text.
pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.map_err(|error| error.to_string())?;
    if certificates.is_empty() {
        return Err("it holds no certificate".to_owned());
    }
    // One that cannot be an authority would otherwise spoil every connection.
    let mut store = rustls::RootCertStore::empty();
    for certificate in &certificates {
        store.add(certificate.clone()).map_err(|error| error.to_string())?;
    }
    Ok(certificates)
}

/// A certificate that is not trusted.
#[derive(Debug, thiserror::Error)]
#[error("the certificate of the server{} is not trusted: {reason}{}", issued(.issuer.as_deref()), remarked(.remark.as_deref()))]
struct Untrusted {
    issuer: Option<String>,
    reason: String,
    remark: Option<String>,
}

fn issued(issuer: Option<&str>) -> String {
    issuer.map(|name| format!(", issued by \"{name}\",")).unwrap_or_default()
}

fn remarked(remark: Option<&str>) -> String {
    remark.map(|remark| format!("; {remark}")).unwrap_or_default()
}

/// What a failed handshake says, for a person. `None` if it is no matter of encryption.
pub(super) fn reason(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) => cause.to_string(),
        Error::InvalidCertificate(other) => format!("the certificate is not trusted: {other:?}"),
        Error::InvalidMessage(_) => {
            "the server does not speak https on this port; try http".to_owned()
        }
        other => format!("no encrypted connection: {other}"),
    }
}

fn certificate_reason(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "nobody vouches for its issuer; name the file of your company's certificate authority, \
             or trust it in the system"
                .to_owned()
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "it is for another host".to_owned(),
        Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        ) => "it has expired".to_owned(),
        Error::InvalidCertificate(other) => format!("{other:?}"),
        other => other.to_string(),
    }
}

/// The platform's judgement, with the issuer in what it refuses; or none at all.
#[derive(Debug)]
struct Verifier {
    /// `None`: everything is trusted.
    inner: Option<rustls_platform_verifier::Verifier>,
    provider: Arc<CryptoProvider>,
    remark: Option<String>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        inner.verify_server_cert(certificate, intermediates, name, ocsp, now).map_err(|error| {
            let last = intermediates.last().unwrap_or(certificate);
            let untrusted = Untrusted {
                issuer: issuer::of(last).or_else(|| issuer::of(certificate)),
                reason: certificate_reason(&error),
                remark: self.remark.clone(),
            };
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(untrusted))))
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Encrypts the connections that ask for it; the others pass.
#[derive(Clone)]
pub(super) struct TlsConnector {
    trust: Arc<Trust>,
    config: Arc<OnceLock<Result<Arc<ClientConfig>, Error>>>,
}

impl TlsConnector {
    pub(super) fn new(trust: Trust) -> Self {
        Self { trust: Arc::new(trust), config: Arc::default() }
    }

    fn config(&self) -> Result<Arc<ClientConfig>, Error> {
        self.config.get_or_init(|| make_config(&self.trust).map(Arc::new)).clone()
    }
}

fn make_config(trust: &Trust) -> Result<ClientConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let inner = if trust.strict {
        let extra = trust.extra.iter().cloned();
        Some(
            rustls_platform_verifier::Verifier::new_with_extra_roots(extra, Arc::clone(&provider))
                .map_err(|error| {
                    Error::General(format!(
                        "the certificates of the system cannot be read: {error}"
                    ))
                })?,
        )
    } else {
        None
    };
    let verifier =
        Verifier { inner, provider: Arc::clone(&provider), remark: trust.remark.clone() };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}

impl fmt::Debug for TlsConnector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TlsConnector").field("strict", &self.trust.strict).finish()
    }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, TlsTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let host = details.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| ureq::Error::Tls("the host has no name that a certificate could have"))?;
        let mut connection = ClientConnection::new(self.config()?, name)?;
        let mut socket = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let stream = StreamOwned { conn: connection, sock: socket };
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Some(Either::B(TlsTransport { buffers, stream })))
    }
}

/// An encrypted connection.
pub(super) struct TlsTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let output = &self.buffers.output()[..amount];
        self.stream.write_all(output)?;
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.get_mut().set_timeout(timeout);
        let input = self.buffers.input_append_buf();
        let amount = self.stream.read(input)?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for TlsTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TlsTransport").finish_non_exhaustive()
    }
}
