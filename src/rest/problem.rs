//! Failures as HTTP: the only place that knows which status, body and headers a failure has.

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

use super::vocabulary::Word;
use crate::error::{Code, Error, Problem};

/// A failure on its way to the caller.
#[derive(Debug)]
pub struct Failure(pub Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Failure {}

impl ResponseError for Failure {
    fn status(&self) -> StatusCode {
        status(&self.0)
    }
}

/// Which failures an operation can have is the same for all and stated in `documents`.
impl ApiResponse for Failure {
    fn meta() -> MetaResponses {
        MetaResponses { responses: Vec::new() }
    }

    fn register(_: &mut Registry) {}
}

/// What went wrong, for programs and for people.
#[derive(Debug, Object, Serialize)]
pub struct ErrorDetail {
    /// The failure's stable name.
    pub code: Word<Code>,
    /// What was wrong and what to do next.
    pub message: String,
    /// The id that this answer's `X-Request-Id` carries and the server logged.
    pub request_id: String,
    /// Further facts, where the failure has some.
    pub details: Option<BTreeMap<String, Value>>,
}

/// A failure.
#[derive(Debug, Object, Serialize)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// One value that breaks its rules.
#[derive(Debug, Object, Serialize)]
pub struct ValidationProblem {
    /// The way to the value: `path`, `query`, `header` or `body`, then names and indices.
    #[oai(validator(min_items = 1))]
    pub loc: Vec<Value>,
    /// What is wrong and what would be right.
    pub msg: String,
    /// The kind of fault.
    #[oai(rename = "type")]
    #[serde(rename = "type")]
    pub kind: String,
}

/// Values that break their rules, every one of them.
#[derive(Debug, Object, Serialize)]
pub struct ValidationBody {
    /// The problems, in the order in which they were met.
    #[oai(validator(min_items = 1))]
    pub detail: Vec<ValidationProblem>,
}

/// The status of a failure.
fn status(error: &Error) -> StatusCode {
    match error {
        Error::Malformed(_) | Error::InvalidCursor => StatusCode::BAD_REQUEST,
        Error::Unauthorized(_) => StatusCode::UNAUTHORIZED,
        Error::RoleRequired(_) | Error::NdaRequired | Error::BrowseLocked { .. } | Error::Forbidden(_) => {
            StatusCode::FORBIDDEN
        }
        Error::NotFound(_) | Error::UnknownPath => StatusCode::NOT_FOUND,
        Error::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
        Error::Conflict(_) | Error::State(..) | Error::InvalidTransition { .. } | Error::PartsMissing(_) => {
            StatusCode::CONFLICT
        }
        Error::Gone(..) => StatusCode::GONE,
        Error::PayloadTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Error::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
        Error::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Error::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        Error::AtCapacity { .. } | Error::TooSlow { .. } => StatusCode::SERVICE_UNAVAILABLE,
    }
}

/// A failure on its way up, in our words: one of ours, or what the framework refused. What is not foreseen here is our own
/// fault, whatever status it carries.
pub fn understand(error: poem::Error) -> Error {
    let error = match error.downcast::<Failure>() {
        Ok(Failure(error)) => return error,
        Err(error) => error,
    };
    if error.is::<NotFoundError>() {
        return Error::UnknownPath;
    }
    if error.is::<MethodNotAllowedError>() {
        return Error::MethodNotAllowed(Vec::new());
    }
    if let Some(path) = error.downcast_ref::<ParsePathError>() {
        let msg = format!("`{}` in the path does not have its form.", path.name);
        return Error::invalid(Problem::path(path.name, "value_error", msg));
    }
    // Parameters of queries are read by `params`, so what the framework checks of a parameter is in the path.
    if let Some(parameter) = error.downcast_ref::<ParseParamError>() {
        let msg = format!("`{}` in the path breaks its rules: {}.", parameter.name, parameter.reason);
        return Error::invalid(Problem::path(parameter.name, "value_error", msg));
    }
    if error.is::<ContentTypeError>() {
        return Error::Malformed("Send the body as JSON, with `Content-Type: application/json`.".to_owned());
    }
    if error.is::<ParseRequestPayloadError>() || error.is::<ReadBodyError>() {
        return Error::Malformed("The body cannot be read. Send it as the documents say.".to_owned());
    }
    Error::internal(error)
}

/// The answer to a failure. The cause of one that is ours goes to the log, under the request's id, and nowhere else.
pub fn respond(error: &Error, request_id: &str) -> Response {
    if let Error::Internal(cause) = error {
        tracing::error!(request_id, cause, "a request failed on our side");
    }
    let mut response = Response::builder()
        .status(status(error))
        .header(header::CONTENT_TYPE, "application/json")
        .body(body(error, request_id));
    if let Some((name, value)) = header_of(error) {
        response.headers_mut().insert(name, value);
    }
    response
}

/// The body of the answer to a failure.
pub fn body(error: &Error, request_id: &str) -> Vec<u8> {
    let body = match (error, error.code()) {
        (Error::Invalid(problems), _) => serde_json::to_vec(&Problems { detail: problems }),
        (_, code) => serde_json::to_vec(&ErrorBody {
            error: ErrorDetail {
                code: Word(code.unwrap_or(Code::InternalError)),
                message: error.message(),
                request_id: request_id.to_owned(),
                details: error.details().and_then(|details| serde_json::from_value(details).ok()),
            },
        }),
    };
    body.expect("a failure is JSON")
}

/// What [`ValidationBody`] documents.
#[derive(Serialize)]
struct Problems<'a> {
    detail: &'a [Problem],
}

/// The header that tells a program what to do about a failure.
fn header_of(error: &Error) -> Option<(HeaderName, HeaderValue)> {
    match error {
        Error::Unauthorized(_) => Some((header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
        Error::MethodNotAllowed(allowed) => {
            HeaderValue::from_str(&allowed.join(", ")).ok().map(|allowed| (header::ALLOW, allowed))
        }
        Error::RateLimited { retry_seconds, .. }
        | Error::AtCapacity { retry_seconds }
        | Error::TooSlow { retry_seconds } => Some((header::RETRY_AFTER, HeaderValue::from(*retry_seconds))),
        _ => None,
    }
}
