//! Addresses as people write them, made into the one that is asked.
//!
//! In: what stands in a setting. Out: an [`Address`] with scheme, host, port, path and query, no user, no blanks, no
//! empty path segment. Pure. Fails with [`AddressError`], whose value holds no password.

use std::fmt;
use std::net::IpAddr;

use super::Secret;

/// Where a server is asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    is_tls: bool,
    /// Lower case; IPv6 without brackets.
    host: String,
    port: Option<u16>,
    /// Segments, none empty.
    path: Vec<String>,
    query: Option<String>,
    user: Option<Secret>,
}

/// An address that cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} is no address: {expected}")]
pub struct AddressError {
    /// What was written, without a user and a query.
    pub value: String,
    /// What would be right.
    pub expected: &'static str,
}

/// Names that are never on the public network.
const PRIVATE_ENDINGS: &[&str] =
    &[".localhost", ".local", ".lan", ".internal", ".home.arpa", ".intranet", ".test"];
/// Parameters of a query that are shown; any other may be a key.
const SHOWN_PARAMETERS: &[&str] = &["api-version", "version", "alt"];

impl Address {
    /// Reads an address. Without a scheme, hosts of this machine and of private networks get `http`, others `https`.
    ///
    /// # Errors
    /// [`AddressError`] for another scheme, no host, a bad port, or characters that no address has.
    pub fn parse(written: &str) -> Result<Self, AddressError> {
        let trimmed = written.trim();
        let fail = |expected| AddressError { value: shown(trimmed), expected };
        if trimmed.is_empty() {
            return Err(fail("expected http://HOST or https://HOST"));
        }
        if trimmed.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c))
        {
            return Err(fail("it holds a character that no address has"));
        }
        let (scheme, rest) = match split_scheme(trimmed) {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
            None => (None, trimmed),
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (user, host_port) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(Secret::new(percent_decoded(user))), host),
            None => (None, authority),
        };
        let (host, port) = split_port(host_port).ok_or_else(|| fail("its port is no number"))?;
        if !is_host(host) {
            return Err(fail("it has no host; expected http://HOST or https://HOST"));
        }
        let host = host.to_ascii_lowercase();
        let is_tls = match scheme.as_deref() {
            Some("http") => false,
            Some("https") => true,
            Some(_) => return Err(fail("expected http or https")),
            None => !is_private_host(&host),
        };
        Ok(Self {
            is_tls,
            port: port.filter(|port| *port != default_port(is_tls)),
            host,
            path: segments(path),
            query: query.filter(|query| !query.is_empty()).map(str::to_owned),
            user: user.filter(|user| !user.is_empty()),
        })
    }

    /// What a redirect from here to `location`, which may be relative, leads to.
    ///
    /// # Errors
    /// [`AddressError`] if that is no address.
    pub fn redirected(&self, location: &str) -> Result<Self, AddressError> {
        let location = location.trim();
        if split_scheme(location).is_some() {
            return Self::parse(location);
        }
        if let Some(rest) = location.strip_prefix("//") {
            let scheme = if self.is_tls { "https" } else { "http" };
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        let mut next = self.clone();
        let (path, query) = location.split_once('?').unwrap_or((location, ""));
        if !path.starts_with('/') {
            next.path.pop();
        } else {
            next.path.clear();
        }
        next.path.extend(segments(path));
        next.query = Some(query.to_owned()).filter(|query| !query.is_empty());
        Ok(next)
    }

    /// The address of an endpoint: `endpoint` below the path, unless it already is the end of it. An empty path is
    /// taken for `version`.
    #[must_use]
    pub fn endpoint(mut self, version: &str, endpoint: &str) -> Self {
        if self.path.last().is_some_and(|last| last == endpoint) {
            self.path.pop();
        }
        if self.path.is_empty() {
            self.path.push(version.to_owned());
        }
        self.path.push(endpoint.to_owned());
        self
    }

    /// The address of a resource below this: `segments` are added, of which none may hold a slash.
    #[must_use]
    pub fn below(mut self, segments: &[&str]) -> Self {
        self.path.extend(segments.iter().map(|segment| (*segment).to_owned()));
        self
    }

    /// Drops everything from the first segment with this name on.
    #[must_use]
    pub fn without_from(mut self, segment: &str) -> Self {
        if let Some(at) = self.path.iter().position(|other| other == segment) {
            self.path.truncate(at);
        }
        self
    }

    /// Whether it has no path.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.path.is_empty()
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Lower case; IPv6 without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, also if it is the usual one.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(default_port(self.is_tls))
    }

    /// The user and password of the address, as `user:password`.
    #[must_use]
    pub fn user(&self) -> Option<&Secret> {
        self.user.as_ref()
    }

    /// Whether both have scheme, host and port in common.
    #[must_use]
    pub fn is_same_origin(&self, other: &Self) -> bool {
        (self.is_tls, &self.host, self.port()) == (other.is_tls, &other.host, other.port())
    }

    /// Whether the host is this machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        is_loopback_host(&self.host)
    }

    /// Whether the host is this machine or one of a private network, as far as its name tells.
    #[must_use]
    pub fn is_private(&self) -> bool {
        is_private_host(&self.host)
    }

    /// The full address for the request itself, with its query and without its user.
    #[must_use]
    pub fn to_url(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.without_query()),
            None => self.without_query(),
        }
    }

    /// The values of the query that are not shown, as they stand and decoded.
    #[must_use]
    pub fn hidden_values(&self) -> Vec<Secret> {
        let pairs = self.query.iter().flat_map(|query| query.split('&'));
        pairs
            .filter_map(|pair| pair.split_once('='))
            .filter(|(name, _)| !SHOWN_PARAMETERS.contains(name))
            .flat_map(|(_, value)| [Secret::new(value), Secret::new(percent_decoded(value))])
            .collect()
    }

    /// Scheme, host, port and path.
    #[must_use]
    pub fn without_query(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{scheme}://{host}{port}/{}", self.path.join("/"))
    }
}

