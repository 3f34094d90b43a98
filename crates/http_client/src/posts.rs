//! POST requests to addresses that strangers choose: one connection for each, to public addresses only, within a
//! fixed time, and with little of the response read.

use std::{net::SocketAddr, time::Duration};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use rustls::ClientConfig;
use tokio::time::{Instant, timeout_at};
use url::{Host, Url};

use super::{
    public_addresses::{self, AddressError},
    tls,
};

/// A client for POST requests. It keeps no connection open.
#[derive(Debug)]
pub struct PostClient {
    tls: ClientConfig,
    may_be_private: bool,
    max_time: Duration,
    max_excerpt: usize,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Status of the response. Redirects are not followed.
    pub status: u16,
    /// Value of the header `Retry-After`, if it is text.
    pub retry_after: Option<String>,
    /// The first bytes of the body, as far as they arrived in time.
    pub excerpt: Vec<u8>,
}

/// Why a request got no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostError {
    /// The name of the host has no address, or cannot be looked up now.
    NotResolved,
    /// The host is not on the public internet.
    NotPublic,
    /// No status was received in time.
    TimedOut,
    /// No connection to the host could be established. With https, this includes an invalid certificate.
    Unreachable,
    /// The host closed the connection, or its response is not HTTP.
    Interrupted,
}

impl From<AddressError> for PostError {
    fn from(error: AddressError) -> PostError {
        match error {
            AddressError::NotFound => PostError::NotResolved,
            AddressError::NotPublic => PostError::NotPublic,
        }
    }
}

impl PostClient {
    /// Creates a client. A request takes at most `max_time`, and `max_excerpt` bytes of a response are kept. Hosts
    /// may be in a private network only if `may_be_private` is set.
    ///
    /// # Errors
    ///
    /// The cryptography does not support the versions of TLS.
    pub fn new(
        may_be_private: bool,
        max_time: Duration,
        max_excerpt: usize,
    ) -> Result<PostClient, rustls::Error> {
        Ok(PostClient { tls: tls::config()?, may_be_private, max_time, max_excerpt })
    }

    /// Sends a JSON body. The host is looked up once, and only the addresses found then are connected to. If the
    /// lookup takes too long, this returns when it has ended, so that lookups do not accumulate.
    pub async fn post(
        &self,
        url: &Url,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    ) -> Result<Posted, PostError> {
        let deadline = Instant::now() + self.max_time;
        let addresses = self.resolve(url, deadline).await?;
        let client = self.connector(url, &addresses)?;
        let mut header_map =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        for (name, value) in headers {
            let value = HeaderValue::try_from(value).map_err(|_| PostError::Interrupted)?;
            header_map.insert(HeaderName::from_static(name), value);
        }
        let sent = timeout_at(deadline, client.post(url.clone()).headers(header_map).body(body).send()).await;
        let mut response = match sent {
            Err(_) => return Err(PostError::TimedOut),
            Ok(Err(error)) if error.is_connect() => return Err(PostError::Unreachable),
            Ok(Err(_)) => return Err(PostError::Interrupted),
            Ok(Ok(response)) => response,
        };
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let retry_after = retry_after.map(str::to_owned);
        let mut excerpt = Vec::new();
        while excerpt.len() < self.max_excerpt {
            let Ok(Ok(Some(chunk))) = timeout_at(deadline, response.chunk()).await else { break };
            let missing = self.max_excerpt - excerpt.len();
            excerpt.extend_from_slice(&chunk[..chunk.len().min(missing)]);
        }
        Ok(Posted { status: response.status().as_u16(), retry_after, excerpt })
    }

    async fn resolve(&self, url: &Url, deadline: Instant) -> Result<Vec<SocketAddr>, PostError> {
        let (url, may_be_private) = (url.clone(), self.may_be_private);
        if !matches!(url.host(), Some(Host::Domain(_))) {
            return Ok(public_addresses::resolve(&url, may_be_private)?);
        }
        let lookup =
            tokio::task::spawn_blocking(move || public_addresses::resolve(&url, may_be_private)).await;
        let found = lookup.map_err(|_| PostError::NotResolved)??;
        if Instant::now() >= deadline { Err(PostError::TimedOut) } else { Ok(found) }
    }

    /// Returns a client that connects to these addresses only.
    fn connector(&self, url: &Url, addresses: &[SocketAddr]) -> Result<reqwest::Client, PostError> {
        let builder = reqwest::Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .pool_max_idle_per_host(0)
            .user_agent(concat!("marketplace/", env!("CARGO_PKG_VERSION")));
        let builder = match url.host() {
            Some(Host::Domain(name)) => builder.resolve_to_addrs(name, addresses),
            // Literals have no name to look up.
            _ => builder,
        };
        builder.build().map_err(|_| PostError::Unreachable)
    }
}
