//! Responses to request heads that the HTTP library rejects. Its own have no body; these have the body and the
//! headers of all other errors.

use poem::http::{HeaderValue, StatusCode, header};

use super::exchange::Exchange;
use crate::Refusal;

/// Tells browsers to trust the `Content-Type` of a response.
pub const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// Returns the response that replaces an error response of the library, whose head this is. Returns none for
/// anything else.
pub fn replacement(head: &[u8], exchange: &Exchange) -> Option<Vec<u8>> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok().filter(StatusCode::is_client_error)?;
    let message = match status {
        StatusCode::URI_TOO_LONG => "The request target is too long. Send a shorter path or query.",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            "The request head is too large. Send fewer or shorter headers."
        }
        _ => "The request is not valid HTTP/1.1. Check the request line, the headers, and their line ends.",
    };
    Some(error_response(status, Refusal::Malformed(message.to_owned()), exchange))
}

/// Returns the response to a client that begins with HTTP/2.
pub fn version_response(exchange: &Exchange) -> Vec<u8> {
    let message = "This server does not support HTTP/2 without TLS. Use HTTP/1.1.";
    error_response(StatusCode::BAD_REQUEST, Refusal::Malformed(message.to_owned()), exchange)
}

/// Returns the response to a client that sends HTTP without TLS to a server with TLS.
pub fn without_tls_response(exchange: &Exchange) -> Vec<u8> {
    let message = "This port is for HTTPS, but the request came without TLS. Use https:// in the address.";
    error_response(StatusCode::BAD_REQUEST, Refusal::Malformed(message.to_owned()), exchange)
}

/// Returns the response to a head that was not complete in time.
pub fn timeout_response(exchange: &Exchange) -> Vec<u8> {
    let message = "The request head did not arrive in time. Send it again, and faster.";
    error_response(StatusCode::REQUEST_TIMEOUT, Refusal::TooSlow(message.to_owned()), exchange)
}

/// Returns an error response as it is sent. The connection is closed after it.
fn error_response(status: StatusCode, refusal: Refusal, exchange: &Exchange) -> Vec<u8> {
    let (mut headers, body) = (exchange.refusals().to_head)(status, refusal, exchange.client());
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    let mut bytes = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for (name, value) in &headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}
