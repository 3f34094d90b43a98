//! Request IDs: in the `X-Request-Id` response header, in the error body, and in one log line per request.
//!
//! The log line has the route that matched, with the names of its parameters, such as `/v2/vendor/uploads/grants/{token}`, and
//! the IDs among their values. It never has the path, which may contain a secret wherever a client mistyped it, or the query,
//! which may contain search terms. It identifies the sender: the address of the client, the kind (team, operator, or link), the
//! team, and the ID of the key. It also contains the times of the reads, the writes, and the waits of the request.

use std::{
    fmt::Write,
    sync::{Arc, OnceLock},
    time::Instant,
};

use poem::{
    Endpoint, Request, Response,
    endpoint::make_sync,
    http::{HeaderName, HeaderValue, Method},
};
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    clock::Clock,
    domain::{collections::Collection, teams::Team},
    error::Error,
    http_server::trusted_proxies::TrustedProxies,
    market::{CostMeter, milliseconds},
    web::{
        problem,
        request_counts::{EndedRequest, RequestCounts},
    },
};

/// The header that carries the request ID, in requests and in responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of a client's request ID in characters.
const MAX_LENGTH: usize = 128;

/// The name of path parameters that are always secret.
const TOKEN: &str = "token";

/// Route in the log line if no route matched, or if the request was rejected before its route was known.
const NO_ROUTE: &str = "none";

/// Content of the log line of a request, collected while the request is processed.
#[derive(Clone, Debug, Default)]
struct Logged {
    /// The route that matched, and the IDs in the path.
    route: Arc<OnceLock<(Arc<str>, String)>>,
    caller: Arc<OnceLock<LoggedCaller>>,
    cost: CostMeter,
}

/// Who sent a request.
#[derive(Debug)]
struct LoggedCaller {
    /// `None` for an operator.
    team: Option<Arc<Team>>,
    /// `None` for a signed link.
    key_id: Option<Uuid>,
}

impl LoggedCaller {
    /// Returns what kind of caller it is.
    const fn kind(&self) -> &'static str {
        match (&self.team, self.key_id) {
            (Some(_), Some(_)) => "team",
            (Some(_), None) => "link",
            (None, _) => "operator",
        }
    }
}

/// The name of the world that a request is for, in the request's data.
#[derive(Clone, Debug)]
pub struct WorldName(pub Arc<str>);

/// Records the route that matched a request. Without effect on a request that did not pass through [`layer`].
pub fn set_route(request: &Request, route: Arc<str>) {
    if let Some(logged) = request.data::<Logged>() {
        let ids = ids_in_path(&route, request.uri().path());
        let _ = logged.route.set((route, ids));
    }
}

/// Records who sent a request: the team, unless it is an operator, and the ID of the key, unless the request has a signed link.
/// Without effect on a request that did not pass through [`layer`].
pub fn set_caller(request: &Request, team: Option<Arc<Team>>, key_id: Option<Uuid>) {
    if let Some(logged) = request.data::<Logged>() {
        let _ = logged.caller.set(LoggedCaller { team, key_id });
    }
}

