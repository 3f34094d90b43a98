//! The hosts and the web origins by which a server may be used.
//!
//! A web page can have its own host name resolve to the address of this server, and then send requests to it as to its own
//! server (DNS rebinding). Where a page could do harm, a request must therefore be for a host that is known to be this server:
//! at the agent server, and everywhere while fixture keys are accepted, which are public.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, Uri, header, uri::Authority},
};

use crate::{
    config::ServerSettings,
    error::Error,
    http_server::host,
    web::{problem, request_id::RequestId},
};

/// The hosts of a server, on any port: the names of this machine, the listen address, the host of its base URL, and
/// `server.trusted_hosts`.
#[derive(Clone, Debug)]
pub struct TrustedHosts(Arc<[HostName]>);

/// A host without its port.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HostName {
    Address(IpAddr),
    /// In lower case.
    Name(String),
}

impl HostName {
    /// Returns a name, or an address with or without brackets.
    fn new(host: &str) -> HostName {
        match host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => HostName::Address(address.to_canonical()),
            Err(_) => HostName::Name(host.to_ascii_lowercase()),
        }
    }

    /// Parses a host with or without a port, as in a `Host` header.
    fn parse(host: &str) -> Option<HostName> {
        let authority =
            Some(host).filter(|host| host::is_valid(host.as_bytes()))?.parse::<Authority>().ok()?;
        Some(HostName::new(authority.host()))
    }

    fn is_local(&self) -> bool {
        match self {
            HostName::Address(address) => address.is_loopback(),
            HostName::Name(name) => name == "localhost",
        }
    }
}

impl TrustedHosts {
    /// Creates the hosts of a server. `base_url` is what [`crate::web::link_base::base_url`] returns for it.
    pub fn new(settings: &ServerSettings, base_url: &str) -> TrustedHosts {
        let base: Option<Uri> = base_url.parse().ok();
        let base = base.as_ref().and_then(Uri::host).map(HostName::new);
        let listen = HostName::Address(settings.listen.ip().to_canonical());
        let named = settings.trusted_hosts.iter().map(|host| HostName::new(host));
        // The unspecified address (0.0.0.0 or ::) is not a name of this server.
        let is_specified =
            |host: &HostName| !matches!(host, HostName::Address(address) if address.is_unspecified());
        TrustedHosts([listen].into_iter().chain(base).filter(is_specified).chain(named).collect())
    }

    /// Whether a host, with or without a port, is trusted.
    pub fn contains(&self, host: &str) -> bool {
        HostName::parse(host).is_some_and(|host| self.has(&host))
    }

    fn has(&self, host: &HostName) -> bool {
        host.is_local() || self.0.contains(host)
    }
}

/// Why a request is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untrusted {
    /// It is for a host that is not known to be this server.
    Host,
    /// It was sent by a page of another web origin.
    Origin,
}

impl Untrusted {
    /// Returns the error.
    pub fn into_error(self) -> Error {
        match self {
            Untrusted::Host => Error::Misdirected(
                "The request is for a host that is not known to be this server. Use the address that the server \
                 printed when it started, or add the host to its setting `server.trusted_hosts`."
                    .to_owned(),
            ),
            Untrusted::Origin => Error::Forbidden(
                "Web pages of this origin cannot use this server. Add the origin to its setting \
                 `server.cors_origins`."
                    .to_owned(),
            ),
        }
    }
}

/// The hosts that requests may be for, and the web origins that they may come from.
#[derive(Clone, Debug)]
pub struct TrustedSources {
    hosts: TrustedHosts,
    /// The origins in `server.cors_origins`.
    origins: Arc<[String]>,
}

impl TrustedSources {
    /// Creates the sources of a server. `base_url` is what [`crate::web::link_base::base_url`] returns for it.
    pub fn new(settings: &ServerSettings, base_url: &str) -> TrustedSources {
        let origins = settings.cors_origins.iter().map(|origin| origin.trim_end_matches('/').to_owned());
        TrustedSources { hosts: TrustedHosts::new(settings, base_url), origins: origins.collect() }
    }

