//! One request, one answer.
//!
//! A redirect that keeps the method (307, 308) is followed, at most [`MAX_REDIRECTS`] times, within one origin: whoever
//! else is named there gets neither the body nor a key. Other redirects are answers: after them a POST would no longer
//! be one.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector, TcpConnector};

use super::proxy::Proxies;
use super::tls::{self, TlsConnector};
use super::{Address, Environment, Secret, authorities};

/// Redirects that are followed for one request.
pub const MAX_REDIRECTS: usize = 5;
/// Connections that are kept for the next request, a lane.
const MAX_IDLE_CONNECTIONS: usize = 16;

/// How the network is reached.
#[derive(Clone, Debug)]
pub struct Network {
    /// A PEM file of certificate authorities beside those of the platform. Else `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`.
    pub ca_file: Option<PathBuf>,
    /// `http://HOST:PORT`; empty: none. Else as the environment says.
    pub proxy: Option<Secret>,
    /// Hosts that are asked directly, with commas between. Else `NO_PROXY`.
    pub no_proxy: Option<String>,
    /// Whether certificates are checked.
    pub strict_tls: bool,
}

/// A setting of the network that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting} is {value}; expected {expected}")]
pub struct NetworkError {
    /// Setting or variable.
    pub setting: &'static str,
    /// Its value, without a password.
    pub value: String,
    /// What would be right.
    pub expected: String,
}

/// Connections of requests that wait for each other, and those of requests that somebody waits for. One lane can be
/// abandoned without harm to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Many requests, of which nobody waits for one.
    Bulk,
    /// Somebody waits.
    Prompt,
}

/// A POST of JSON.
#[derive(Debug)]
pub struct Request<'a> {
    /// Where to.
    pub address: &'a Address,
    /// Headers that any server may see.
    pub headers: &'a [(&'static str, String)],
    /// Headers for this origin alone.
    pub secret_headers: &'a [(&'static str, Secret)],
    /// The body.
    pub body: &'a [u8],
    /// From the look-up of the host to the last byte of the answer, redirects included.
    pub timeout: Duration,
    /// Longest answer, in bytes.
    pub max_answer_bytes: u64,
}

/// An answer of any status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole of it.
    pub body: Vec<u8>,
}

impl Response {
    /// The first header with this name, which is given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.trim())
    }
}

/// What went wrong on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No complete answer within the time limit.
    Timeout,
    /// Nobody answers at this address: no such host, connection refused.
    Connect,
    /// The connection ended before the answer did.
    Cut,
    /// The certificate of the server, or encryption itself.
    Tls,
    /// The proxy wants a user and a password.
    ProxyAuthentication,
    /// The proxy does not let us through.
    Proxy,
    /// The answer is too long, no HTTP, or leads in circles.
    Answer,
}

/// A request without an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// Which kind.
    pub kind: FailureKind,
    /// For a person; no keys.
    pub reason: String,
}

impl Failure {
    fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self { kind, reason: reason.into() }
    }

    /// Whether the same request may well be answered the next time.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.kind, FailureKind::Timeout | FailureKind::Cut)
    }
}

/// What requests are sent over.
#[derive(Clone, Debug)]
pub struct Connections(ureq::Agent);

/// Sends requests and keeps connections. Used from any number of threads.
pub struct Client {
    proxies: Proxies,
    tls: TlsConnector,
    lanes: [Mutex<ureq::Agent>; 2],
}

impl Client {
    /// A client for a network. `environment` answers for what the settings leave open.
    ///
    /// # Errors
    /// [`NetworkError`] if the proxy is no address or the file of certificates cannot be used.
    pub fn new(network: &Network, environment: &Environment<'_>) -> Result<Self, NetworkError> {
        let proxy = network.proxy.as_ref().map(Secret::expose);
        let proxies = Proxies::new(proxy, network.no_proxy.as_deref(), environment)?;
        let tls = TlsConnector::new(authorities::trust(network, environment)?);
        let lanes = [Mutex::new(agent(&tls)), Mutex::new(agent(&tls))];
        Ok(Self { proxies, tls, lanes })
    }

