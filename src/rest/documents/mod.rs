//! The OpenAPI document of each API, generated from the routes that the API has.

pub mod openapi;

use serde_json::Value;

use crate::{config::ContactSettings, rest::api::Api};

/// Returns the OpenAPI document of one API as pretty-printed JSON with a trailing newline.
pub fn openapi_json(api: &Api, base_url: &str, contact: &ContactSettings) -> String {
    let mut text = serde_json::to_string_pretty(&openapi_document(api, base_url, contact))
        .expect("a document serializes");
    text.push('\n');
    text
}

/// Returns the OpenAPI document of one API. `base_url` is the address of the server, which may be relative to
/// that of the document.
pub fn openapi_document(api: &Api, base_url: &str, contact: &ContactSettings) -> Value {
    let mut document = openapi::generate_document(api, base_url);
    openapi::set_contact(&mut document, contact);
    document
}

#[cfg(test)]
mod tests;
