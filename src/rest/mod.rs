//! The HTTP APIs: routes, JSON shapes, and OpenAPI documents.
//!
//! [`APIS`] is the table of APIs. Each has an OpenAPI document, which is generated from its routes. Routes of
//! several APIs are in all of their documents.

mod agent_api;
mod api;
mod app;
mod arguments;
mod buyer_api;
mod catalog;
mod declarations;
mod documents;
pub mod event_stream;
mod files;
mod idempotent;
mod json;
mod operator_api;
mod operator_routes;
mod page_parts;
mod pages;
mod prelude;
pub mod route;
mod router;
mod sandbox_api;
mod server;
pub mod shapes;
pub mod tags;
mod vendor_api;

use crate::search::Renderer;

pub use api::{APIS, Api, BUYER, IN_PROCESS, OPERATOR, RouteGroup, SANDBOX, VENDOR, routes, spec};
pub use app::App;
pub use arguments::request_body::{Body, MaybeInvalid, read_json_bytes as body_bytes};
pub use documents::{openapi::examples::example_key, openapi_json};
pub use idempotent::Idempotent;
pub use json::{Json, JsonResult};
pub use operator_routes::OperatorRoutes;
pub use pages::is_page;
pub use server::ServerBuilder;

/// Renders a listing as the JSON that the catalog serves.
pub const RENDERER: Renderer = shapes::listings::render;
