//! Redirects requests without TLS to the address with TLS.

use std::net::SocketAddr;

use poem::{
    Endpoint, Request, Response,
    http::{HeaderValue, StatusCode, header, uri::PathAndQuery},
};
use url::Url;

use crate::{
    config::Settings,
    error::Error,
    web::{link_base, request_id, trusted_sources::TrustedHosts},
};

/// Redirects each request. The method and the body stay the same (308).
pub struct HttpsRedirect {
    /// The URL of the server, without a path.
    origin: String,
    /// Whether all requests are redirected to `origin`, regardless of their host.
    is_fixed: bool,
    trusted_hosts: TrustedHosts,
    port: u16,
}

impl HttpsRedirect {
    /// Creates the redirect to a server with TLS that listens on this address.
    pub fn new(settings: &Settings, address: SocketAddr) -> HttpsRedirect {
        let base_url = link_base::base_url(settings, address);
        // The base URL may have a path that requests to this server do not have.
        let origin =
            Url::parse(&base_url).map_or_else(|_| base_url.clone(), |url| url.origin().ascii_serialization());
        HttpsRedirect {
            origin,
            is_fixed: !settings.server.public_url.is_empty(),
            trusted_hosts: TrustedHosts::new(&settings.server, &base_url),
            port: address.port(),
        }
    }

    /// Returns the URL to which a request for a path of a host is redirected. Only hosts that are known to be this
    /// server are used.
    fn location(&self, host: Option<&str>, path: &str) -> String {
        let trusted = host.filter(|host| !self.is_fixed && self.trusted_hosts.contains(host));
        let Some(host) = trusted else { return format!("{}{path}", self.origin) };
        let digits = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let name = host.rsplit_once(':').filter(|(_, port)| digits(port)).map_or(host, |(name, _)| name);
        let name = name.to_ascii_lowercase();
        match self.port {
            443 => format!("https://{name}{path}"),
            port => format!("https://{name}:{port}{path}"),
        }
    }
}

impl Endpoint for HttpsRedirect {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
        // The target of an OPTIONS request can be an asterisk, and that of other requests an authority.
        let location =
            path.starts_with('/').then(|| HeaderValue::try_from(self.location(host, path)).ok()).flatten();
        let Some(location) = location else {
            return Ok(request_id::refuse(request, Error::UnknownPath(String::new())).await);
        };
        Ok(Response::builder()
            .status(StatusCode::PERMANENT_REDIRECT)
            .header(header::LOCATION, location)
            .header(header::CACHE_CONTROL, "no-store")
            .finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_same_path_of_a_known_host() {
        let redirect = |public_url: &str, listen: &str| {
            let mut settings = Settings::default();
            public_url.clone_into(&mut settings.server.public_url);
            settings.server.trusted_hosts = vec!["market.example".to_owned()];
            settings.tls.certificate = "certificate.pem".to_owned();
            HttpsRedirect::new(&settings, listen.parse().unwrap())
        };
        let local = redirect("", "192.0.2.7:8443");
        for (host, expected) in [
            (Some("MARKET.example"), "https://market.example:8443/a?b"),
            (Some("market.example:80"), "https://market.example:8443/a?b"),
            (Some("[::1]:80"), "https://[::1]:8443/a?b"),
            (Some("[::1]"), "https://[::1]:8443/a?b"),
            (Some("evil.example"), "https://192.0.2.7:8443/a?b"),
            (None, "https://192.0.2.7:8443/a?b"),
        ] {
            assert_eq!(local.location(host, "/a?b"), expected, "{host:?}");
        }
        assert_eq!(
            redirect("", "192.0.2.7:443").location(Some("market.example"), "/"),
            "https://market.example/"
        );
        let public = redirect("https://shop.example/base", "192.0.2.7:8443");
        assert_eq!(public.location(Some("market.example"), "/a"), "https://shop.example/a");
    }
}
