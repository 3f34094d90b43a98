//! Converts errors to HTTP responses. Only this module knows the status, body, and headers of an error.

use std::collections::BTreeMap;

use poem::{
    Response,
    error::{MethodNotAllowedError, NotFoundError, ReadBodyError, ResponseError},
    http::{HeaderName, HeaderValue, StatusCode, header},
};
use poem_openapi::{
    ApiResponse, Object,
    error::{ContentTypeError, ParseParamError, ParsePathError, ParseRequestPayloadError},
    registry::{MetaResponses, Registry},
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    error::{Code, Error, ErrorChain, Problem, excerpt},
    web::enum_value::EnumValue,
};

/// An error that a handler returns to the framework.
#[derive(Debug)]
pub struct ApiError(pub Error);

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        ApiError(error)
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for ApiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl ResponseError for ApiError {
    fn status(&self) -> StatusCode {
        error_status(&self.0)
    }
}

/// Documents no responses, since all operations share the same error responses; `openapi` adds those.
impl ApiResponse for ApiError {
    fn meta() -> MetaResponses {
        MetaResponses { responses: Vec::new() }
    }

    fn register(_: &mut Registry) {}
}

/// An error, for programs and for people.
#[derive(Debug, Object, Serialize)]
pub struct ErrorDetail {
    /// Stable, machine-readable error code.
    pub code: EnumValue<Code>,
    /// What was wrong and what to do next.
    pub message: String,
    /// ID of the request, as in the `X-Request-Id` header and in the server's log.
    pub request_id: String,
    /// Additional machine-readable facts; null for errors without any.
    pub details: Option<BTreeMap<String, Value>>,
}

/// The body of an error response.
#[derive(Debug, Object, Serialize)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// One invalid value in a request.
#[derive(Debug, Object, Serialize)]
pub struct ValidationProblem {
    /// Location of the value: `path`, `query`, `header`, or `body`, followed by names and zero-based indices.
    #[oai(validator(min_items = 1))]
    pub loc: Vec<Value>,
    /// What is wrong, and which values are valid.
    pub msg: String,
    /// Machine-readable type of the problem, such as `missing` or `less_than_equal`.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: String,
}

/// The body of the response to a request with invalid values.
#[derive(Debug, Object, Serialize)]
pub struct ValidationBody {
    /// All problems of the request, but at most 100. Those of a body are in the order of the body.
    #[oai(validator(min_items = 1))]
    pub detail: Vec<ValidationProblem>,
}

