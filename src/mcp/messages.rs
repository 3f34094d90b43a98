//! JSON-RPC messages of clients: errors for invalid messages, and batches.

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestMetaObject,
};
use serde::de::IgnoredAny;
use serde_json::{Value, json, value::RawValue};

use super::request_scan;
use crate::error::excerpt;

/// The only revision of the protocol with batches. It is also the revision of requests over HTTP that do not name one.
pub const REVISION_WITH_BATCHES: &str = "2025-03-26";

/// The method of the first request of a connection.
const INITIALIZE: &str = "initialize";

/// Maximum number of messages of a batch. Each is answered in its turn, and the answers are returned together.
const MAX_BATCH_MESSAGES: usize = 20;

/// Splits a batch into its messages. Returns `None` if the bytes are no JSON array.
pub fn split_batch(bytes: &[u8]) -> Option<Result<Vec<&RawValue>, Value>> {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return None;
    }
    let messages: Vec<&RawValue> = serde_json::from_slice(bytes).ok()?;
    Some(match messages.len() {
        0 => Err(invalid_request("A batch has at least one message.")),
        1..=MAX_BATCH_MESSAGES => Ok(messages),
        _ => Err(invalid_request(&format!("A batch has at most {MAX_BATCH_MESSAGES} messages."))),
    })
}

/// Fails with the error of bytes that are no JSON in UTF-8.
pub fn check_syntax(bytes: &[u8]) -> Result<(), Value> {
    let syntax = str::from_utf8(bytes).map_err(|cause| cause.to_string());
    let syntax =
        syntax.and_then(|text| serde_json::from_str::<IgnoredAny>(text).map_err(|cause| cause.to_string()));
    syntax.map(drop).map_err(|cause| {
        let message = format!("The message is not valid JSON in UTF-8: {}", excerpt(&cause));
        json!({"code": ErrorCode::PARSE_ERROR.0, "message": message})
    })
}

/// Returns the error of a line that the end of its stream cut off.
pub fn unfinished_line() -> Value {
    let message = "The last line has no line break, so the message may be incomplete.";
    json!({"code": ErrorCode::PARSE_ERROR.0, "message": message})
}

/// Fails with the error of JSON whose shape no message has.
pub fn check_shape(bytes: &[u8]) -> Result<(), Value> {
    request_scan::check_shape(bytes).map_err(|fault| invalid_request(&fault.message()))
}

/// The responses that a message of a client expects. IDs are in the form that responses repeat: `1.0` is 1.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// The request with this ID, which has a response.
    Request(Value),
    /// Cancels the request with this ID, which then needs no response.
    Cancellation(Value),
    /// Another notification, or a response.
    Other,
}

/// Parses a message. Fails with an error response if the JSON is not a message.
pub fn parse_message(bytes: &[u8]) -> Result<ClientMessage, Value> {
    let message = serde_json::from_slice::<ClientJsonRpcMessage>(bytes);
    let message = message.map_err(|cause| invalid_request(&excerpt(&cause.to_string())))?;
    Ok(match message {
        JsonRpcMessage::Request(request) => {
            if let ClientRequest::CustomRequest(unparsed) = &request.request
                && unparsed.method == INITIALIZE
                && let Some(message) = invalid_params(INITIALIZE, unparsed.extensions.get())
            {
                // The library would take it for a request of a revision that has no such method.
                return Err(json!({"code": ErrorCode::INVALID_PARAMS.0, "message": message}));
            }
            ClientMessage::Request(request.id.into_json_value())
        }
        JsonRpcMessage::Notification(notification) => match notification.notification {
            ClientNotification::CancelledNotification(canceled) => canceled
                .params
                .request_id
                .map_or(ClientMessage::Other, |id| ClientMessage::Cancellation(id.into_json_value())),
            _ => ClientMessage::Other,
        },
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => ClientMessage::Other,
    })
}

/// Whether a message is the first request of a connection over streams. Before it, the library answers some requests, but ends
/// the connection at a notification or a response.
pub fn begins_connection(message: &[u8]) -> bool {
    let Ok(JsonRpcMessage::Request(request)) = serde_json::from_slice::<ClientJsonRpcMessage>(message) else {
        return false;
    };
    match request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let is_known = |revision| ProtocolVersion::KNOWN_VERSIONS.contains(&revision);
            meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
                && meta.protocol_version().is_some_and(is_known)
        }
    }
}

/// Returns the message about a method whose parameters cannot be parsed; `None` if there is no such method. Requests that name
/// their revision in their metadata are those of a revision without the first request.
pub fn invalid_params(method: &str, meta: Option<&RequestMetaObject>) -> Option<String> {
    let names_revision = meta.is_some_and(|meta| meta.protocol_version().is_some());
    let expected = match method {
        INITIALIZE if !names_revision => {
            "`protocolVersion`, `capabilities`, and `clientInfo` with `name` and `version`"
        }
        "tools/call" | "prompts/get" => "`name`, and `arguments` as an object",
        "resources/read" => "`uri`",
        "completion/complete" => "`ref` and `argument`",
        _ => return None,
    };
    Some(format!("The `params` of {method} are invalid. Expected {expected}."))
}

/// Returns the error for a request whose ID is used by another request that waits for its response.
pub fn repeated_id() -> Value {
    invalid_request(
        "Another request with this ID waits for its response. Give each request an ID of its own.",
    )
}

/// Returns the error of JSON that is no request of the protocol.
pub fn invalid_request(message: &str) -> Value {
    json!({"code": ErrorCode::INVALID_REQUEST.0, "message": message})
}

/// Returns the ID of a request; null if it is not known.
pub fn request_id(request: &[u8]) -> Value {
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    match &request["id"] {
        id @ (Value::String(_) | Value::Number(_)) => id.clone(),
        _ => Value::Null,
    }
}

/// Returns the response to a request that is answered with an error outside of the MCP library.
pub fn error_response(request: &[u8], error: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request_id(request), "error": error})
}

/// Joins responses to the response to a batch.
pub fn join_batch<'r>(responses: impl Iterator<Item = &'r [u8]>) -> Vec<u8> {
    let mut joined = vec![b'['];
    for response in responses {
        if joined.len() > 1 {
            joined.push(b',');
        }
        joined.extend(response.trim_ascii());
    }
    joined.push(b']');
    joined
}
