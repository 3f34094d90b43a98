//! Receives JSON bodies: only those that say that they are JSON.

use bytes::Bytes;
use poem::{Request, http::header};

use crate::{
    config::ServerSettings,
    error::{Error, Result},
    web::body,
};

/// Receives a JSON body of at most `max_bytes`.
///
/// Call this only after everything was checked that does not need the body.
pub async fn read_json_bytes(
    request: &Request,
    body: poem::Body,
    settings: &ServerSettings,
    max_bytes: u64,
) -> Result<Bytes> {
    let kind = request.header(header::CONTENT_TYPE).unwrap_or_default();
    if !is_json(kind) {
        return Err(no_json());
    }
    body::receive(request, body, settings, max_bytes).await
}

/// Returns the error for a body whose content type is not JSON.
pub fn no_json() -> Error {
    Error::Malformed("Send the body as JSON, with `Content-Type: application/json`.".to_owned())
}

/// Whether a content type is JSON.
pub fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
}
