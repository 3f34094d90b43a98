//! The REST API: routes, JSON shapes, authentication, and OpenAPI documents. Only this module depends on the
//! web framework.
//!
//! Two OpenAPI documents are generated from the routes, one for vendors and one for buyers. Routes that both
//! use are in both documents.

mod app_builder;
mod auth;
mod blobs;
mod buyer_api;
mod capacity;
mod catalog;
mod compression;
mod connections;
mod cors;
mod declarations;
pub mod enum_value;
mod error_layer;
mod etag;
mod filter_entries;
mod head;
mod idempotent;
mod in_process;
mod json;
pub mod json_object;
mod limits;
mod listing_filters;
mod openapi;
mod openapi_pages;
mod params;
mod problem;
mod request_body;
mod request_id;
mod response_body;
mod router;
pub mod shapes;
mod unknown_names;
mod vendor_api;

use std::net::SocketAddr;

use crate::{config::Settings, market::Market, search::Renderer};
use poem::{Response, endpoint::BoxEndpoint};

pub use app_builder::AppBuilder;
pub use in_process::{Caller, InProcessResponse, InProcessRoutes};
pub use problem::ApiError;
pub use request_body::read_json_bytes as body_bytes;

/// Tags that group the operations in the OpenAPI documents.
#[derive(poem_openapi::Tags)]
#[oai(rename_all = "snake_case")]
enum Tag {
    /// Published listings: browse pages, filters, facets, details, quality evidence, and previews.
    Catalog,
    /// The taxonomy of the catalog: domains, tags, and asset types.
    Taxonomy,
    /// The team's wallet and notifications.
    Account,
    /// The buyer's purchases and offers.
    Deals,
    /// Requests for data that buyers publish, and vendors' bids on them.
    Opportunities,
    /// Non-binding price estimations for a vendor's data sources.
    Estimations,
    /// The vendor's own listings in every lifecycle stage.
    Listings,
    /// The vendor's assets of all types and the groups that contain them.
    Inventory,
    /// Code repositories with their history.
    Codebases,
    /// Zip archives of data files.
    RawData,
    /// Zip archives that are uploaded in parts under an upload grant.
    Uploads,
    /// Task versions, each imported from one of the team's tasksets.
    Tasks,
}

/// Renders a listing as the JSON that the catalog serves.
pub const RENDERER: Renderer = shapes::listings::render;

/// One of the two APIs, each with its own OpenAPI document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Api {
    /// For teams that sell data.
    Vendor,
    /// For teams that buy data.
    Buyer,
}

impl Api {
    const fn name(self) -> &'static str {
        match self {
            Api::Vendor => "vendor",
            Api::Buyer => "buyer",
        }
    }
}

/// State that all handlers share.
pub struct App {
    market: Market,
    base_url: String,
    front_pages: catalog::FirstPageCache,
    in_flight: idempotent::InFlight,
}

impl App {
    /// Returns the market that the handlers operate on.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// Returns the base URL of all links that the server generates, without a trailing slash.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

/// Returns the base URL of all links: `server.public_url`, or the listen address if that setting is empty.
pub fn base_url(settings: &Settings, address: SocketAddr) -> String {
    match settings.server.public_url.as_str() {
        "" => format!("http://{address}"),
        url => url.to_owned(),
    }
}

/// Returns the OpenAPI document of one API as pretty-printed JSON with a trailing newline.
pub fn openapi_json(api: Api, base_url: &str) -> String {
    let mut text =
        serde_json::to_string_pretty(&openapi_document(api, base_url)).expect("a document serializes");
    text.push('\n');
    text
}

fn openapi_document(api: Api, base_url: &str) -> serde_json::Value {
    match api {
        Api::Vendor => openapi::generate_document((catalog::apis(), vendor_api::apis()), api, base_url),
        Api::Buyer => openapi::generate_document((catalog::apis(), buyer_api::apis()), api, base_url),
    }
}

/// Serves requests until `stop` resolves, then lets running requests finish for up to `server.drain_seconds`.
pub async fn run(
    app: BoxEndpoint<'static, Response>,
    listener: std::net::TcpListener,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> std::io::Result<()> {
    connections::serve(app, listener, &settings.server, stop).await
}