    /// Fails if a request is for an untrusted host, or comes from a page of an untrusted origin. Pages of trusted hosts are
    /// trusted. A request without a host, which no browser sends, is for the address that it was sent to.
    pub fn check(&self, request: &Request) -> Result<(), Untrusted> {
        let local = request.local_addr().as_socket_addr().map(SocketAddr::ip);
        // An address that the client has connected to is one of this server. A page has a name for it.
        let local = local.map(|local| HostName::Address(local.to_canonical()));
        let is_trusted = |host: &str| {
            HostName::parse(host).is_some_and(|host| self.hosts.has(&host) || local.as_ref() == Some(&host))
        };
        let headers = request.headers();
        let hosts = headers.get_all(header::HOST).iter().map(HeaderValue::as_bytes);
        let target = request.uri().authority().map(|authority| authority.as_str().as_bytes());
        let is_host = |host: &[u8]| std::str::from_utf8(host).is_ok_and(is_trusted);
        if !hosts.chain(target).all(is_host) {
            return Err(Untrusted::Host);
        }
        let is_origin = |origin: &HeaderValue| {
            let Ok(origin) = origin.to_str() else { return false };
            self.origins.iter().any(|allowed| allowed == "*" || allowed == origin)
                || host_of_origin(origin).is_some_and(is_trusted)
        };
        if !headers.get_all(header::ORIGIN).iter().all(is_origin) {
            return Err(Untrusted::Origin);
        }
        Ok(())
    }
}

/// Middleware that refuses requests that are not trusted. It is outside of all other layers, so that an untrusted page can
/// neither read nor change anything. Without sources, all requests are trusted.
pub async fn layer<E: Endpoint<Output = Response>>(
    sources: Option<TrustedSources>,
    inner: Arc<E>,
    request: Request,
) -> poem::Result<Response> {
    match sources.map_or(Ok(()), |sources| sources.check(&request)) {
        Ok(()) => inner.as_ref().call(request).await,
        Err(untrusted) => {
            let id = RequestId::from_request(&request);
            Ok(problem::error_response(&untrusted.into_error(), id.as_str()))
        }
    }
}

/// Returns the host of a web origin, with its port.
fn host_of_origin(origin: &str) -> Option<&str> {
    origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))
}

#[cfg(test)]
mod tests {
    use poem::{
        Addr, Body, RequestParts,
        http::{self, Version, uri::Scheme},
        web::{LocalAddr, RemoteAddr},
    };

    use super::*;
    use crate::config::Settings;

    fn sources(listen: &str, base_url: &str, trusted: &[&str], origins: &[&str]) -> TrustedSources {
        let mut settings = Settings::default().server;
        settings.listen = listen.parse().unwrap();
        settings.trusted_hosts = trusted.iter().map(ToString::to_string).collect();
        settings.cors_origins = origins.iter().map(ToString::to_string).collect();
        TrustedSources::new(&settings, base_url)
    }

    /// Checks requests for a host in each form.
    fn check_host(sources: &TrustedSources, host: &str, expected: Result<(), Untrusted>) {
        let request = || Request::builder().header(header::HOST, host);
        assert_eq!(sources.check(&request().finish()), expected, "{host}");
        assert_eq!(sources.hosts.contains(host), expected.is_ok(), "{host}");
        let target = format!("http://{host}/v2/wallet").parse::<Uri>();
        if let Ok(target) = target {
            let old = Request::builder().version(Version::HTTP_10).uri(target);
            assert_eq!(sources.check(&old.finish()), expected, "as a target: {host}");
        }
        let two = request().header(header::HOST, "localhost").finish();
        assert_eq!(sources.check(&two), expected, "one of two: {host}");
    }

