//! EM12: certificates of a company, and proxies.

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

use sextant::embed::provider::{HttpEmbedder, HttpProvider, ProviderError, Role};
use sextant::http::Secret;

use super::server::{Server, ok, read_head};
use super::{check_all_right, embed, embedder, settings_for, texts};

/// A name that leads nowhere but through the proxy: names below `.invalid` never exist (RFC 6761).
pub const HOST: &str = "embeddings.company.invalid";

/// An authority, its certificate in a file, and a server with a certificate that it signed.
pub struct Company {
    pub server: Server,
    pub ca_file: PathBuf,
    _folder: TempDir,
}

impl Company {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, "Company Inspection CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);

        let names = vec![HOST.to_owned(), "localhost".to_owned(), "127.0.0.1".to_owned()];
        let own_key = KeyPair::generate().unwrap();
        let own = CertificateParams::new(names).unwrap().signed_by(&own_key, &issuer).unwrap();
        let own_key = rustls::pki_types::PrivateKeyDer::try_from(own_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], own_key)
            .unwrap();

        let folder = tempfile::tempdir().unwrap();
        let ca_file = folder.path().join("ca.pem");
        std::fs::write(&ca_file, certificate.pem()).unwrap();
        let server = Server::start_with(Some(Arc::new(config)), ok);
        Self { server, ca_file, _folder: folder }
    }

    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.server.address.port())
    }
}

/// A proxy that leads every CONNECT to one address, and remembers what it was asked for.
pub struct Proxy {
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// With `user`, only who sends these base64 credentials gets through.
    pub fn start(target: SocketAddr, user: Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&shared);
                thread::spawn(move || lead(stream, target, user, &log));
            }
        });
        Self { address, log }
    }

    pub fn url(&self) -> Secret {
        Secret::new(format!("http://{}", self.address))
    }

    pub fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

fn lead(stream: TcpStream, target: SocketAddr, user: Option<&str>, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some((first, headers)) = read_head(&mut reader) else { return };
    log.lock().unwrap().push(first);
    let mut stream = stream;
    let given = headers.iter().find(|(name, _)| name == "proxy-authorization");
    let given = given.and_then(|(_, value)| value.strip_prefix("Basic "));
    if user.is_some() && user != given {
        let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\n\
             proxy-authenticate: Basic realm=\"company\"\r\ncontent-length: 0\r\n\r\n";
        let _ = stream.write_all(refusal.as_bytes());
        return;
    }
    let Ok(server) = TcpStream::connect(target) else { return };
    if stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").is_err() {
        return;
    }
    let (back, there) = (stream.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || pass_on(there, back));
    pass_on(stream, server);
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16_384];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

fn within(settings: HttpProvider, environment: &[(&str, String)]) -> HttpEmbedder {
    let variable = |name: &str| {
        environment.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone())
    };
    HttpEmbedder::within(settings, &variable).unwrap()
}

#[track_caller]
fn failure(embedder: &HttpEmbedder) -> String {
    let (_, outcome) = embed(embedder, Role::Document, &texts(1));
    outcome.unwrap_err().to_string()
}

#[test]
fn em12_the_authority_of_a_company_is_trusted_if_its_file_is_named() {
    let company = Company::new();
    let ca_file = Some(company.ca_file.clone());
    check_all_right(&embedder(HttpProvider { ca_file, ..settings_for(&company.url()) }), &texts(3));
    for name in ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"] {
        let file = company.ca_file.display().to_string();
        check_all_right(&within(settings_for(&company.url()), &[(name, file)]), &texts(3));
    }
}

#[test]
fn em12_a_certificate_that_nobody_vouches_for_is_refused_with_its_issuer() {
    let company = Company::new();
    let message = failure(&embedder(settings_for(&company.url())));
    assert!(message.contains("certificate"), "{message}");
    // A machine without any authority cannot even begin to check.
    if !message.contains("of the system cannot be read") {
        assert!(message.contains("\"Company Inspection CA\""), "{message}");
    }
    assert!(company.server.log().is_empty(), "nothing was sent");

    let other = Company::new();
    let ca_file = Some(other.ca_file.clone());
    let message = failure(&embedder(HttpProvider { ca_file, ..settings_for(&company.url()) }));
    assert!(
        message.contains("certificate") && message.contains("\"Company Inspection CA\""),
        "{message}"
    );
    let missing = ("NODE_EXTRA_CA_CERTS", "/nowhere/ca.pem".to_owned());
    let ca = ("SSL_CERT_FILE", other.ca_file.display().to_string());
    let message = failure(&within(settings_for(&company.url()), &[missing, ca]));
    assert!(message.contains("NODE_EXTRA_CA_CERTS names /nowhere/ca.pem"), "{message}");
}

