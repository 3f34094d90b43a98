//! The OpenAPI document of each API, generated from the routes that the API has.

use serde_json::Value;

use super::{api::Api, buyer_api, catalog, openapi, vendor_api};

/// Returns the OpenAPI document of one API as pretty-printed JSON with a trailing newline.
pub fn openapi_json(api: Api, base_url: &str) -> String {
    let mut text =
        serde_json::to_string_pretty(&openapi_document(api, base_url)).expect("a document serializes");
    text.push('\n');
    text
}

/// Returns the OpenAPI document of one API.
pub fn openapi_document(api: Api, base_url: &str) -> Value {
    match api {
        Api::Vendor => openapi::generate_document((catalog::apis(), vendor_api::apis()), api, base_url),
        Api::Buyer => openapi::generate_document((catalog::apis(), buyer_api::apis()), api, base_url),
    }
}