    #[test]
    fn requests_must_be_for_a_host_of_the_server() {
        let local = sources("127.0.0.1:8080", "http://127.0.0.1:8080", &[], &[]);
        let any =
            sources("0.0.0.0:8080", "http://127.0.0.1:8080", &["market", "10.0.0.9", "2001:db8::7"], &[]);
        let public = sources("192.0.2.7:80", "https://Market.example/shop", &[], &[]);
        let ipv6 = sources("[::]:80", "http://[::1]:80", &["[2001:db8::8]"], &[]);
        for (sources, trusted, untrusted) in [
            (
                &local,
                &[
                    "localhost",
                    "LOCALHOST:1",
                    "127.0.0.1",
                    "127.0.0.1:8080",
                    "127.8.8.8:1",
                    "[::1]",
                    "[::1]:8080",
                ][..],
                &[
                    "evil.example",
                    "evil.example:8080",
                    "localhost.evil.example",
                    "127.0.0.1.evil.example",
                    "0.0.0.0",
                    "192.0.2.7",
                    "",
                ][..],
            ),
            (
                &any,
                &["localhost:8080", "market", "MARKET:8080", "10.0.0.9:8080", "[2001:db8::7]:8080"],
                &["0.0.0.0:8080", "market.evil.example", "10.0.0.8", "[::]"],
            ),
            (
                &public,
                &["market.example", "market.example:443", "192.0.2.7", "192.0.2.7:8080"],
                &["example", "192.0.2.8"],
            ),
            (
                &ipv6,
                &["[::1]", "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]", "[2001:db8::8]"],
                &["[::]:80", "[2001:db8::9]"],
            ),
        ] {
            for (hosts, expected) in [(trusted, Ok(())), (untrusted, Err(Untrusted::Host))] {
                for host in hosts {
                    check_host(sources, host, expected);
                }
            }
        }
        let old = Request::builder().version(Version::HTTP_10).finish();
        assert_eq!(local.check(&old), Ok(()), "no host");
    }

    #[test]
    fn address_that_the_client_has_connected_to_is_trusted() {
        let sources = sources("0.0.0.0:8080", "http://127.0.0.1:8080", &[], &[]);
        for (local, host, expected) in [
            ("192.0.2.7:8080", "192.0.2.7:8080", Ok(())),
            ("192.0.2.7:8080", "192.0.2.7", Ok(())),
            ("[::ffff:192.0.2.7]:8080", "192.0.2.7:8080", Ok(())),
            ("[2001:db8::7]:8080", "[2001:db8::7]:8080", Ok(())),
            ("192.0.2.7:8080", "192.0.2.8:8080", Err(Untrusted::Host)),
            ("192.0.2.7:8080", "evil.example", Err(Untrusted::Host)),
        ] {
            let (parts, ()) =
                http::Request::builder().header(header::HOST, host).body(()).unwrap().into_parts();
            let local = Addr::SocketAddr(local.parse().unwrap());
            let ends = (LocalAddr(local.clone()), RemoteAddr(Addr::SocketAddr(([192, 0, 2, 1], 1).into())));
            let parts = RequestParts::from((parts, ends.0, ends.1, Scheme::HTTP));
            let request = Request::from_parts(parts, Body::empty());
            assert_eq!(sources.check(&request), expected, "{local} {host}");
        }
    }

    #[test]
    fn pages_must_be_of_a_trusted_origin() {
        let own = sources("127.0.0.1:8080", "https://market.example", &["shop"], &[]);
        let configured = sources("127.0.0.1:8080", "http://127.0.0.1:8080", &[], &["https://app.example/"]);
        let any = sources("127.0.0.1:8080", "http://127.0.0.1:8080", &[], &["*"]);
        for (sources, trusted, untrusted) in [
            (
                &own,
                &[
                    "http://localhost:8080",
                    "http://127.0.0.1:3000",
                    "https://market.example",
                    "http://[::1]:1",
                    "http://shop:80",
                ][..],
                &[
                    "null",
                    "https://evil.example",
                    "file://",
                    "http://market.example.evil",
                    "localhost",
                    "ftp://localhost",
                    "",
                ][..],
            ),
            (
                &configured,
                &["https://app.example", "http://localhost"],
                &["http://app.example", "https://app.example:444", "https://app.example.evil"],
            ),
            (&any, &["null", "https://evil.example"], &[]),
        ] {
            for (origins, expected) in [(trusted, Ok(())), (untrusted, Err(Untrusted::Origin))] {
                for origin in origins {
                    let request = Request::builder().header(header::ORIGIN, *origin);
                    let request = request.header(header::HOST, "localhost:8080").finish();
                    assert_eq!(sources.check(&request), expected, "{origin}");
                }
            }
        }
    }
}