#[test]
fn em12_certificates_go_unchecked_only_if_it_is_asked_for() {
    let company = Company::new();
    let settings = settings_for(&company.url());
    assert!(settings.strict_tls);
    check_all_right(&embedder(HttpProvider { strict_tls: false, ..settings }), &texts(3));
}

#[test]
fn em12_a_file_that_holds_no_certificates_is_refused_as_a_setting() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing").unwrap();
    for file in [empty, folder.path().join("missing.pem")] {
        let settings = HttpProvider { ca_file: Some(file), ..settings_for("https://h.example") };
        let error = HttpEmbedder::within(settings, &|_| None).unwrap_err();
        assert!(
            matches!(error, ProviderError::Setting { setting: "embedding.caFile", .. }),
            "{error}"
        );
    }
}

#[test]
fn em12_a_proxy_is_asked_to_connect_by_setting_and_by_environment() {
    let company = Company::new();
    let proxy = Proxy::start(company.server.address, None);
    let ca_file = Some(company.ca_file.clone());
    let settings = HttpProvider { ca_file, ..settings_for(&format!("https://{HOST}")) };
    let set = HttpProvider { proxy: Some(proxy.url()), ..settings.clone() };
    check_all_right(&embedder(set), &texts(3));
    assert_eq!(proxy.asked(), [format!("CONNECT {HOST}:443 HTTP/1.1")]);

    let url = proxy.url().expose().to_owned();
    check_all_right(&within(settings, &[("HTTPS_PROXY", url)]), &texts(3));
    assert_eq!(proxy.asked().len(), 2);
}

#[test]
fn em12_servers_of_this_machine_and_those_of_no_proxy_are_asked_directly() {
    let company = Company::new();
    let proxy = Proxy::start(company.server.address, None);
    let url = proxy.url().expose().to_owned();
    let environment =
        [("HTTPS_PROXY", url.clone()), ("HTTP_PROXY", url), ("NO_PROXY", "localhost".to_owned())];
    let ca_file = Some(company.ca_file.clone());
    let settings = HttpProvider { ca_file, ..settings_for(&company.url()) };
    check_all_right(&within(settings.clone(), &environment), &texts(3));
    check_all_right(&within(settings.clone(), &environment[..2]), &texts(3));
    let plain = Server::start(ok);
    check_all_right(&within(settings_for(&plain.url()), &environment), &texts(3));
    assert!(proxy.asked().is_empty());

    let settings = HttpProvider {
        base_url: Some(format!("https://{HOST}")),
        no_proxy: Some("company.invalid".to_owned()),
        ..settings
    };
    let message = failure(&within(settings, &environment));
    assert!(message.contains("cannot be reached"), "{message}");
    assert!(proxy.asked().is_empty(), "no such host is not asked for through the proxy");
}

#[test]
fn em12_a_proxy_that_wants_a_password_is_told_apart_and_gets_it() {
    let company = Company::new();
    let proxy = Proxy::start(company.server.address, Some("bWU6aHVudGVyMg=="));
    let settings = HttpProvider {
        ca_file: Some(company.ca_file.clone()),
        proxy: Some(proxy.url()),
        ..settings_for(&format!("https://{HOST}"))
    };
    let message = failure(&embedder(settings.clone()));
    assert!(message.contains("proxy authentication"), "{message}");
    assert_eq!(proxy.asked().len(), 1, "it is not asked again");

    let with = Secret::new(proxy.url().expose().replace("http://", "http://me:wrong-one@"));
    let message = failure(&embedder(HttpProvider { proxy: Some(with), ..settings.clone() }));
    assert!(
        message.contains("proxy authentication") && !message.contains("wrong-one"),
        "{message}"
    );

    let with = Secret::new(proxy.url().expose().replace("http://", "http://me:hunter2@"));
    let embedder = embedder(HttpProvider { proxy: Some(with), ..settings });
    check_all_right(&embedder, &texts(3));
    assert!(!format!("{embedder:?}").contains("hunter2"));
}

#[test]
fn https_on_a_port_without_encryption_is_explained() {
    let plain = Server::start(ok);
    let message = failure(&embedder(settings_for(&plain.url().replace("http:", "https:"))));
    assert!(
        message.contains("try http") || message.contains("certificates of the system"),
        "{message}"
    );
}
