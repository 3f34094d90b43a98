//! The agent server over HTTP. API keys are checked before the MCP library handles a request, and requests
//! with an untrusted host or origin are rejected.

use std::{net::IpAddr, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use poem::{
    Endpoint, Request, Response,
    http::{self, HeaderMap, HeaderValue, Method, StatusCode, Uri, header, uri::Authority},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json, value::RawValue};

use super::{
    agent_server::{AgentServer, UNAUTHORIZED, UNAUTHORIZED_CODE},
    messages::{self, REVISION_WITH_BATCHES},
    notice_first,
};
use crate::{
    config::ServerSettings,
    error::{Error, excerpt},
    market::Market,
    rest::{ApiError, Caller, body_bytes, check_host},
};

/// Paths of the agent server.
pub const PATHS: [&str; 2] = ["/v2/mcp/", "/v2/mcp"];

/// The `Accept` header that the protocol requires, which not all clients send.
const REQUIRED_ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

const JSON: &str = "application/json";

/// Maximum size of a request in bytes. Tool calls are small.
pub const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// Size in bytes of the responses to a batch from which its other requests are refused. One answer can have as many.
const MAX_BATCH_RESPONSES_BYTES: usize = 1 << 20;

/// Maximum size in bytes of an error of the MCP library, which can repeat parts of the request.
const MAX_ERROR_BYTES: usize = 60_000;

/// Host names of the local machine.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// HTTP endpoint of the agent server.
pub struct AgentEndpoint {
    market: Market,
    service: StreamableHttpService<Arc<AgentServer>, NeverSessionManager>,
}

impl AgentEndpoint {
    /// Creates the endpoint. `base_url` is the public address of the server.
    pub fn new(agents: AgentServer, base_url: &str) -> AgentEndpoint {
        let market = agents.market.clone();
        let settings = &market.settings().server;
        if settings.listen.ip().is_unspecified() && settings.public_url.is_empty() {
            tracing::warn!(
                "agents can reach this server by local host names only; set server.public_url to allow others"
            );
        }
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_REQUEST_BYTES as usize)
            .with_allowed_hosts(allowed_hosts(base_url, settings));
        let config = if settings.cors_origins.iter().any(|origin| origin == "*") {
            config.disable_allowed_origins()
        } else {
            config.with_allowed_origins(allowed_origins(base_url, settings)).enforce_origin_validation()
        };
        let agents = Arc::new(agents);
        let service = StreamableHttpService::new(move || Ok(Arc::clone(&agents)), Arc::default(), config);
        AgentEndpoint { market, service }
    }

    async fn handle(&self, mut request: Request) -> crate::error::Result<Response> {
        if *request.method() != Method::POST {
            return Err(Error::MethodNotAllowed(vec![Method::POST.to_string()]));
        }
        // The MCP library compares only the part of the header that it takes for the host. `rest::serve` has made
        // this check for its connections; other servers and requests in process have not.
        check_host(request.version(), request.uri(), request.headers())?;
        let body = request.take_body();
        self.market.refresh()?;
        let caller = match Caller::from_request(&self.market, &request).await {
            Ok(caller) => caller,
            // The body is not read, so the ID of the request is not known.
            Err(Error::Unauthorized(reason)) => return Ok(unauthorized(&reason)),
            Err(error) => return Err(error),
        };
        let settings = &self.market.settings().server;
        let max_bytes = settings.max_body_bytes.min(MAX_REQUEST_BYTES);
        let bytes = body_bytes(&request, body, settings, max_bytes).await?;
        if let Err(error) = messages::check_shape(&bytes) {
            return Ok(json_rpc_error(StatusCode::BAD_REQUEST, &[], &error));
        }
        match messages::split_batch(&bytes).filter(|_| has_batches(request.headers())) {
            Some(Ok(batch)) => self.answer_batch(&request, &caller, batch).await,
            Some(Err(error)) => Ok(json_rpc_error(StatusCode::BAD_REQUEST, &[], &error)),
            None => self.answer(&request, caller, bytes).await,
        }
    }

    /// Answers each message of a batch, in their order.
    async fn answer_batch(
        &self,
        request: &Request,
        caller: &Caller,
        batch: Vec<&RawValue>,
    ) -> crate::error::Result<Response> {
        let (mut responses, mut responses_bytes) = (Vec::new(), 0);
        for message in batch {
            let message = Bytes::copy_from_slice(message.get().as_bytes());
            let response = if responses_bytes < MAX_BATCH_RESPONSES_BYTES {
                self.answer(request, caller.clone(), message).await?
            } else if messages::request_id(&message).is_null() {
                // A notification has no response.
                continue;
            } else {
                let text = "The answers to the batch are too large. Send this request again, alone.";
                json_rpc_error(StatusCode::OK, &message, &messages::invalid_request(text))
            };
            let body = response.into_body().into_bytes().await.map_err(Error::internal)?;
            if !body.is_empty() {
                responses_bytes += body.len();
                responses.push(body);
            }
        }
        if responses.is_empty() {
            return Ok(StatusCode::ACCEPTED.into());
        }
        let body = messages::join_batch(responses.iter().map(AsRef::as_ref));
        Ok(Response::builder().content_type(JSON).body(body))
    }

    /// Answers the message in the body of a request.
    async fn answer(
        &self,
        request: &Request,
        caller: Caller,
        bytes: Bytes,
    ) -> crate::error::Result<Response> {
        let mut forwarded = http::Request::builder().method(Method::POST).uri(request.uri());
        if let Some(headers) = forwarded.headers_mut() {
            headers.clone_from(request.headers());
            headers.insert(header::ACCEPT, REQUIRED_ACCEPT);
        }
        let forwarded =
            forwarded.extension(caller).body(Full::new(bytes.clone())).map_err(Error::internal)?;
        let (parts, response_body) = self.service.handle(forwarded).await.into_parts();
        let response_body = response_body.collect().await.map_err(Error::internal)?.to_bytes();
        let is_json = parts.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == JSON);
        if !parts.status.is_success() && !is_json {
            return Ok(protocol_error(parts.status, &bytes, &String::from_utf8_lossy(&response_body)));
        }
        if response_body.len() > MAX_ERROR_BYTES && is_error(&response_body) {
            let message = "The request is invalid, and the error would repeat too much of it. Send what the tool's \
                           schema and the protocol describe.";
            let error = messages::invalid_request(message);
            return Ok(json_rpc_error(StatusCode::BAD_REQUEST, &bytes, &error));
        }
        let ordered = notice_first::with_notice_first(&response_body).map(Bytes::from);
        let mut response = Response::from(ordered.unwrap_or(response_body));
        response.set_status(parts.status);
        *response.headers_mut() = parts.headers;
        Ok(response)
    }
}

