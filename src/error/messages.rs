//! The message and the details of an error for the client.

use serde_json::{Value, json};

use super::{Error, NameList, excerpt, sentences::is_sentence};
use crate::domain::written::counted;

/// Message of [`Error::InvalidCursor`].
const INVALID_CURSOR: &str = "The cursor is not valid for this request, or has expired. Start again without `cursor`, and \
     send each `next_cursor` with the same query, filters, and sort order.";

/// Message of [`Error::InvalidLastEventId`].
const INVALID_LAST_EVENT_ID: &str = "`Last-Event-ID` is not the ID of an event of this market. Connect again with the `id` of the \
     last event that you have received, or without this header.";

/// Message of [`Error::TeamKeyRequired`].
const TEAM_KEY_REQUIRED: &str = "This operation is for teams, and the API key is that of an operator, which has no marketplace \
     role. Use an API key of a team.";

/// Message of [`Error::OperatorRequired`].
const OPERATOR_REQUIRED: &str = "This operation is for operators of the marketplace, and the API key is that of a team. Use an \
     operator key.";

/// Message of [`Error::ApiScopeRequired`].
const API_SCOPE_REQUIRED: &str = "This API key is only for signing in to the console. Use a key of your team with the scope `api`; \
     create one in the console, under Keys.";

/// Message of [`Error::ConsoleScopeRequired`].
const CONSOLE_SCOPE_REQUIRED: &str = "This API key is for programs: nobody can sign in with it. Sign in with a key of the scope \
     `console`. The operator of the marketplace issues the first one of a team; somebody who has signed in creates others.";

/// Message of [`Error::NdaRequired`].
const NDA_REQUIRED: &str = "Your team has not accepted the mutual NDA. Ask the operator of the marketplace to record that \
     it does, then try again.";

/// Message of [`Error::PreconditionFailed`].
const PRECONDITION_FAILED: &str = "The record has changed since the response whose entity tag `If-Match` states. Get it again, and send its new `ETag`.";

impl Error {
    /// Returns the message for the client: what was wrong and what to do next. It never contains internal
    /// causes, server paths, or secrets.
    pub fn message(&self) -> String {
        match self {
            Error::Malformed(what)
            | Error::Misdirected(what)
            | Error::Unauthorized(what)
            | Error::Forbidden(what)
            | Error::RequestTimeout(what)
            | Error::Conflict(what)
            | Error::InvalidState(_, what)
            | Error::Gone(_, what)
            | Error::Maintenance { text: what, .. } => what.clone(),
            Error::PartsMissing(missing) => missing_parts_message(missing),
            Error::InvalidCursor => INVALID_CURSOR.to_owned(),
            Error::InvalidLastEventId => INVALID_LAST_EVENT_ID.to_owned(),
            Error::RoleRequired(roles) => format!(
                "This operation requires the marketplace role {roles}. Ask the platform to grant it to your \
                 team, or use an API key of a team that has it."
            ),
            Error::TeamKeyRequired => TEAM_KEY_REQUIRED.to_owned(),
            Error::OperatorRequired => OPERATOR_REQUIRED.to_owned(),
            Error::ApiScopeRequired => API_SCOPE_REQUIRED.to_owned(),
            Error::ConsoleScopeRequired => CONSOLE_SCOPE_REQUIRED.to_owned(),
            Error::NdaRequired => NDA_REQUIRED.to_owned(),
            Error::BrowseLocked { published, required } => format!(
                "Your team has {} and needs {required} to browse the whole catalog. Until then, only the first page \
                 without filters is available.",
                counted(*published, "published listing", "published listings")
            ),
            Error::NotFound(sentences) if is_sentence(sentences) => sentences.clone(),
            Error::NotFound(what) => {
                format!("No {what} was found. Check the ID, and that your key has access to it.")
            }
            Error::WorldNotFound(name) => {
                format!("There is no world `{}`, or it has ended. Create another one with `POST /sandbox/v1/worlds`.", excerpt(name))
            }
            Error::UnknownPath(docs) if docs.is_empty() => "No route matches this path.".to_owned(),
            Error::UnknownPath(docs) => {
                format!("No route matches this path. See {docs} for the available routes.")
            }
            Error::MethodNotAllowed(allowed) => {
                format!("This path does not support the request method. Use {}.", allowed.join(" or "))
            }
            Error::InvalidTransition { from, allowed } => invalid_transition_message(from, allowed),
            Error::Invalid(problems) => {
                let all: Vec<&str> = problems.iter().map(|problem| problem.msg.as_str()).collect();
                all.join(" ")
            }
            Error::PreconditionFailed => PRECONDITION_FAILED.to_owned(),
            Error::PayloadTooLarge { max_bytes } => {
                format!("The request body is too large. Send at most {max_bytes} bytes.")
            }
            Error::UnsupportedCoding(codings) => unsupported_coding_message(codings),
            Error::RateLimited { budget, retry_seconds } => {
                format!(
                    "Rate limit exceeded: the {budget} is used up. Retry in {}, and send requests less often.",
                    format_seconds(*retry_seconds)
                )
            }
            Error::BeingPrepared { what, retry_seconds } => {
                format!("The {what} is being prepared. Retry in {}.", format_seconds(*retry_seconds))
            }
            Error::AtCapacity { retry_seconds } => {
                format!("The server is at capacity. Retry in {}.", format_seconds(*retry_seconds))
            }
            Error::ResponseTimeout { retry_seconds } => format!(
                "The response took too long. The operation may still complete: check its result in {}, and \
                 retry a POST only with the same `Idempotency-Key`.",
                format_seconds(*retry_seconds)
            ),
            Error::QuotaExceeded(excess) => excess.message(),
            Error::StorageFull { retry_seconds } => format!(
                "The disk of the server is full, so nothing was changed. Reading and deleting still work. \
                 Retry in {}; if the error persists, tell the operator of this server to free space.",
                format_seconds(*retry_seconds)
            ),
            Error::StorageUnavailable { retry_seconds } => format!(
                "The server cannot use its storage at the moment. Retry in {}; if the error persists, tell the operator \
                 of this server.",
                format_seconds(*retry_seconds)
            ),
            Error::DatabaseLocked { retry_seconds } => format!(
                "Another process is changing the market, for instance a command that loads data, so nothing was \
                 changed. Retry in {}.",
                format_seconds(*retry_seconds)
            ),
            Error::IndexUnavailable { is_rebuilding: true, retry_seconds } => format!(
                "The search index is being rebuilt, and what needs no search still works. Retry in {}.",
                format_seconds(*retry_seconds)
            ),
            Error::IndexUnavailable { is_rebuilding: false, .. } => {
                "The search index is damaged. The operator of this market can repair it with `marketplace reindex`."
                    .to_owned()
            }
            Error::Internal(_) => {
                "An internal error occurred. Try again; if the error persists, report the request ID to \
                 the operator of this server."
                    .to_owned()
            }
        }
    }

