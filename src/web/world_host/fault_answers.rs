//! Answers to requests that worlds do not execute, on demand. An error has the body and the headers that the server gives
//! it, and success has the body of the example in the documents.

use poem::{
    IntoResponse, Request, Response,
    http::{HeaderValue, StatusCode, header},
};
use serde_json::Value;

use crate::{
    config::Settings,
    error::{Code, Error, GoneCode, Problem, QuotaExcess, StateCode},
    http_server::connections::Cut,
    string_enum::StringEnum,
    web::{
        limits::{self, Budget},
        problem,
        request_id::RequestId,
    },
};

/// Default seconds in the `Retry-After` of an error.
const RETRY_SECONDS: u64 = 1;

/// Status, in the log and in replay files, of a request whose connection is closed before an answer. It is never sent.
const NO_RESPONSE: u16 = 444;

/// An answer that is given instead of executing a request. It is part of the data of the request.
#[derive(Clone, Debug)]
pub enum PlannedAnswer {
    /// An error.
    Error {
        /// HTTP status.
        status: u16,
        /// Error code, which clients may not know; none for validation errors.
        code: Option<String>,
        /// The budget that the request is charged to.
        budget: Budget,
    },
    /// Success with this status, and the JSON of the body, if there is one.
    Success(u16, Option<Value>),
    /// The connection is closed.
    None,
}

/// Response data that marks a request as not executed. Such a request gets no answer.
#[derive(Clone, Copy, Debug)]
pub struct NotExecuted;

impl PlannedAnswer {
    /// Returns an error. Without a code, it has the usual one of its status, or none if that is 422. The budget is the one
    /// that the request is charged to.
    pub fn error(status: u16, code: Option<&str>, budget: Budget) -> PlannedAnswer {
        let usual = || (status != 422).then(|| usual_code(status).as_str());
        PlannedAnswer::Error { status, code: code.or_else(usual).map(str::to_owned), budget }
    }

    /// Returns the response to a request of a market with these settings.
    pub fn respond(&self, request: &Request, settings: &Settings) -> Response {
        match self {
            PlannedAnswer::Error { status, code, budget } => {
                error_response(request, settings, *status, code.as_deref(), *budget)
            }
            PlannedAnswer::Success(status, body) => {
                let mut response = status_code(*status).into_response();
                if let Some(body) = body {
                    let json = HeaderValue::from_static("application/json");
                    response.headers_mut().insert(header::CONTENT_TYPE, json);
                    response.set_body(body.to_string());
                }
                response
            }
            PlannedAnswer::None => {
                let mut response = status_code(NO_RESPONSE).into_response();
                response.set_data(Cut::BeforeHead);
                response.set_data(NotExecuted);
                response
            }
        }
    }
}

fn status_code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn error_response(
    request: &Request,
    settings: &Settings,
    status: u16,
    code: Option<&str>,
    budget: Budget,
) -> Response {
    let Some(code) = code else {
        let error = Error::invalid(Problem::body(&[], "value_error", "The request is not valid."));
        return problem::error_response(&error, RequestId::from_request(request).as_str());
    };
    let known = Code::parse(code);
    let mut response = match known.unwrap_or_else(|| usual_code(status)) {
        Code::RateLimited => limits::exhausted_response(request, budget, &settings.limits),
        usual => {
            let error = example_error(usual, settings);
            problem::error_response(&error, RequestId::from_request(request).as_str())
        }
    };
    if known.is_none() {
        let body = problem::error_body_with_code(code, RequestId::from_request(request).as_str());
        response.set_body(body);
    }
    response.set_status(status_code(status));
    response
}

/// Returns the code that errors with a status usually have, for the headers of errors with another code.
const fn usual_code(status: u16) -> Code {
    match status {
        401 => Code::Unauthorized,
        403 => Code::Forbidden,
        404 => Code::NotFound,
        405 => Code::MethodNotAllowed,
        408 => Code::RequestTimeout,
        412 => Code::PreconditionFailed,
        413 => Code::PayloadTooLarge,
        429 => Code::RateLimited,
        503 => Code::AtCapacity,
        500.. => Code::InternalError,
        _ => Code::BadRequest,
    }
}

