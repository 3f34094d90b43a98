//! The base URL of links in responses: `server.public_url`, or else the host that the client used, so that a link
//! works for a client that reaches the server by another local name or port. Only hosts that are known to be this
//! server are used, since anybody can send any `Host` header.

use std::net::{IpAddr, SocketAddr};

use poem::{Request, http::header};
use url::Url;

use crate::{
    config::Settings,
    http_server::trusted_proxies::TrustedProxies,
    web::{
        trusted_sources::TrustedHosts,
        world_host::{BasePath, ServedWorld},
    },
};

/// Returns the base URL of links in responses to requests without a trusted host: `server.public_url`, or the
/// listen address. A client cannot use an unspecified address (0.0.0.0), so a loopback address replaces it.
pub fn base_url(settings: &Settings, address: SocketAddr) -> String {
    match settings.server.public_url.as_str() {
        "" => listen_url(settings, address),
        url => url.to_owned(),
    }
}

/// Returns the URL by which a client on this machine reaches a server with these settings that listens on this address.
pub fn listen_url(settings: &Settings, address: SocketAddr) -> String {
    let url = local_url(address);
    if settings.tls.is_enabled() { url.replacen("http:", "https:", 1) } else { url }
}

/// Returns the URL by which a client on this machine reaches a server without TLS that listens on this address.
pub fn local_url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

/// Decides the base URL of links, request by request.
#[derive(Clone, Debug)]
pub struct LinkBase {
    base_url: String,
    /// The path of `server.public_url` without a slash at the end. A proxy removes it from requests.
    public_path: String,
    trusted_hosts: TrustedHosts,
    proxies: TrustedProxies,
    /// Whether all links begin with `base_url`, whatever host a request has.
    is_fixed: bool,
}

impl LinkBase {
    /// Creates the rule for a server whose [`base_url`] is this one, without a trailing slash.
    pub fn new(settings: &Settings, base_url: &str) -> LinkBase {
        let public_url = Url::parse(&settings.server.public_url).ok();
        let public_path = public_url.map(|url| url.path().trim_end_matches('/').to_owned());
        LinkBase {
            base_url: base_url.to_owned(),
            public_path: public_path.unwrap_or_default(),
            trusted_hosts: TrustedHosts::new(&settings.server, base_url),
            proxies: settings.proxies(),
            is_fixed: !settings.server.public_url.is_empty(),
        }
    }

    /// Returns the base URL of links to requests without a trusted host.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Returns the base URL of links in the response to a request.
    pub fn for_request(&self, request: &Request) -> String {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let base_path = request.data::<BasePath>().map_or("", |base_path| base_path.0.as_str());
        self.for_host(host, base_path, self.is_https(request))
    }

    /// Returns what comes before the paths of this server in addresses on its pages: nothing, or the path of `server.public_url`
    /// and that of the world. The own port of a world has neither.
    pub fn path_for_request(&self, request: &Request) -> String {
        match request.data::<BasePath>() {
            Some(world) => format!("{}{}", self.public_path, world.0),
            None if is_by_own_port(request) => String::new(),
            None => self.public_path.clone(),
        }
    }

    /// Whether browsers send requests like this one over TLS only. They do not use `server.public_url` for the own port of a world.
    pub fn is_over_tls(&self, request: &Request) -> bool {
        self.is_https(request) || self.base_url.starts_with("https://") && !is_by_own_port(request)
    }

    /// Whether the client of a request used https, as far as this server and the proxies that it trusts know.
    pub fn is_https(&self, request: &Request) -> bool {
        self.proxies.client(request).is_https
    }

    /// Returns the base URL of links in the response to a request with this `Host` header, whose path was below
    /// `base_path`.
    fn for_host(&self, host: Option<&str>, base_path: &str, is_https: bool) -> String {
        let scheme = if is_https { "https" } else { "http" };
        let trusted = host.filter(|host| !self.is_fixed && self.trusted_hosts.contains(host));
        trusted.map_or_else(
            || self.base_url.clone(),
            |host| format!("{scheme}://{}{base_path}", host.to_ascii_lowercase()),
        )
    }
}

