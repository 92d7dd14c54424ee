//! Through which proxy is an address asked, if any?
//!
//! In: what the settings say, else the environment (`HTTPS_PROXY` or `HTTP_PROXY` by the scheme that is asked, then
//! `ALL_PROXY`, lower case first; and `NO_PROXY`). Out: for each address a proxy or none. This machine is never asked
//! through a proxy: a proxy means another machine by `localhost`.

use std::net::IpAddr;

use super::address::is_loopback_host;
use super::{Address, Environment, NetworkError};

/// The proxies for addresses with and without encryption, and the hosts that are asked directly.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    tls: Option<ureq::Proxy>,
    plain: Option<ureq::Proxy>,
    direct: Vec<Direct>,
}

/// An entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Direct {
    All,
    /// A host and all hosts below it.
    Host {
        name: String,
        port: Option<u16>,
    },
    Network {
        ip: IpAddr,
        bits: u8,
    },
}

impl Proxies {
    /// `proxy` and `no_proxy` are the settings; an empty proxy means none, whatever the environment says.
    ///
    /// # Errors
    /// [`NetworkError`] if a proxy is no address that can be asked.
    pub(super) fn new(
        proxy: Option<&str>,
        no_proxy: Option<&str>,
        environment: &Environment<'_>,
    ) -> Result<Self, NetworkError> {
        let variable = |name: &str| {
            environment(&name.to_lowercase())
                .or_else(|| environment(name))
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let direct = no_proxy.map(str::to_owned).or_else(|| variable("NO_PROXY"));
        let direct = direct.unwrap_or_default();
        let (tls, plain) = match proxy.map(str::trim) {
            Some("") => (None, None),
            Some(proxy) => {
                let proxy = read(proxy, "embedding.proxy")?;
                (Some(proxy.clone()), Some(proxy))
            }
            None => {
                let either = |name: &'static str| {
                    let (name, value) = match variable(name) {
                        Some(value) => (name, value),
                        None => match variable("ALL_PROXY") {
                            Some(value) => ("ALL_PROXY", value),
                            None => return Ok(None),
                        },
                    };
                    read(&value, name).map(Some)
                };
                (either("HTTPS_PROXY")?, either("HTTP_PROXY")?)
            }
        };
        let direct = direct.split([',', ' ', ';']).filter_map(Direct::parse).collect();
        Ok(Self { tls, plain, direct })
    }

    /// The proxy for an address.
    pub(super) fn of(&self, address: &Address) -> Option<&ureq::Proxy> {
        let proxy = if address.is_tls() { &self.tls } else { &self.plain };
        let is_direct = is_loopback_host(address.host())
            || self.direct.iter().any(|entry| entry.names(address.host(), address.port()));
        proxy.as_ref().filter(|_| !is_direct)
    }
}

fn read(written: &str, setting: &'static str) -> Result<ureq::Proxy, NetworkError> {
    let expected = "http://HOST:PORT or https://HOST:PORT, with USER:PASSWORD@ before the host if the proxy asks for one";
    // Neither a user nor a password is repeated.
    let shown = written.rsplit_once('@').map_or(written, |(_, host)| host).to_owned();
    let fail = || NetworkError { setting, value: shown.clone(), expected: expected.to_owned() };
    let (scheme, rest) = written.split_once("://").unwrap_or(("http", written));
    let written = format!("{scheme}://{}", rest.trim_end_matches('/'));
    Address::parse(&written).map_err(|_| fail())?;
    ureq::Proxy::new(&written).map_err(|_| fail())
}

impl Direct {
    fn parse(entry: &str) -> Option<Self> {
        let entry = entry.trim().to_ascii_lowercase();
        if entry == "*" {
            return Some(Self::All);
        }
        if let Some((ip, bits)) = entry.split_once('/') {
            return Some(Self::Network { ip: ip.parse().ok()?, bits: bits.parse().ok()? });
        }
        let bare = entry.trim_start_matches('[').trim_end_matches(']');
        if let Ok(ip) = bare.parse::<IpAddr>() {
            return Some(Self::Network { ip, bits: 128 });
        }
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (entry.as_str(), None),
        };
        let name = name.trim_start_matches('*').trim_matches('.').to_owned();
        (!name.is_empty()).then_some(Self::Host { name, port })
    }

    fn names(&self, host: &str, port: u16) -> bool {
        match self {
            Self::All => true,
            Self::Host { name, port: only } => {
                let host = host.trim_end_matches('.');
                let is_below = host.strip_suffix(name.as_str()).is_some_and(|h| h.ends_with('.'));
                (host == name || is_below) && only.is_none_or(|only| only == port)
            }
            Self::Network { ip, bits } => {
                host.parse().is_ok_and(|host: IpAddr| is_within(host.to_canonical(), *ip, *bits))
            }
        }
    }
}