    /// Returns machine-readable details, for the errors that have them.
    pub fn details(&self) -> Option<Value> {
        match self {
            Error::BrowseLocked { published, required } => {
                Some(json!({"published_count": published, "required_count": required}))
            }
            Error::InvalidTransition { from, allowed } => Some(json!({"from": from, "allowed": allowed})),
            Error::MethodNotAllowed(allowed) => Some(json!({"allowed": allowed})),
            Error::PartsMissing(missing) => Some(json!({"missing": missing})),
            Error::QuotaExceeded(excess) => Some(excess.details()),
            // The code of all of them is that of a server with too much to do.
            Error::BeingPrepared { .. } => Some(json!({"reason": "being_prepared"})),
            Error::StorageUnavailable { .. } => Some(json!({"reason": "storage_unavailable"})),
            Error::DatabaseLocked { .. } => Some(json!({"reason": "database_locked"})),
            Error::IndexUnavailable { .. } => Some(json!({"reason": "index_unavailable"})),
            Error::Maintenance { .. } => Some(json!({"reason": "maintenance"})),
            // Warns programs that the operation has started, so that a plain retry may perform it twice.
            Error::ResponseTimeout { .. } => Some(json!({"begun": true})),
            _ => None,
        }
    }
}

fn unsupported_coding_message(codings: &str) -> String {
    format!(
        "The server does not decode the content coding of the body ({}). Send `Content-Encoding: gzip` with a body \
         compressed by gzip, or an uncompressed body without this header.",
        excerpt(codings)
    )
}

/// Formats a number of seconds as text.
fn format_seconds(count: u64) -> String {
    counted(count, "second", "seconds")
}

fn invalid_transition_message(from: &str, allowed: &[&str]) -> String {
    if allowed.is_empty() {
        return format!("Stage `{from}` allows no transition.");
    }
    let allowed = allowed.join(", ");
    format!("This transition is not allowed in stage `{from}`. Allowed transitions: {allowed}.")
}

/// Returns the message about parts that an upload lacks. The details list all of them.
fn missing_parts_message(missing: &[u32]) -> String {
    let missing: NameList = missing.iter().collect();
    format!(
        "These parts were not received, or `parts` does not list them with their ETags: {missing}. \
         `POST .../parts` returns the received parts and new URLs for others. Upload what is \
         missing, then complete the upload again with the numbers and ETags of all parts."
    )
}
