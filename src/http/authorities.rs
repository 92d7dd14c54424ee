//! Whose certificates are trusted beside those of the platform: those of a file that a setting or the environment names.
//!
//! The only file of the room that touches the disk.

use std::path::Path;

use rustls::pki_types::CertificateDer;

use super::tls::{self, Trust};
use super::{Environment, Network, NetworkError};

/// Variables that name a file of certificate authorities.
const CA_VARIABLES: &[&str] = &["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];

fn read_certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    tls::certificates(&pem)
}

/// A file that is set must be right; one of the environment is meant for many programs, and is only remarked upon.
pub(super) fn trust(
    network: &Network,
    environment: &Environment<'_>,
) -> Result<Trust, NetworkError> {
    let mut trust = Trust { extra: Vec::new(), remark: None, strict: network.strict_tls };
    if let Some(path) = &network.ca_file {
        trust.extra = read_certificates(path).map_err(|reason| NetworkError {
            setting: "embedding.caFile",
            value: path.display().to_string(),
            expected: format!("a file of certificates in PEM form ({reason})"),
        })?;
        return Ok(trust);
    }
    for name in CA_VARIABLES {
        let Some(path) = environment(name).filter(|path| !path.trim().is_empty()) else { continue };
        match read_certificates(Path::new(&path)) {
            Ok(certificates) => trust.extra.extend(certificates),
            Err(reason) => trust.remark = Some(format!("{name} names {path}, unusable: {reason}")),
        }
    }
    Ok(trust)
}
