//! Request IDs: in the `X-Request-Id` response header, in the error body, and in one log line per request.
//!
//! The log line has the route that matched, with the names of its parameters, such as
//! `/v2/vendor/uploads/grants/{token}`. It never has the path, which may contain a secret wherever a client
//! mistyped it, or the query, which may contain search terms. It also says how long the reads and writes of
//! the request took, and what it waited for.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use poem::{
    Endpoint, Request, Response,
    http::{HeaderMap, HeaderName, HeaderValue, Method},
};
use tracing::Instrument;

use crate::{
    clock::Clock,
    domain::collections::Collection,
    market::{CostMeter, milliseconds},
};

/// The header that carries the request ID, in requests and in responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a client's request ID in characters.
const MAX_LENGTH: usize = 128;

/// What the log line says if no route matched, or the request was rejected before its route was known.
const NO_ROUTE: &str = "none";

/// What the log line of a request says, collected while the request is processed.
#[derive(Clone, Debug, Default)]
struct Logged {
    /// The route that matched.
    route: Arc<OnceLock<Arc<str>>>,
    cost: CostMeter,
}

/// Records the route that matched a request. Without effect on a request that did not pass through [`layer`].
pub fn set_route(request: &Request, route: Arc<str>) {
    if let Some(logged) = request.data::<Logged>() {
        let _ = logged.route.set(route);
    }
}

/// Returns the meter whose times the log line of a request has; none if the request did not pass through
/// [`layer`].
pub fn cost_meter(request: &Request) -> Option<CostMeter> {
    request.data::<Logged>().map(|logged| logged.cost.clone())
}

/// The ID of a request.
#[derive(Clone, Debug)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// Returns the client's ID if it is safe to log, or else a new one.
    fn accept_or_generate(headers: &HeaderMap, clock: &Clock) -> RequestId {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let client_id = headers
            .get(HEADER)
            .filter(|id| (1..=MAX_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(is_plain));
        client_id.cloned().map_or_else(|| RequestId::generate(clock), RequestId)
    }

    /// Generates an ID. It is random, unless the clock is deterministic.
    pub fn generate(clock: &Clock) -> RequestId {
        let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
        let text = clock.new_id(Collection::Requests).hyphenated().encode_lower(&mut text);
        RequestId(HeaderValue::from_str(text).expect("a UUID is visible ASCII"))
    }

    /// Returns the ID of a request that passed through [`layer`], or an empty ID for any other.
    pub fn from_request(request: &Request) -> RequestId {
        request.data::<RequestId>().cloned().unwrap_or_else(|| RequestId(HeaderValue::from_static("")))
    }

    /// Returns the ID as the value of its header.
    pub fn header_value(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Returns the ID as text.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// Middleware that assigns the request an ID and logs its outcome.
pub async fn layer<E: Endpoint>(
    clock: Arc<Clock>,
    inner: Arc<E>,
    mut request: Request,
) -> poem::Result<Response> {
    let started = Instant::now();
    let id = RequestId::accept_or_generate(request.headers(), &clock);
    let method = request.method().clone();
    let logged = Logged::default();
    request.set_data(logged.clone());
    request.set_data(id.clone());
    let span = tracing::debug_span!("request", request_id = id.as_str());
    let mut response = inner.get_response(request).instrument(span).await;
    response.headers_mut().insert(HEADER, id.0.clone());
    let status = response.status().as_u16();
    let route = logged.route.get().map_or(NO_ROUTE, AsRef::as_ref);
    // A client may send any method.
    let method = if is_standard(&method) { method.as_str() } else { "other" };
    let times = logged.cost.times();
    tracing::info!(
        request_id = id.as_str(),
        method,
        route,
        status,
        milliseconds = milliseconds(started.elapsed()),
        slot_wait_ms = milliseconds(times.slot_wait),
        compute_wait_ms = milliseconds(times.compute_wait),
        read_wait_ms = milliseconds(times.read_wait),
        read_ms = milliseconds(times.read),
        write_wait_ms = milliseconds(times.write_wait),
        write_ms = milliseconds(times.write),
        index_wait_ms = milliseconds(times.index_wait),
        "request completed"
    );
    Ok(response)
}

fn is_standard(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS]
        .contains(method)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, endpoint::make_sync, test::TestClient};

    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn safe_client_id_is_used_and_any_other_replaced() {
        let client = TestClient::new(
            make_sync(|request| RequestId::from_request(&request).as_str().to_owned())
                .around(|inner, request| layer(Arc::new(Clock::System), inner, request)),
        );
        let longest = "x".repeat(MAX_LENGTH);
        for client_id in ["a", "trace-01_b.C", &longest] {
            let response = client.get("/").header(HEADER, client_id).send().await;
            response.assert_header(HEADER, client_id);
            response.assert_text(client_id).await;
        }
        let too_long = "x".repeat(MAX_LENGTH + 1);
        for client_id in ["", "a b", "a\u{e9}", "a;b", "<script>", &too_long] {
            let response = client
                .get("/")
                .header(HEADER, HeaderValue::from_bytes(client_id.as_bytes()).unwrap())
                .send()
                .await;
            let generated = response.0.headers()[HEADER].to_str().unwrap();
            assert_eq!(Uuid::parse_str(generated).unwrap().get_version_num(), 4, "{client_id:?}");
        }
    }
}
