//! Forwards requests to the primary, with their bodies as they arrive, and responds with what it responds.

use std::{fmt::Write, io, sync::Arc, time::Duration};

use futures_util::TryStreamExt;
use poem::{
    Body, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};
use tokio::sync::Semaphore;
use url::Url;

use crate::{
    config::Settings,
    error::{Error, ErrorChain, Result},
    http_client,
    http_server::trusted_proxies::TrustedProxies,
    web::{monitoring::ReplicaState, request_id},
};

/// How long the primary may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Seconds after which a client should repeat a request that could not be forwarded.
const RETRY_SECONDS: u64 = 5;

/// The header that says by which kind of server a request was forwarded.
const VIA: &str = "1.1 marketplace-replica";

/// Headers that are about a connection, and not about what is sent on it.
const OF_CONNECTION: [HeaderName; 8] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// Headers of earlier proxies, which `Forwarded` replaces.
const OF_PROXIES: [&str; 4] = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip"];

/// Forwards requests to a primary.
pub(super) struct Forwarder {
    client: reqwest::Client,
    primary_url: Url,
    proxies: TrustedProxies,
    places: Arc<Semaphore>,
}

impl Forwarder {
    /// Forwards to `replica.primary_url`.
    pub(super) fn new(settings: &Settings) -> Result<Forwarder> {
        let builder = http_client::asynchronous().map_err(Error::internal)?;
        let client = builder
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(Error::internal)?;
        Ok(Forwarder {
            client,
            primary_url: Url::parse(&settings.replica.primary_url).map_err(Error::internal)?,
            proxies: settings.proxies(),
            places: Arc::new(Semaphore::new(settings.replica.max_forwarded as usize)),
        })
    }

    /// Forwards a request. If the primary cannot be reached, or too many requests are being forwarded, the response says so.
    pub(super) async fn forward(&self, mut request: Request, state: &ReplicaState) -> Response {
        let body = request.take_body();
        match self.try_forward(&request, body, state).await {
            Ok(response) => response,
            Err(error) => request_id::refuse(request, error).await,
        }
    }

    async fn try_forward(&self, request: &Request, body: Body, state: &ReplicaState) -> Result<Response> {
        let at_capacity = || Error::AtCapacity { retry_seconds: RETRY_SECONDS };
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| at_capacity())?;
        if request.headers().get_all(header::VIA).iter().any(|value| value == VIA) {
            tracing::error!("a forwarded request arrived at a replica; check replica.primary_url");
            return Err(at_capacity());
        }
        let body = if body.is_empty() {
            reqwest::Body::from("")
        } else {
            reqwest::Body::wrap_stream(body.into_bytes_stream())
        };
        let sending = self.client.request(request.method().clone(), self.url_of(request)?);
        let response = match sending.headers(self.headers_of(request)).body(body).send().await {
            Ok(response) => response,
            Err(error) => {
                state.set_primary_away(error.is_connect());
                tracing::warn!(cause = %ErrorChain(&error.without_url()), "a request cannot be forwarded to the primary");
                return Err(at_capacity());
            }
        };
        state.set_primary_away(false);
        let mut builder = Response::builder().status(response.status());
        for (name, value) in &without_connection(response.headers()) {
            builder = builder.header(name, value);
        }
        // The place is free when the body has ended.
        let body = response.bytes_stream().map_err(io::Error::other).inspect_ok(move |_| {
            let _place = &place;
        });
        Ok(builder.body(Body::from_bytes_stream(body)))
    }

    fn url_of(&self, request: &Request) -> Result<Url> {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let base = self.primary_url.as_str().trim_end_matches('/');
        Url::parse(&format!("{base}{target}")).map_err(Error::internal)
    }

    /// Returns the headers of a request, with who sent it.
    fn headers_of(&self, request: &Request) -> HeaderMap {
        let mut headers = without_connection(request.headers());
        for name in OF_PROXIES {
            headers.remove(name);
        }
        let client = self.proxies.client(request);
        let address = client.address.map_or_else(
            || "unknown".to_owned(),
            |address| match address.to_canonical() {
                std::net::IpAddr::V4(address) => address.to_string(),
                std::net::IpAddr::V6(address) => format!("\"[{address}]\""),
            },
        );
        let scheme = if client.is_https { "https" } else { "http" };
        let mut forwarded = format!("for={address};proto={scheme}");
        if let Some(host) = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()) {
            let _ = write!(forwarded, ";host=\"{}\"", host.replace(['"', '\\'], ""));
        }
        if let Ok(value) = HeaderValue::from_str(&forwarded) {
            headers.insert(header::FORWARDED, value);
        }
        headers.append(header::VIA, HeaderValue::from_static(VIA));
        headers
    }
}

/// Returns headers without those that are about the connection.
fn without_connection(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect();
    let is_kept = |name: &HeaderName| {
        !OF_CONNECTION.contains(name) && !named.iter().any(|other| other == name.as_str())
    };
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    kept.fold(HeaderMap::new(), |mut kept, (name, value)| {
        kept.append(name, value.clone());
        kept
    })
}