/// Whether the first bits of two addresses of one kind are equal.
fn is_within(host: IpAddr, network: IpAddr, bits: u8) -> bool {
    let (host, network, n_bits) = match (host, network.to_canonical()) {
        (IpAddr::V4(host), IpAddr::V4(network)) => {
            (u128::from(host.to_bits()), u128::from(network.to_bits()), 32)
        }
        (IpAddr::V6(host), IpAddr::V6(network)) => (host.to_bits(), network.to_bits(), 128),
        _ => return false,
    };
    let ignored = n_bits - u32::from(bits).min(n_bits);
    (host ^ network).checked_shr(ignored).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(pairs: &[(&str, &str)]) -> Proxies {
        let environment = |name: &str| {
            pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        Proxies::new(None, None, &environment).unwrap()
    }

    #[track_caller]
    fn check(proxies: &Proxies, address: &str, expected: Option<&str>) {
        let address = Address::parse(address).unwrap();
        assert_eq!(proxies.of(&address).map(ureq::Proxy::host), expected, "{address}");
    }

    #[test]
    fn the_environment_names_a_proxy_by_scheme() {
        let both = proxies(&[("HTTPS_PROXY", "http://a:1"), ("http_proxy", "b:2")]);
        check(&both, "https://x.org", Some("a"));
        check(&both, "http://x.org", Some("b"));
        let all = proxies(&[("ALL_PROXY", "http://c:3")]);
        check(&all, "https://x.org", Some("c"));
        check(&all, "http://x.org", Some("c"));
        check(&proxies(&[]), "https://x.org", None);
    }

    #[test]
    fn this_machine_is_asked_directly() {
        let all = proxies(&[("ALL_PROXY", "http://c:3")]);
        for address in ["http://localhost:1", "https://127.0.0.1:1", "http://[::1]:1"] {
            check(&all, address, None);
        }
    }

    #[test]
    fn no_proxy_names_hosts_networks_and_ports() {
        let list = ".corp.org, gpu:8080,10.0.0.0/8,192.168.1.7,*.lab";
        let some = proxies(&[("ALL_PROXY", "http://c:3"), ("NO_PROXY", list)]);
        for address in
            ["https://corp.org", "https://a.corp.org", "http://gpu:8080", "http://10.9.8.7"]
        {
            check(&some, address, None);
        }
        check(&some, "http://192.168.1.7", None);
        check(&some, "http://x.lab", None);
        for address in
            ["https://notcorp.org", "http://gpu:81", "http://11.0.0.1", "http://192.168.1.8"]
        {
            check(&some, address, Some("c"));
        }
        check(&proxies(&[("ALL_PROXY", "http://c:3"), ("NO_PROXY", "*")]), "http://x.org", None);
    }

    #[test]
    fn the_setting_wins_and_an_empty_one_means_none() {
        let environment = |name: &str| (name == "ALL_PROXY").then(|| "http://env:1".to_owned());
        let set = Proxies::new(Some("http://set:1"), Some("y.org"), &environment).unwrap();
        check(&set, "https://x.org", Some("set"));
        check(&set, "https://y.org", None);
        let none = Proxies::new(Some(""), None, &environment).unwrap();
        check(&none, "https://x.org", None);
    }

    #[test]
    fn what_is_no_proxy_is_refused_without_its_password() {
        for proxy in ["socks5://h:1", "ftp://h", "http://"] {
            assert!(Proxies::new(Some(proxy), None, &|_| None).is_err(), "{proxy}");
        }
        let error = Proxies::new(Some("socks5://me:hunter2@h:1"), None, &|_| None).unwrap_err();
        assert!(!error.to_string().contains("hunter2") && error.to_string().contains("h:1"));
    }
}
