//! The agent server over HTTP. The sources of requests (`web::trusted_sources::TrustedSources`) and API keys are checked before the MCP library
//! handles a request.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use poem::{
    Endpoint, Request, Response,
    http::{self, HeaderMap, HeaderValue, Method, StatusCode, header},
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
    error::{Error, excerpt},
    market::Market,
    rest::body_bytes,
    web::{
        in_process::Caller,
        problem::ApiError,
        trusted_sources::{TrustedSources, Untrusted},
    },
};

pub use crate::web::request_kinds::AGENT_PATHS as PATHS;

/// The `Accept` header that the protocol requires, which not all clients send.
const REQUIRED_ACCEPT: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

const JSON: &str = "application/json";

/// Maximum size of a request in bytes. Tool calls are small.
pub const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// Size in bytes of the responses to a batch from which its other requests are refused. One answer can have as many.
const MAX_BATCH_RESPONSES_BYTES: usize = 1 << 20;

/// Maximum size in bytes of an error of the MCP library, which can repeat parts of the request.
const MAX_ERROR_BYTES: usize = 60_000;

/// HTTP endpoint of the agent server.
pub struct AgentEndpoint {
    market: Market,
    sources: TrustedSources,
    service: StreamableHttpService<Arc<AgentServer>, NeverSessionManager>,
}

impl AgentEndpoint {
    /// Creates the endpoint, which answers requests from these sources.
    pub fn new(agents: AgentServer, sources: TrustedSources) -> AgentEndpoint {
        let market = agents.market.clone();
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(MAX_REQUEST_BYTES as usize)
            // The sources are checked before.
            .disable_allowed_hosts()
            .disable_allowed_origins();
        let agents = Arc::new(agents);
        let service = StreamableHttpService::new(move || Ok(Arc::clone(&agents)), Arc::default(), config);
        AgentEndpoint { market, sources, service }
    }

    async fn handle(&self, mut request: Request) -> crate::error::Result<Response> {
        if *request.method() != Method::POST {
            return Err(Error::MethodNotAllowed(vec![Method::POST.to_string()]));
        }
        if let Err(untrusted) = self.sources.check(&request) {
            return Ok(refusal(untrusted));
        }
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

/// Returns the response to a request for another host, or of a page of another origin.
fn refusal(untrusted: Untrusted) -> Response {
    let status = match untrusted {
        Untrusted::Host => StatusCode::MISDIRECTED_REQUEST,
        Untrusted::Origin => StatusCode::FORBIDDEN,
    };
    json_rpc_error(status, &[], &messages::invalid_request(&untrusted.into_error().message()))
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

/// Returns a JSON-RPC error response for errors outside of the MCP library, with the ID of the request if it is
/// known.
fn json_rpc_error(status: StatusCode, request: &[u8], error: &Value) -> Response {
    let body = messages::error_response(request, error);
    Response::builder().status(status).content_type(JSON).body(body.to_string())
}

/// Whether the revision of the protocol that a request names has batches.
fn has_batches(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_none_or(|revision| revision == REVISION_WITH_BATCHES)
}