/// Returns the parameters of a path that are IDs, as `name=value`: UUIDs, and numbers where the name says that they are IDs.
/// Anything else may be a secret.
fn ids_in_path(route: &str, path: &str) -> String {
    let mut ids = String::new();
    for (parameter, value) in route.split('/').zip(path.split('/')) {
        let in_braces = parameter.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let Some(name) = in_braces.or_else(|| parameter.strip_prefix(':')) else { continue };
        let is_number = || name.ends_with("_id") && value.parse::<u32>().is_ok();
        if name != TOKEN && (Uuid::try_parse(value).is_ok() || is_number()) {
            let space = if ids.is_empty() { "" } else { " " };
            // Writing to a `String` does not fail.
            let _ = write!(ids, "{space}{name}={value}");
        }
    }
    ids
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
    fn accept_or_generate(sent: Option<&HeaderValue>, clock: &Clock) -> RequestId {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
        let client_id =
            sent.filter(|id| (1..=MAX_LENGTH).contains(&id.len()) && id.as_bytes().iter().all(is_plain));
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

/// Middleware that assigns the request an ID, logs its outcome, and counts it. `proxies` are the proxies that may have
/// recorded the address of the client.
pub async fn layer<E: Endpoint>(
    clock: Arc<Clock>,
    proxies: TrustedProxies,
    counts: Option<Arc<RequestCounts>>,
    inner: Arc<E>,
    mut request: Request,
) -> poem::Result<Response> {
    let started = Instant::now();
    let _running = counts.as_ref().map(|counts| counts.begin());
    let id = RequestId::accept_or_generate(request.headers().get(HEADER), &clock);
    let method = request.method().clone();
    let client = proxies.client(&request).address;
    let world = request.data::<WorldName>().cloned();
    let logged = Logged::default();
    request.set_data(logged.clone());
    request.set_data(id.clone());
    let span = tracing::debug_span!("request", request_id = id.as_str());
    let mut response = inner.get_response(request).instrument(span).await;
    response.headers_mut().insert(HEADER, id.0.clone());
    let status = response.status().as_u16();
    let matched = logged.route.get();
    let (route, ids) = matched.map_or((NO_ROUTE, ""), |(route, ids)| (route.as_ref(), ids.as_str()));
    let (duration, times) = (started.elapsed(), logged.cost.times());
    if let Some(counts) = &counts {
        let (method, route) = (&method, matched.map(|(route, _)| route.as_ref()));
        counts.count(&EndedRequest { method, route, is_of_world: world.is_some(), status, duration, times });
    }
    let caller = logged.caller.get();
    if let (Some(counts), Some(address), Some(key_id)) =
        (&counts, client, caller.and_then(|caller| caller.key_id))
        && world.is_none()
    {
        counts.shared_addresses.record(address, key_id, started);
    }
    let team = caller.and_then(|caller| caller.team.as_ref());
    // A client may send any method.
    let method = if is_standard(&method) { method.as_str() } else { "other" };
    tracing::info!(
        request_id = id.as_str(),
        method,
        route,
        ids = Some(ids).filter(|ids| !ids.is_empty()),
        status,
        client = client.map(tracing::field::display),
        caller = caller.map(LoggedCaller::kind),
        world = world.as_ref().map(|world| &*world.0),
        team_id = team.map(|team| tracing::field::display(team.id)),
        team = team.map(|team| team.name.as_str()),
        key_id = caller.and_then(|caller| caller.key_id).map(tracing::field::display),
        milliseconds = milliseconds(duration),
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

/// Middleware that assigns an ID to responses that have none, such as those of health checks. They have no log line.
pub async fn complete<E: Endpoint<Output = Response>>(
    inner: Arc<E>,
    request: Request,
) -> poem::Result<Response> {
    let sent = request.headers().get(HEADER).cloned();
    let mut response = inner.call(request).await?;
    let assign = || RequestId::accept_or_generate(sent.as_ref(), &Clock::System).0;
    response.headers_mut().entry(HEADER).or_insert_with(assign);
    Ok(response)
}

/// Responds with an error to a request that no server handles, with a request ID and a log line as for all others.
pub async fn refuse(request: Request, error: Error) -> Response {
    let refusal = make_sync(move |request: Request| {
        problem::error_response(&error, RequestId::from_request(&request).as_str())
    });
    let response =
        layer(Arc::new(Clock::System), TrustedProxies::default(), None, Arc::new(refusal), request).await;
    response.unwrap_or_else(poem::Error::into_response)
}

fn is_standard(method: &Method) -> bool {
    [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS]
        .contains(method)
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, test::TestClient};

    use super::*;

    #[test]
    fn only_ids_of_the_path_are_logged() {
        const ID: &str = "6f1f2f9e-0c5b-4a55-8f43-6f2d1f0e9a11";
        for (route, path, expected) in [
            ("/v2/wallet", "/v2/wallet".to_owned(), String::new()),
            ("/v2/assets/{asset_id}", format!("/v2/assets/{ID}"), format!("asset_id={ID}")),
            (
                "/v2/a/{a_id}/b/{b_id}/c",
                format!("/v2/a/{ID}/b/{}/c", ID.to_uppercase()),
                format!("a_id={ID} b_id={}", ID.to_uppercase()),
            ),
            ("/v2/blobs/uploads/:upload/:part", format!("/v2/blobs/uploads/{ID}/7"), format!("upload={ID}")),
            ("/operator/v1/jobs/{job_id}", "/operator/v1/jobs/17".to_owned(), "job_id=17".to_owned()),
            ("/v2/assets/{asset_id}", "/v2/assets/mkt_secret".to_owned(), String::new()),
            ("/v2/assets/{asset_id}", format!("/v2/assets/{ID}%0Aforged=1"), String::new()),
            ("/v2/grants/{token}", format!("/v2/grants/{ID}"), String::new()),
            ("/sandbox/v1/worlds/{world}", "/sandbox/v1/worlds/12".to_owned(), String::new()),
        ] {
            assert_eq!(ids_in_path(route, &path), expected, "{route} {path}");
        }
    }

    #[tokio::test]
    async fn response_without_an_id_gets_one() {
        let client = TestClient::new(make_sync(|_| Response::default()).around(complete));
        client.get("/").header(HEADER, "trace-1").send().await.assert_header(HEADER, "trace-1");
        let generated = client.get("/").header(HEADER, "a b").send().await;
        assert!(Uuid::try_parse(generated.0.headers()[HEADER].to_str().unwrap()).is_ok());
        let identified = make_sync(|_| Response::builder().header(HEADER, "first").finish());
        let client = TestClient::new(identified.around(complete));
        client.get("/").header(HEADER, "second").send().await.assert_header(HEADER, "first");
    }

    #[tokio::test]
    async fn safe_client_id_is_used_and_any_other_replaced() {
        let client = TestClient::new(
            make_sync(|request| RequestId::from_request(&request).as_str().to_owned()).around(
                |inner, request| {
                    layer(Arc::new(Clock::System), TrustedProxies::default(), None, inner, request)
                },
            ),
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