/// Returns the HTTP status of an error.
pub fn error_status(error: &Error) -> StatusCode {
    match error {
        Error::Malformed(_) | Error::InvalidCursor | Error::InvalidLastEventId => StatusCode::BAD_REQUEST,
        Error::Unauthorized(_) => StatusCode::UNAUTHORIZED,
        Error::RoleRequired(_)
        | Error::TeamKeyRequired
        | Error::OperatorRequired
        | Error::ApiScopeRequired
        | Error::ConsoleScopeRequired
        | Error::NdaRequired
        | Error::BrowseLocked { .. }
        | Error::Forbidden(_) => StatusCode::FORBIDDEN,
        Error::NotFound(_) | Error::UnknownPath(_) | Error::WorldNotFound(_) => StatusCode::NOT_FOUND,
        Error::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
        Error::Misdirected(_) => StatusCode::MISDIRECTED_REQUEST,
        Error::RequestTimeout(_) => StatusCode::REQUEST_TIMEOUT,
        Error::Conflict(_)
        | Error::InvalidState(..)
        | Error::InvalidTransition { .. }
        | Error::QuotaExceeded(_)
        | Error::PartsMissing(_) => StatusCode::CONFLICT,
        Error::Gone(..) => StatusCode::GONE,
        Error::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
        Error::PayloadTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Error::UnsupportedCoding(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Error::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Error::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        Error::AtCapacity { .. }
        | Error::ResponseTimeout { .. }
        | Error::StorageFull { .. }
        | Error::StorageUnavailable { .. }
        | Error::BeingPrepared { .. }
        | Error::DatabaseLocked { .. }
        | Error::IndexUnavailable { .. }
        | Error::Maintenance { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// Converts an error of the framework to ours. An error that is not expected here is internal, whatever
/// status the framework gives it.
pub fn from_framework_error(error: poem::Error) -> Error {
    let error = match error.downcast::<ApiError>() {
        Ok(ApiError(error)) => return error,
        Err(error) => error,
    };
    if error.is::<NotFoundError>() {
        return Error::UnknownPath(String::new());
    }
    if error.is::<MethodNotAllowedError>() {
        return Error::MethodNotAllowed(Vec::new());
    }
    if let Some(path) = error.downcast_ref::<ParsePathError>() {
        let msg = format!("`{}` in the path does not have the documented format.", path.name);
        return Error::invalid(Problem::path(path.name, "value_error", msg));
    }
    // `params` parses query parameters, so the framework validates only path parameters.
    if let Some(parameter) = error.downcast_ref::<ParseParamError>() {
        let reason = excerpt(&parameter.reason);
        let msg = format!("`{}` in the path is invalid: {reason}.", parameter.name);
        return Error::invalid(Problem::path(parameter.name, "value_error", msg));
    }
    if error.is::<ContentTypeError>() {
        return Error::Malformed("Send the body as JSON, with `Content-Type: application/json`.".to_owned());
    }
    if error.is::<ParseRequestPayloadError>() || error.is::<ReadBodyError>() {
        return Error::Malformed("The body cannot be read. Send it in the documented format.".to_owned());
    }
    Error::internal(error)
}

/// Returns the response for an error. The cause of an internal error goes only to the log, with the request
/// ID.
pub fn error_response(error: &Error, request_id: &str) -> Response {
    if let Error::Internal(source) = error {
        let cause = ErrorChain(source.as_ref());
        tracing::error!(request_id, %cause, "request failed with an internal error");
    }
    let mut response = Response::builder()
        .status(error_status(error))
        .header(header::CONTENT_TYPE, "application/json")
        .body(error_body(error, request_id));
    if let Some((name, value)) = error_header(error) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Returns the body of the response for an error.
pub fn error_body(error: &Error, request_id: &str) -> Vec<u8> {
    let body = match (error, error.code()) {
        (Error::Invalid(problems), _) => serde_json::to_vec(&ProblemList { detail: problems }),
        (_, code) => serde_json::to_vec(&ErrorBody {
            error: ErrorDetail {
                code: EnumValue(code.unwrap_or(Code::InternalError)),
                message: error.message(),
                request_id: request_id.to_owned(),
                details: error.details().and_then(|details| serde_json::from_value(details).ok()),
            },
        }),
    };
    body.expect("an error serializes")
}

/// Returns the body of an error whose code clients do not know.
pub fn error_body_with_code(code: &str, request_id: &str) -> Vec<u8> {
    let message = "The request failed. Try again later.";
    let error =
        serde_json::json!({"code": code, "message": message, "request_id": request_id, "details": null});
    serde_json::json!({"error": error}).to_string().into_bytes()
}

/// Serializes as [`ValidationBody`].
#[derive(Serialize)]
struct ProblemList<'a> {
    detail: &'a [Problem],
}

/// Returns the header that tells a client how to proceed after an error, if the error has one.
pub fn error_header(error: &Error) -> Option<(HeaderName, HeaderValue)> {
    match error {
        Error::Unauthorized(_) => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        Error::MethodNotAllowed(allowed) => {
            HeaderValue::from_str(&allowed.join(", ")).ok().map(|allowed| (header::ALLOW, allowed))
        }
        Error::UnsupportedCoding(_) => Some((header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"))),
        Error::RateLimited { retry_seconds, .. }
        | Error::AtCapacity { retry_seconds }
        | Error::StorageFull { retry_seconds }
        | Error::StorageUnavailable { retry_seconds }
        | Error::BeingPrepared { retry_seconds, .. }
        | Error::DatabaseLocked { retry_seconds }
        | Error::IndexUnavailable { retry_seconds, .. }
        | Error::Maintenance { retry_seconds, .. }
        | Error::ResponseTimeout { retry_seconds } => {
            Some((header::RETRY_AFTER, HeaderValue::from(*retry_seconds)))
        }
        _ => None,
    }
}
