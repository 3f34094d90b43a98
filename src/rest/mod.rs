//! The REST API: routes, JSON shapes, authentication, and OpenAPI documents. Only this module depends on the
//! web framework.
//!
//! [`APIS`] is the table of APIs. Each has an OpenAPI document, which is generated from its routes. Routes of
//! several APIs are in all of their documents.

mod agent_api;
mod api;
mod api_documents;
mod app;
mod auth;
mod blobs;
mod bundle_urls;
mod bundles;
mod buyer_api;
mod capacity;
mod catalog;
mod compression;
mod cors;
mod declarations;
pub mod documented_operations;
pub mod enum_value;
mod error_layer;
mod etag;
pub mod event_stream;
mod fault_answers;
mod filter_entries;
mod first_page_cache;
mod guides;
mod header_argument;
mod held_requests;
mod idempotent;
mod if_match;
mod in_flight;
mod in_process;
mod journal_files;
mod json;
pub mod json_object;
mod key_headers;
mod landing_page;
mod limits;
mod link_base;
mod listening;
mod listing_filters;
mod openapi;
mod openapi_pages;
mod operator_api;
mod operator_routes;
mod page_or_file;
mod page_parts;
mod params;
mod path_params;
mod principal_shares;
mod problem;
mod replay;
mod request_body;
mod request_id;
mod required_access;
mod resolved_schemas;
pub mod route;
mod router;
mod sandbox_api;
mod sandbox_host;
mod schema_marks;
mod served_market;
mod server;
mod server_limits;
pub mod shapes;
mod share_holders;
mod spool;
mod stream_turns;
pub mod tags;
mod transfer_limits;
mod trusted_sources;
mod unknown_names;
mod vendor_api;
mod world_faults;
mod world_recorder;
mod world_transfers;

use crate::{config::Settings, search::Renderer};
use poem::{Response, endpoint::BoxEndpoint};
use tokio::sync::watch;

pub use api::{APIS, Api, BUYER, IN_PROCESS, OPERATOR, RouteGroup, SANDBOX, VENDOR, routes, spec};
pub use api_documents::openapi_json;
pub use app::App;
pub use cors::CorsPolicy;
pub use documented_operations::{DocumentedOperation, DocumentedOperations, Outcome};
pub use idempotent::Idempotent;
pub use in_process::{Caller, InProcessResponse, InProcessRoutes};
pub use json::{Json, JsonResult};
pub use limits::Budget;
pub use link_base::{base_url, local_url};
pub use openapi::examples::example_key;
pub use operator_routes::OperatorRoutes;
pub use page_parts::ICON_SVG;
pub use problem::ApiError;
pub use replay::{Difference, RecordedReplay, ReplayOutcome, Replayer};
pub use request_body::{Body, MaybeInvalid, read_json_bytes as body_bytes};
pub use sandbox_host::{SandboxHost, ServeMarket, WorldDispatcher};
pub use server::ServerBuilder;
pub use server_limits::ServerLimits;
pub use trusted_sources::{TrustedSources, Untrusted};

/// Renders a listing as the JSON that the catalog serves.
pub const RENDERER: Renderer = shapes::listings::render;

/// Serves requests until `stop` resolves, then lets running requests finish for up to `server.drain_seconds`.
/// `connected` is set to the number of connections; its receivers are notified when the first one is opened,
/// and when the last one has ended.
pub async fn run(
    app: BoxEndpoint<'static, Response>,
    listener: std::net::TcpListener,
    settings: &Settings,
    connected: watch::Sender<usize>,
    stop: impl Future<Output = ()>,
) -> std::io::Result<()> {
    listening::serve(app, listener, &settings.server, connected, stop).await
}
