//! Forwards requests to the primary, with their bodies as they arrive, and passes the responses on.

use std::{fmt::Write, io, net::IpAddr, pin::pin, sync::Arc, time::Duration};

use futures_util::TryStreamExt;
use poem::{
    Body, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, header},
};
use tokio::{sync::Notify, time::timeout};
use url::Url;

use crate::{
    config::Settings,
    error::{Error, ErrorChain, Result},
    http_client,
    http_server::{
        fair_limit::{FairLimit, Holder},
        trusted_proxies::TrustedProxies,
    },
    web::{monitoring::ReplicaState, request_id, request_kinds},
};

/// How long the primary may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the machine of the primary may stay silent on an open connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a connection to the primary is kept without a request: less than the primary keeps it, by default 30 seconds.
const IDLE: Duration = Duration::from_secs(20);

/// How much longer than its own limit the primary may take to begin a response.
const MORE_THAN_PRIMARY: Duration = Duration::from_secs(5);

/// The clients of one network can have this part of all requests that are forwarded.
const NETWORK_SHARE: u64 = 4;

/// Seconds after which a client should repeat a request that could not be forwarded.
const RETRY_SECONDS: u64 = 5;

/// The header that says by which kind of server a request was forwarded.
const VIA: &str = "1.1 marketplace-replica";

/// Headers that are about a connection, and not about the message (RFC 9110, section 7.6.1).
const HOP_BY_HOP_HEADERS: [HeaderName; 8] = [
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
const FORWARDING_HEADERS: [&str; 4] =
    ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip"];

/// Forwards requests to a primary.
pub(super) struct Forwarder {
    client: reqwest::Client,
    primary_url: Url,
    proxies: TrustedProxies,
    /// Limits how many requests are forwarded at the same time. The replica knows no principals.
    in_progress: FairLimit<()>,
    /// How long the primary may read nothing of a body, and may take to begin a response after it; `None` for no limit.
    response_timeout: Option<Duration>,
}

impl Forwarder {
    /// Forwards to `replica.primary_url`.
    pub(super) fn new(settings: &Settings) -> Result<Forwarder> {
        let builder = http_client::asynchronous().map_err(Error::internal)?;
        let client = builder
            .http1_only()
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(KEEP_ALIVE)
            .tcp_user_timeout(KEEP_ALIVE)
            .pool_idle_timeout(IDLE)
            .build()
            .map_err(Error::internal)?;
        let max = u64::from(settings.replica.max_forwarded);
        Ok(Forwarder {
            client,
            primary_url: Url::parse(&settings.replica.primary_url).map_err(Error::internal)?,
            proxies: settings.proxies(),
            in_progress: FairLimit::new(max, 0, max.div_ceil(NETWORK_SHARE)),
            response_timeout: match settings.server.answer_seconds {
                0 => None,
                seconds => Some(Duration::from_secs(seconds.into()) + MORE_THAN_PRIMARY),
            },
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
        let network = Holder::Network(self.proxies.client_network(request));
        let permit = self.in_progress.try_acquire([Some(network), None], 1).ok_or_else(at_capacity)?;
        if was_forwarded(request.headers()) {
            tracing::warn!("a forwarded request arrived at a replica; check replica.primary_url");
            return Err(at_capacity());
        }
        let progress = Arc::new(Notify::new());
        let body = if body.is_empty() {
            reqwest::Body::from("")
        } else {
            let progress = Arc::clone(&progress);
            reqwest::Body::wrap_stream(body.into_bytes_stream().inspect_ok(move |_| progress.notify_one()))
        };
        let sending = self.client.request(request.method().clone(), self.url_of(request)?);
        let sending = sending.headers(self.headers_of(request)).body(body).send();
        // What has begun may have been carried out.
        let has_begun = || Error::ResponseTimeout { retry_seconds: RETRY_SECONDS };
        let response = match wait_for(sending, &progress, self.timeout_of(request)).await {
            Some(Ok(response)) => response,
            Some(Err(error)) => {
                let is_unreachable = error.is_connect();
                state.set_primary_away(is_unreachable || error.is_timeout());
                tracing::warn!(cause = %ErrorChain(&error.without_url()), "a request cannot be forwarded to the primary");
                return Err(if is_unreachable { at_capacity() } else { has_begun() });
            }
            None => {
                state.set_primary_away(true);
                tracing::warn!("the primary does not respond to a forwarded request");
                return Err(has_begun());
            }
        };
        state.set_primary_away(false);
        let mut builder = Response::builder().status(response.status());
        for (name, value) in &without_connection(response.headers()) {
            builder = builder.header(name, value);
        }
        // It counts as in progress until the body has ended.
        let body = response.bytes_stream().map_err(io::Error::other).inspect_ok(move |_| {
            let _permit = &permit;
        });
        Ok(builder.body(Body::from_bytes_stream(body)))
    }

    /// Returns how long the primary may be silent. Operations on whole worlds have no limit.
    fn timeout_of(&self, request: &Request) -> Option<Duration> {
        self.response_timeout.filter(|_| !request.uri().path().starts_with(request_kinds::SANDBOX))
    }

    /// Fails if the primary would get another path than it was asked for. It has nothing at such a path.
    fn url_of(&self, request: &Request) -> Result<Url> {
        if is_rewritten(request.uri().path()) {
            return Err(Error::UnknownPath(String::new()));
        }
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
        for name in FORWARDING_HEADERS {
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

/// Waits for a response as long as the body of the request makes progress, and then for this time; `None` if that has passed.
async fn wait_for<T>(
    response: impl Future<Output = T>,
    progress: &Notify,
    limit: Option<Duration>,
) -> Option<T> {
    let Some(limit) = limit else { return Some(response.await) };
    let mut response = pin!(response);
    loop {
        tokio::select! {
            response = &mut response => return Some(response),
            waited = timeout(limit, progress.notified()) => waited.ok()?,
        }
    }
}

/// Whether a path becomes another one as part of a URL, in which dot segments are resolved, and a backslash is a slash.
fn is_rewritten(path: &str) -> bool {
    let is_dots =
        |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    !path.starts_with('/') || path.contains('\\') || path.split('/').any(is_dots)
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
        !HOP_BY_HOP_HEADERS.contains(name) && !named.iter().any(|other| other == name.as_str())
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
    fn primary_gets_the_path_that_it_was_asked_for() {
        for path in ["/", "/v2//wallet", "/v2/a..b/.c", "/v2/%2Fa/%2e%2e%2e", "/v2/a/"] {
            let url = Url::parse(&format!("http://a{path}")).unwrap();
            assert_eq!((is_rewritten(path), url.path()), (false, path));
        }
        for path in ["*", "/w/../operator/v1/teams", "/v2/.", "/v2/%2E./a", "/v2/.%2e", "/operator\\v1/teams"]
        {
            assert!(is_rewritten(path), "{path}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn primary_may_be_slow_but_not_silent() {
        let limit = Duration::from_secs(10);
        let progress = Notify::new();
        let body = async {
            for _ in 0..5 {
                tokio::time::sleep(limit / 2).await;
                progress.notify_one();
            }
            tokio::time::sleep(limit / 2).await;
            7
        };
        assert_eq!(wait_for(body, &progress, Some(limit)).await, Some(7));
        let silent = || tokio::time::sleep(limit * 2);
        assert_eq!(wait_for(silent(), &progress, Some(limit)).await, None);
        assert_eq!(wait_for(silent(), &progress, None).await, Some(()));
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
