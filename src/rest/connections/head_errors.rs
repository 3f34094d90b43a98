//! Responses to request heads that the HTTP library rejects. Its own have no body; these have the body and the
//! headers of all other errors.

use std::net::IpAddr;

use poem::http::{HeaderValue, StatusCode, header};

use crate::{
    clock::Clock,
    error::Error,
    rest::{
        problem,
        request_id::{self, RequestId},
    },
};

/// Tells browsers to take a response for what its `Content-Type` says.
pub const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");

/// Returns the response that replaces an error response of the library, whose head this is. Returns none for
/// anything else.
pub fn replacement(head: &[u8], client: IpAddr) -> Option<Vec<u8>> {
    let status = head.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let status = StatusCode::from_bytes(status).ok().filter(StatusCode::is_client_error)?;
    let message = match status {
        StatusCode::URI_TOO_LONG => "The request target is too long. Send a shorter path or query.",
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => {
            "The request head is too large. Send fewer or shorter headers."
        }
        _ => "The request is not valid HTTP/1.1. Check the request line, the headers, and their line ends.",
    };
    Some(error_response(status, &Error::Malformed(message.to_owned()), client))
}

/// Returns the response to a client that begins with HTTP/2.
pub fn version_response(client: IpAddr) -> Vec<u8> {
    let message = "This server does not support HTTP/2 without TLS. Use HTTP/1.1.";
    error_response(StatusCode::BAD_REQUEST, &Error::Malformed(message.to_owned()), client)
}

/// Returns the response to a head that was not complete in time.
pub fn timeout_response(client: IpAddr) -> Vec<u8> {
    let message = "The request head did not arrive in time. Send it again, and faster.";
    error_response(StatusCode::REQUEST_TIMEOUT, &Error::RequestTimeout(message.to_owned()), client)
}

/// Returns an error response as it is sent. The connection is closed after it.
fn error_response(status: StatusCode, error: &Error, client: IpAddr) -> Vec<u8> {
    let id = RequestId::generate(&Clock::System);
    tracing::info!(request_id = id.as_str(), status = status.as_u16(), %client, "request head rejected");
    let mut response = problem::error_response(error, id.as_str());
    let body = problem::error_body(error, id.as_str());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    headers.insert(request_id::HEADER, id.header_value());
    let mut bytes = format!("HTTP/1.1 {status}\r\n").into_bytes();
    for (name, value) in headers.iter() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}