    /// Closes all connections of a lane, also under requests that still wait: they fail, and their threads end.
    pub fn abandon(&self, lane: Lane) {
        let mut current = self.lane(lane).lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, agent(&self.tls));
        drop(current);
        old.shutdown();
    }

    /// The connections of a lane as they are now. Once the lane is abandoned, nothing is sent over them.
    #[must_use]
    pub fn connections(&self, lane: Lane) -> Connections {
        Connections(self.lane(lane).lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn lane(&self, lane: Lane) -> &Mutex<ureq::Agent> {
        match lane {
            Lane::Bulk => &self.lanes[0],
            Lane::Prompt => &self.lanes[1],
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// [`Failure`] if there is none. A status is never a failure.
    pub fn send(
        &self,
        connections: &Connections,
        request: &Request<'_>,
    ) -> Result<Response, Failure> {
        let start = Instant::now();
        let mut address = request.address.clone();
        for _ in 0..=MAX_REDIRECTS {
            let left = request.timeout.saturating_sub(start.elapsed());
            let response = self.send_once(&connections.0, &address, request, left)?;
            let location = match response.status {
                307 | 308 => response.header("location").map(str::to_owned),
                _ => None,
            };
            let Some(location) = location else { return Ok(response) };
            let next = address.redirected(&location).map_err(|error| {
                Failure::new(FailureKind::Answer, format!("it redirects to {}", error.value))
            })?;
            if address.is_tls() && !next.is_tls() {
                let reason = format!("it redirects to {next}, which is not encrypted");
                return Err(Failure::new(FailureKind::Answer, reason));
            }
            if !next.is_same_origin(request.address) {
                let reason = format!(
                    "it redirects to {next}, another server, which gets nothing unless its address is set"
                );
                return Err(Failure::new(FailureKind::Answer, reason));
            }
            address = next;
        }
        let reason = format!("it redirects more than {MAX_REDIRECTS} times");
        Err(Failure::new(FailureKind::Answer, reason))
    }

    fn send_once(
        &self,
        agent: &ureq::Agent,
        address: &Address,
        request: &Request<'_>,
        timeout: Duration,
    ) -> Result<Response, Failure> {
        if timeout.is_zero() {
            return Err(timed_out(request.timeout));
        }
        let proxy = self.proxies.of(address);
        let mut builder = agent
            .post(address.to_url())
            .config()
            .proxy(proxy.cloned())
            .timeout_global(Some(timeout))
            .build()
            .header("content-type", "application/json");
        for (name, value) in request.headers {
            builder = builder.header(*name, value);
        }
        for (name, value) in request.secret_headers {
            builder = builder.header(*name, value.expose());
        }
        let explain = |error| failure(error, proxy, request.timeout);
        let response = builder.send(request.body).map_err(explain)?;
        let (head, body) = response.into_parts();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        let headers = headers.collect();
        let body = body.into_with_config().limit(request.max_answer_bytes).read_to_vec().map_err(
            |error| match error {
                ureq::Error::BodyExceedsLimit(bytes) => Failure::new(
                    FailureKind::Answer,
                    format!("the answer is longer than {bytes} bytes"),
                ),
                error => explain(error),
            },
        )?;
        Ok(Response { status: head.status.as_u16(), headers, body })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("tls", &self.tls).finish_non_exhaustive()
    }
}

fn agent(tls: &TlsConnector) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(MAX_IDLE_CONNECTIONS)
        .max_idle_connections_per_host(MAX_IDLE_CONNECTIONS)
        .user_agent(concat!("sextant/", env!("CARGO_PKG_VERSION")))
        .build();
    let connector =
        ().chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default())
            .chain(tls.clone());
    ureq::Agent::with_parts(config, connector, DefaultResolver::default())
}

fn timed_out(timeout: Duration) -> Failure {
    Failure::new(FailureKind::Timeout, format!("no complete answer within {timeout:?}"))
}

fn failure(error: ureq::Error, proxy: Option<&ureq::Proxy>, timeout: Duration) -> Failure {
    let through = proxy
        .map(|proxy| format!(" (proxy {}:{})", proxy.host(), proxy.port()))
        .unwrap_or_default();
    match error {
        ureq::Error::Timeout(_) => timed_out(timeout),
        ureq::Error::ConnectProxyFailed(reason) if reason.contains("407") => Failure::new(
            FailureKind::ProxyAuthentication,
            format!("proxy authentication is required; add USER:PASSWORD@ to its address{through}"),
        ),
        ureq::Error::ConnectProxyFailed(reason) => {
            Failure::new(FailureKind::Proxy, format!("{reason}{through}"))
        }
        ureq::Error::HostNotFound => {
            Failure::new(FailureKind::Connect, format!("there is no such host{through}"))
        }
        ureq::Error::ConnectionFailed => {
            Failure::new(FailureKind::Connect, format!("no connection{through}"))
        }
        ureq::Error::Rustls(error) => Failure::new(FailureKind::Tls, tls::reason(&error)),
        ureq::Error::Tls(reason) => Failure::new(FailureKind::Tls, reason),
        ureq::Error::Io(error) => io_failure(&error, &through, timeout),
        ureq::Error::Protocol(error) => {
            Failure::new(FailureKind::Cut, format!("the answer is no HTTP: {error}{through}"))
        }
        error => Failure::new(FailureKind::Answer, format!("{error}{through}")),
    }
}

fn io_failure(error: &io::Error, through: &str, timeout: Duration) -> Failure {
    if let Some(error) = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>()) {
        return Failure::new(FailureKind::Tls, tls::reason(error));
    }
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => timed_out(timeout),
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::AddrNotAvailable
        | io::ErrorKind::NotFound => {
            Failure::new(FailureKind::Connect, format!("{error}{through}"))
        }
        _ => Failure::new(FailureKind::Cut, format!("the connection was cut: {error}{through}")),
    }
}