/// Whether a request was sent to the own port of a world.
fn is_by_own_port(request: &Request) -> bool {
    request.data::<ServedWorld>().is_some() && request.data::<BasePath>().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link_base(listen: &str, public_url: &str) -> LinkBase {
        let mut settings = Settings::default();
        public_url.clone_into(&mut settings.server.public_url);
        settings.server.listen = listen.parse().unwrap();
        settings.server.trusted_hosts = vec!["market".to_owned()];
        let base_url = base_url(&settings, listen.parse().unwrap());
        LinkBase::new(&settings, &base_url)
    }

    #[test]
    fn links_have_the_host_of_the_request_if_it_is_trusted() {
        let local = link_base("192.0.2.7:8080", "");
        for (host, expected) in [
            ("localhost", "http://localhost"),
            ("LOCALHOST:9000", "http://localhost:9000"),
            ("127.0.0.1:49153", "http://127.0.0.1:49153"),
            ("127.8.8.8", "http://127.8.8.8"),
            ("[::1]:8080", "http://[::1]:8080"),
            ("192.0.2.7:8080", "http://192.0.2.7:8080"),
            ("192.0.2.7:8081", "http://192.0.2.7:8081"),
            ("market:9000", "http://market:9000"),
            ("evil.example", "http://192.0.2.7:8080"),
            ("localhost.evil.example", "http://192.0.2.7:8080"),
            ("localhost@evil.example", "http://192.0.2.7:8080"),
            ("127.0.0.1.evil.example", "http://192.0.2.7:8080"),
            ("0.0.0.0:8080", "http://192.0.2.7:8080"),
            ("", "http://192.0.2.7:8080"),
        ] {
            assert_eq!(local.for_host(Some(host), "", false), expected, "{host}");
        }
        assert_eq!(local.for_host(None, "", false), "http://192.0.2.7:8080");
        assert_eq!(local.for_host(Some("localhost"), "/w/one", false), "http://localhost/w/one");
        assert_eq!(local.for_host(Some("localhost"), "/w/one", true), "https://localhost/w/one");
        let public = link_base("127.0.0.1:8080", "https://market.example/shop");
        for host in ["localhost:8080", "market.example", "evil.example"] {
            assert_eq!(public.for_host(Some(host), "", false), "https://market.example/shop", "{host}");
        }
    }

    #[test]
    fn pages_are_at_the_public_url_except_on_the_own_port_of_a_world() {
        for (public_url, expected) in [
            ("", ""),
            ("https://market.example", ""),
            ("https://market.example/shop", "/shop"),
            ("https://market.example/a/shop/", "/a/shop"),
        ] {
            let base = link_base("127.0.0.1:8080", public_url);
            let is_over_tls = !public_url.is_empty();
            let mut request = Request::default();
            assert_eq!(base.path_for_request(&request), expected, "{public_url}");
            assert_eq!(base.is_over_tls(&request), is_over_tls, "{public_url}");
            request.set_data(ServedWorld(std::sync::Weak::new()));
            assert_eq!(base.path_for_request(&request), "", "the own port of a world");
            assert!(!base.is_over_tls(&request), "the own port of a world");
            request.set_data(BasePath("/w/one".to_owned()));
            assert_eq!(base.path_for_request(&request), format!("{expected}/w/one"), "{public_url}");
            assert_eq!(base.is_over_tls(&request), is_over_tls, "{public_url}");
        }
    }

    #[test]
    fn no_link_has_an_unspecified_address() {
        for (listen, expected) in [("0.0.0.0:8080", "http://127.0.0.1:8080"), ("[::]:80", "http://[::1]:80")]
        {
            let base = link_base(listen, "");
            for host in [listen, "evil.example"] {
                assert_eq!(base.for_host(Some(host), "", false), expected, "{listen}");
            }
        }
    }
}