impl Endpoint for AgentEndpoint {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        Ok(self.handle(request).await.map_err(ApiError)?)
    }
}

/// Returns the response to a request whose API key is missing or invalid.
fn unauthorized(reason: &str) -> Response {
    let error = json!({"code": UNAUTHORIZED_CODE, "message": UNAUTHORIZED, "data": {"message": reason}});
    let mut response = json_rpc_error(StatusCode::UNAUTHORIZED, &[], &error);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Converts a plain-text error of the MCP library to JSON-RPC. The library reports a malformed body as an
/// unsupported media type.
fn protocol_error(status: StatusCode, request: &[u8], message: &str) -> Response {
    let is_unsupported_type = status == StatusCode::UNSUPPORTED_MEDIA_TYPE;
    let error = match messages::check_syntax(request) {
        Err(error) if is_unsupported_type => error,
        _ => messages::invalid_request(&excerpt(message)),
    };
    let status = if is_unsupported_type { StatusCode::BAD_REQUEST } else { status };
    json_rpc_error(status, request, &error)
}

/// Whether a JSON-RPC response is an error.
fn is_error(response: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Outcome {
        error: Option<IgnoredAny>,
    }
    serde_json::from_slice::<Outcome>(response).is_ok_and(|outcome| outcome.error.is_some())
}

/// Returns a JSON-RPC error response with the ID of the request, if it is known, for errors outside of the
/// MCP library.
fn json_rpc_error(status: StatusCode, request: &[u8], error: &Value) -> Response {
    let body = messages::error_response(request, error);
    Response::builder().status(status).content_type(JSON).body(body.to_string())
}

/// Whether the revision of the protocol that a request names has batches.
fn has_batches(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_none_or(|revision| revision == REVISION_WITH_BATCHES)
}

/// Accepts requests for the hosts of the agent server.
#[derive(Clone)]
pub struct HostCheck(Arc<[String]>);

impl HostCheck {
    /// Creates the check of a server. `base_url` is its public address.
    pub fn new(base_url: &str, settings: &ServerSettings) -> HostCheck {
        HostCheck(allowed_hosts(base_url, settings).into())
    }

    /// Fails if a request is for another host.
    pub fn check(&self, request: &Request) -> crate::error::Result<()> {
        check_host(request.version(), request.uri(), request.headers())?;
        let header = request.header(header::HOST).and_then(|host| host.parse::<Authority>().ok());
        let host = header.as_ref().map(Authority::host).or_else(|| request.uri().host());
        let host = host.map(without_brackets).unwrap_or_default();
        if self.0.iter().any(|allowed| allowed.eq_ignore_ascii_case(&host)) {
            return Ok(());
        }
        Err(Error::Forbidden("The `Host` header does not name this server.".to_owned()))
    }
}

/// Returns the accepted host names: those of the local machine, the public one, and the listen address.
fn allowed_hosts(base_url: &str, settings: &ServerSettings) -> Vec<String> {
    let mut hosts: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
    let base: Option<Uri> = base_url.parse().ok();
    hosts.extend(base.as_ref().and_then(Uri::host).map(without_brackets));
    hosts.push(settings.listen.ip().to_string());
    // The unspecified address (0.0.0.0 or ::) is not a name of this server.
    hosts.retain(|host| !host.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified()));
    hosts
}

