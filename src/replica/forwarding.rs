//! Forwards requests to the primary, with their bodies as they arrive, and responds with what it responds.

use std::{
    collections::HashMap,
    fmt::Write,
    io,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::TryStreamExt;
use poem::{
    Body, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};
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

/// How long the machine of the primary may not answer on an open connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a connection to the primary is kept without a request: less than the primary keeps it, by default 30 seconds.
const IDLE: Duration = Duration::from_secs(20);

/// The share of the places that the clients of one network can have.
const NETWORK_SHARE: usize = 4;

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

/// The places of requests that are forwarded.
#[derive(Clone, Debug)]
struct Places {
    max: usize,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl Places {
    fn new(max: usize) -> Places {
        Places { max, taken: Arc::default() }
    }

    /// Takes a place for a client of a network; `None` if all are taken, or its share.
    fn take(&self, network: IpAddr) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&network).copied().unwrap_or_default();
        if taken.values().sum::<usize>() >= self.max || own >= self.max.div_ceil(NETWORK_SHARE) {
            return None;
        }
        taken.insert(network, own + 1);
        Some(Place { places: self.clone(), network })
    }
}

/// A place that is taken until it is dropped.
#[derive(Debug)]
struct Place {
    places: Places,
    network: IpAddr,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = taken.get_mut(&self.network) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.network);
            }
        }
    }
}

/// Forwards requests to a primary.
pub(super) struct Forwarder {
    client: reqwest::Client,
    primary_url: Url,
    proxies: TrustedProxies,
    places: Places,
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
            .tcp_keepalive(KEEP_ALIVE)
            .tcp_user_timeout(KEEP_ALIVE)
            .pool_idle_timeout(IDLE)
            .build()
            .map_err(Error::internal)?;
        Ok(Forwarder {
            client,
            primary_url: Url::parse(&settings.replica.primary_url).map_err(Error::internal)?,
            proxies: settings.proxies(),
            places: Places::new(settings.replica.max_forwarded as usize),
        })
    }

    /// Begins a request of the replica itself.
    pub(super) fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.post(self.address(path)).header(header::VIA, VIA)
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
        let place = self.places.take(self.proxies.client_network(request)).ok_or_else(at_capacity)?;
        if was_forwarded(request.headers()) {
            tracing::warn!("a forwarded request arrived at a replica; check replica.primary_url");
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
                let has_begun = !error.is_connect();
                state.set_primary_away(!has_begun || error.is_timeout());
                tracing::warn!(cause = %ErrorChain(&error.without_url()), "a request cannot be forwarded to the primary");
                // What has begun may have been carried out.
                return Err(if has_begun {
                    Error::ResponseTimeout { retry_seconds: RETRY_SECONDS }
                } else {
                    at_capacity()
                });
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
        Url::parse(&self.address(target)).map_err(Error::internal)
    }

    /// Returns the address of a path, with its query, at the primary.
    fn address(&self, target: &str) -> String {
        format!("{}{target}", self.primary_url.as_str().trim_end_matches('/'))
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
                IpAddr::V4(address) => address.to_string(),
                IpAddr::V6(address) => format!("\"[{address}]\""),
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

/// Whether a replica has forwarded a request with these headers. A proxy may have joined the values of several headers.
fn was_forwarded(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::VIA).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim() == VIA)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_cannot_take_all_places() {
        let places = Places::new(8);
        let [one, other] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        let first = [(); 2].map(|()| places.take(one).unwrap());
        assert!(places.take(one).is_none(), "a quarter of the places");
        let second = places.take(other).unwrap();
        drop(first);
        assert!(places.take(one).is_some());
        drop(second);
        assert!(places.taken.lock().unwrap().is_empty());
    }

    #[test]
    fn forwarded_requests_are_known_behind_a_proxy() {
        for (values, expected) in [
            (vec![VIA], true),
            (vec!["1.1 proxy, 1.1 marketplace-replica"], true),
            (vec!["1.1 proxy", VIA], true),
            (vec!["1.1 proxy", "1.1 marketplace-replicas"], false),
        ] {
            let mut headers = HeaderMap::new();
            for value in &values {
                headers.append(header::VIA, value.parse().unwrap());
            }
            assert_eq!(was_forwarded(&headers), expected, "{values:?}");
        }
    }

    #[test]
    fn headers_of_a_connection_end_there() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("connection", "close, X-Own"), ("x-own", "1"), ("te", "trailers"), ("accept", "text/html")]
        {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let kept = without_connection(&headers);
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(kept["accept"], "text/html");
    }
}