/// Returns an error with a code, as the server could return it.
fn example_error(code: Code, settings: &Settings) -> Error {
    match code {
        Code::BadRequest => {
            Error::Malformed("The body cannot be read. Send it in the documented format.".to_owned())
        }
        Code::InvalidCursor => Error::InvalidCursor,
        Code::Unauthorized => {
            Error::Unauthorized("This API key was revoked or has expired. Use another one.".to_owned())
        }
        Code::MarketplaceRoleRequired => Error::RoleRequired("vendor or buyer"),
        Code::NdaRequired => Error::NdaRequired,
        Code::ListingBrowseLocked => Error::BrowseLocked { published: 1, required: 3 },
        Code::OperatorRequired => Error::OperatorRequired,
        Code::Forbidden => {
            Error::Forbidden("This operator key may only read. Use one whose scope is `all`.".to_owned())
        }
        Code::NotFound => Error::not_found("record"),
        Code::WorldNotFound => Error::WorldNotFound("checkout".to_owned()),
        Code::MethodNotAllowed => Error::MethodNotAllowed(vec!["GET".to_owned(), "HEAD".to_owned()]),
        Code::RequestTimeout => {
            Error::RequestTimeout("The body arrived too slowly. Send it again, and faster.".to_owned())
        }
        Code::Conflict => {
            Error::Conflict("The current state of the record does not allow this. Get it again.".to_owned())
        }
        Code::InvalidTransition => {
            Error::InvalidTransition { from: "draft", allowed: vec!["submit", "archive"] }
        }
        Code::QuotaExceeded => Error::QuotaExceeded(QuotaExcess {
            holder: "team",
            quota: "assets",
            limit: 10_000,
            used: 10_000,
            requested: 1,
        }),
        Code::PartsMissing => Error::PartsMissing(vec![1]),
        Code::PreconditionFailed => Error::PreconditionFailed,
        Code::PayloadTooLarge => Error::PayloadTooLarge { max_bytes: settings.server.max_body_bytes },
        Code::RateLimited => Error::RateLimited {
            budget: format!("`{}` budget", Budget::Other.as_str()),
            retry_seconds: RETRY_SECONDS,
        },
        Code::InternalError => Error::internal("a fault of the world asks for this"),
        Code::AtCapacity => Error::AtCapacity { retry_seconds: RETRY_SECONDS },
        Code::StorageFull => Error::storage_full(),
        Code::GrantExpired => gone(GoneCode::GrantExpired),
        Code::GrantConsumed => gone(GoneCode::GrantConsumed),
        Code::PurchaseRefunded => gone(GoneCode::PurchaseRefunded),
        Code::CursorExpired => gone(GoneCode::CursorExpired),
        Code::DataAttached => state(StateCode::DataAttached),
        Code::DataNotAttached => state(StateCode::DataNotAttached),
        Code::DataNotReadable => state(StateCode::DataNotReadable),
        Code::AssetInUse => state(StateCode::AssetInUse),
        Code::DefaultGroup => state(StateCode::DefaultGroup),
        Code::GroupNotEmpty => state(StateCode::GroupNotEmpty),
        Code::ListingNotEditable => state(StateCode::ListingNotEditable),
        Code::RunInProgress => state(StateCode::RunInProgress),
        Code::InsufficientCredits => state(StateCode::InsufficientCredits),
        Code::InsufficientEarnings => state(StateCode::InsufficientEarnings),
        Code::RefundWindowClosed => state(StateCode::RefundWindowClosed),
        Code::NoLongerAvailable => state(StateCode::NoLongerAvailable),
        Code::IdempotencyInFlight => state(StateCode::IdempotencyInFlight),
        Code::TooManyWorlds => state(StateCode::TooManyWorlds),
    }
}

fn gone(code: GoneCode) -> Error {
    let message = match code {
        GoneCode::GrantExpired => "The upload grant has expired or was revoked. Ask for another one.",
        GoneCode::GrantConsumed => "The upload grant was already used. Ask for another one.",
        GoneCode::PurchaseRefunded => "The purchase was refunded, so its data is no longer available.",
        GoneCode::CursorExpired => "Events after the cursor were removed. Begin without a cursor.",
    };
    Error::Gone(code, message.to_owned())
}

fn state(code: StateCode) -> Error {
    let message = match code {
        StateCode::DataAttached => "Data is attached to the asset. Detach it first.",
        StateCode::DataNotAttached => "No data is attached to the asset. Attach some first.",
        StateCode::DataNotReadable => "The server has no files of the attached data. Attach other data.",
        StateCode::AssetInUse => {
            "The asset is on a listing that is in review or published. Withdraw the listing first."
        }
        StateCode::DefaultGroup => "The default group cannot be changed or deleted.",
        StateCode::GroupNotEmpty => "The group still contains assets. Move them to another group first.",
        StateCode::ListingNotEditable => {
            "The listing is in review, published, or archived, and cannot be edited. Withdraw it first."
        }
        StateCode::RunInProgress => "A quality run has not finished. Wait for its result.",
        StateCode::InsufficientCredits => "The team does not have enough credits. Buy some first.",
        StateCode::InsufficientEarnings => "The team does not have enough available earnings.",
        StateCode::RefundWindowClosed => "The time in which the purchase can be refunded is over.",
        StateCode::NoLongerAvailable => "An asset was sold exclusively, so it is no longer available.",
        StateCode::IdempotencyInFlight => {
            "Another request with the same `Idempotency-Key` is still in progress. Retry when it has ended."
        }
        StateCode::TooManyWorlds => "The server has as many worlds as it may have. Delete one first.",
    };
    Error::InvalidState(code, message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_an_error_with_this_code() {
        let settings = Settings::default();
        for code in Code::ALL {
            assert_eq!(example_error(*code, &settings).code(), Some(*code));
        }
    }
}