/// Returns the accepted origins: those in the settings, the server's own, and pages on the local machine.
fn allowed_origins(base_url: &str, settings: &ServerSettings) -> Vec<String> {
    let local = LOOPBACK.map(|host| match host.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => format!("http://[{address}]:*"),
        _ => format!("http://{host}:*"),
    });
    let configured = settings.cors_origins.iter().map(String::as_str).chain([base_url]);
    local.into_iter().chain(configured.filter_map(with_port)).collect()
}

/// Returns an origin with an explicit port. Without one, the library would accept any port.
fn with_port(origin: &str) -> Option<String> {
    let uri: Uri = origin.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let port = authority.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some(format!("{scheme}://{}:{port}", authority.host()))
}

/// Returns a host without the brackets around an IPv6 address.
fn without_brackets(host: &str) -> String {
    host.trim_matches(['[', ']']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[test]
    fn unspecified_address_is_not_an_allowed_host() {
        for (listen, base_url, allowed, rejected) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1", "0.0.0.0"),
            ("0.0.0.0:8080", "http://0.0.0.0:8080", "localhost", "0.0.0.0"),
            ("0.0.0.0:8080", "https://market.example", "market.example", "0.0.0.0"),
            ("[::]:8080", "http://[::]:8080", "::1", "::"),
            ("192.0.2.7:80", "http://192.0.2.7", "192.0.2.7", "market.example"),
        ] {
            let settings = ServerSettings { listen: listen.parse().unwrap(), ..Settings::default().server };
            let hosts = allowed_hosts(base_url, &settings);
            assert!(
                hosts.contains(&allowed.to_owned()) && !hosts.contains(&rejected.to_owned()),
                "{hosts:?}"
            );
        }
    }

    #[test]
    fn origins_get_an_explicit_port() {
        for (origin, expected) in [
            ("https://app.example", Some("https://app.example:443")),
            ("http://app.example/", Some("http://app.example:80")),
            ("http://app.example:8080", Some("http://app.example:8080")),
            ("app.example", None),
        ] {
            assert_eq!(with_port(origin).as_deref(), expected);
        }
    }
}
