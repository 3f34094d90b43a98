//! Responses that are JSON, or a file of another format if the request asks for it.

use std::marker::PhantomData;

use bytes::Bytes;
use poem::{IntoResponse, Response, http::header};
use poem_openapi::{
    ApiResponse,
    registry::{MetaMediaType, MetaResponses, MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};

use crate::rest::json::Json;

/// The formats of a response besides JSON.
pub trait FileFormats: Send + 'static {
    /// The content type of each, with its description.
    const FORMATS: &'static [(&'static str, &'static str)];
}

/// A page as JSON, or a file.
pub enum PageOrFile<T, F> {
    /// The page.
    Page(Json<T>),
    /// A file with one of the formats of `F`.
    File(TypedFile<F>),
}

/// A file with its content type and further headers.
pub struct TypedFile<F> {
    content_type: &'static str,
    policy: Option<&'static str>,
    bytes: Bytes,
    formats: PhantomData<fn() -> F>,
}

impl<T, F> PageOrFile<T, F> {
    /// Creates a file with this content type, which is one of the formats.
    pub fn file(content_type: &'static str, bytes: impl Into<Bytes>) -> PageOrFile<T, F> {
        let file = TypedFile { content_type, policy: None, bytes: bytes.into(), formats: PhantomData };
        PageOrFile::File(file)
    }

    /// Like [`PageOrFile::file`], for a page for people with a content security policy.
    pub fn html(
        content_type: &'static str,
        policy: &'static str,
        bytes: impl Into<Bytes>,
    ) -> PageOrFile<T, F> {
        let file =
            TypedFile { content_type, policy: Some(policy), bytes: bytes.into(), formats: PhantomData };
        PageOrFile::File(file)
    }
}

impl<T: Send, F: FileFormats> IntoResponse for PageOrFile<T, F> {
    fn into_response(self) -> Response {
        match self {
            PageOrFile::Page(page) => page.into_response(),
            PageOrFile::File(file) => {
                let response = Response::builder().header(header::CONTENT_TYPE, file.content_type);
                match file.policy {
                    Some(policy) => response.header(header::CONTENT_SECURITY_POLICY, policy).body(file.bytes),
                    None => response.body(file.bytes),
                }
            }
        }
    }
}

impl<T: Type, F: FileFormats> ApiResponse for PageOrFile<T, F> {
    fn meta() -> MetaResponses {
        let mut meta = Json::<T>::meta();
        let files = F::FORMATS.iter().map(|(content_type, description)| {
            let schema = MetaSchema { description: Some(description), ..MetaSchema::new("string") };
            MetaMediaType { content_type, schema: MetaSchemaRef::Inline(Box::new(schema)) }
        });
        if let Some(response) = meta.responses.first_mut() {
            response.content.extend(files);
        }
        meta
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }
}