/// For people: values of the query are hidden unless they are known to be harmless.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.without_query())?;
        let Some(query) = &self.query else { return Ok(()) };
        for (idx, pair) in query.split('&').enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let separator = if idx == 0 { '?' } else { '&' };
            let value = if SHOWN_PARAMETERS.contains(&name) { value } else { "***" };
            write!(formatter, "{separator}{name}={value}")?;
        }
        Ok(())
    }
}

/// As for people, with neither user nor keys.
impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The scheme of an address, and what follows it; `://` further on is part of a path or a query.
fn split_scheme(written: &str) -> Option<(&str, &str)> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    written.split_once("://").filter(|(scheme, _)| scheme.chars().all(is_scheme))
}

fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

fn segments(path: &str) -> Vec<String> {
    path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
}

/// Host and port of an authority without its user.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']')?;
        (host, after.strip_prefix(':').or_else(|| after.is_empty().then_some(""))?)
    } else {
        authority.split_once(':').unwrap_or((authority, ""))
    };
    match port {
        "" => Some((host, None)),
        port => port.parse().ok().filter(|port| *port > 0).map(|port| (host, Some(port))),
    }
}

fn is_host(host: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._~%".contains(c);
    host.parse::<IpAddr>().is_ok()
        || (!host.is_empty() && host.chars().all(is_name) && !host.starts_with('.'))
}

/// What was written, for a message: no user, no query.
fn shown(written: &str) -> String {
    let written = written.split('?').next().unwrap_or_default();
    let (scheme, rest) = match written.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), written),
    };
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}{rest}")
}

/// Reads `%41` as `A`; what is no such thing stays.
pub(super) fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = (first == b'%')
            .then(|| after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok()))
            .flatten()
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) => ip.to_canonical().is_loopback(),
        Ok(IpAddr::V4(ip)) => ip.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn is_private_host(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    match host.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Ok(IpAddr::V6(ip)) => {
            ip.is_loopback()
                || ip.is_unique_local()
                || ip.is_unicast_link_local()
                || ip.is_unspecified()
        }
        Err(_) => !host.contains('.') || PRIVATE_ENDINGS.iter().any(|end| host.ends_with(end)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: &str) {
        let address = Address::parse(written).unwrap().endpoint("v1", "embeddings");
        assert_eq!(address.to_url(), expected, "{written:?}");
    }

    #[test]
    fn every_spelling_leads_to_one_endpoint() {
        for written in [
            "http://h:81",
            "http://h:81/",
            "http://h:81/v1",
            "http://h:81/v1/",
            "http://h:81//v1//",
            "http://h:81/v1/embeddings",
            "http://h:81/v1/embeddings/",
            "  HTTP://H:81/v1 \n",
            "h:81/v1",
            "http://h:81/v1#part",
        ] {
            check(written, "http://h:81/v1/embeddings");
        }
        check("http://h:81/proxy/x/v1", "http://h:81/proxy/x/v1/embeddings");
        check("https://h:443", "https://h/v1/embeddings");
        check("api.openai.com", "https://api.openai.com/v1/embeddings");
        check("http://[::1]:11434", "http://[::1]:11434/v1/embeddings");
        check("http://h/d/embeddings?api-version=1", "http://h/d/embeddings?api-version=1");
        check("http://u:p@h/v1", "http://h/v1/embeddings");
    }

    #[test]
    fn what_is_no_address_is_refused_without_its_password() {
        for written in [
            "",
            " ",
            "ftp://h",
            "http://",
            "http://h:port",
            "http://a b",
            "http://:80/",
            "http://h:0",
        ] {
            assert!(Address::parse(written).is_err(), "{written:?}");
        }
        let error = Address::parse("ftp://me:hunter2@h/x?key=abc").unwrap_err();
        assert_eq!(error.value, "ftp://h/x");
    }

    #[test]
    fn neither_users_nor_keys_are_shown() {
        let address = Address::parse("https://me:p%40ss@h/v1?api-version=2&key=abc").unwrap();
        assert_eq!(address.to_string(), "https://h/v1?api-version=2&key=***");
        assert_eq!(address.to_url(), "https://h/v1?api-version=2&key=abc");
        assert_eq!(address.user().unwrap().expose(), "me:p@ss");
        assert_eq!(format!("{address:?}"), address.to_string());
    }

    #[test]
    fn private_hosts_are_told_from_public_ones() {
        for host in
            ["localhost", "127.0.0.1", "[::1]", "10.1.2.3", "192.168.0.9", "ollama", "gpu.local"]
        {
            assert!(Address::parse(&format!("http://{host}:1")).unwrap().is_private(), "{host}");
        }
        for host in ["api.openai.com", "8.8.8.8", "[2606:4700::1]"] {
            assert!(!Address::parse(&format!("http://{host}")).unwrap().is_private(), "{host}");
        }
    }

    #[test]
    fn redirects_may_be_relative() {
        let from = Address::parse("https://h/a/b?x=1").unwrap();
        for (location, expected) in [
            ("/c/d", "https://h/c/d"),
            ("c?y=2", "https://h/a/c?y=2"),
            ("/in?next=http://o/e", "https://h/in?next=http://o/e"),
            ("//o/e", "https://o/e"),
            ("http://o:8/e", "http://o:8/e"),
        ] {
            assert_eq!(from.redirected(location).unwrap().to_url(), expected);
        }
    }
}
