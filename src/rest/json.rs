//! JSON responses: bytes that are already serialized, and the schema that documents them.

use std::marker::PhantomData;

use poem::{
    IntoResponse, Response,
    http::{StatusCode, header},
};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, Registry},
    types::Type,
};
use serde::Serialize;

use super::problem::ApiError;

/// The result of a handler. The status is 200 unless given, as in `JsonResult<Codebase, 201>`.
pub type JsonResult<T, const STATUS: u16 = 200> = Result<Json<T, STATUS>, ApiError>;

/// Serialized JSON of a `T`.
///
/// Catalog pages are assembled from stored JSON fragments; a test validates them against the schema of `T`.
pub struct Json<T, const STATUS: u16 = 200> {
    bytes: bytes::Bytes,
    marker: PhantomData<fn() -> T>,
}

impl<T, const STATUS: u16> Json<T, STATUS> {
    /// Creates a response from bytes that must be the JSON of a `T`.
    pub fn from_bytes(bytes: impl Into<bytes::Bytes>) -> Self {
        Json { bytes: bytes.into(), marker: PhantomData }
    }
}

impl<T: Serialize, const STATUS: u16> Json<T, STATUS> {
    /// Serializes a value.
    pub fn from_value(value: &T) -> Self {
        Json::from_bytes(serde_json::to_vec(value).expect("a response serializes"))
    }
}

impl<T: Send, const STATUS: u16> IntoResponse for Json<T, STATUS> {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(STATUS).unwrap_or(StatusCode::OK);
        Response::builder().status(status).header(header::CONTENT_TYPE, "application/json").body(self.bytes)
    }
}

impl<T: Type, const STATUS: u16> ApiResponse for Json<T, STATUS> {
    fn meta() -> MetaResponses {
        let content = MetaMediaType { content_type: "application/json", schema: T::schema_ref() };
        let response = MetaResponse {
            description: match STATUS {
                201 => "Created.",
                202 => "Accepted. The work continues in the background; poll the resource for its result.",
                _ => "Success.",
            },
            status: Some(STATUS),
            status_range: None,
            content: vec![content],
            headers: Vec::new(),
        };
        MetaResponses { responses: vec![response] }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}

/// A response without a body (204).
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        Response::builder().status(StatusCode::NO_CONTENT).finish()
    }
}

impl ApiResponse for NoContent {
    fn meta() -> MetaResponses {
        let response = MetaResponse {
            description: "Success; the response has no body.",
            status: Some(204),
            status_range: None,
            content: Vec::new(),
            headers: Vec::new(),
        };
        MetaResponses { responses: vec![response] }
    }

    fn register(_: &mut Registry) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn json_is_sent_unchanged_with_documented_status() {
        let response = Json::<String, 201>::from_bytes("\"a\"").into_response();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(response.content_type(), Some("application/json"));
        assert_eq!(response.into_body().into_string().await.unwrap(), "\"a\"");
        assert_eq!(Json::<String, 201>::meta().responses[0].status, Some(201));
        let plain: Json<String> = Json::from_value(&"a".to_owned());
        assert_eq!(plain.into_response().status(), StatusCode::OK);
    }
}
