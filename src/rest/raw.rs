//! Answers that are JSON bytes already, with the schema of what they hold.

use std::marker::PhantomData;

use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponse, MetaResponses, Registry},
    types::Type,
};
use serde::Serialize;

use super::problem::Failure;

/// What a handler answers.
pub type Answer<T> = Result<Raw<T>, Failure>;

/// JSON bytes of a `T`.
///
/// Pages of the catalog are put together from stored pieces; a test holds them against the schema.
pub struct Raw<T> {
    bytes: bytes::Bytes,
    shape: PhantomData<fn() -> T>,
}

impl<T> Raw<T> {
    /// Bytes that are the JSON of a `T`.
    pub fn new(bytes: impl Into<bytes::Bytes>) -> Raw<T> {
        Raw { bytes: bytes.into(), shape: PhantomData }
    }
}

impl<T: Serialize> Raw<T> {
    /// The JSON of a value.
    pub fn of(value: &T) -> Raw<T> {
        Raw::new(serde_json::to_vec(value).expect("an answer is JSON"))
    }
}

impl<T: Send> IntoResponse for Raw<T> {
    fn into_response(self) -> Response {
        Response::builder().header(header::CONTENT_TYPE, "application/json; charset=utf-8").body(self.bytes)
    }
}

impl<T: Type> ApiResponse for Raw<T> {
    fn meta() -> MetaResponses {
        let content =
            MetaMediaType { content_type: "application/json; charset=utf-8", schema: T::schema_ref() };
        let answer = MetaResponse {
            description: "The answer.",
            status: Some(200),
            status_range: None,
            content: vec![content],
            headers: Vec::new(),
        };
        MetaResponses { responses: vec![answer] }
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}
