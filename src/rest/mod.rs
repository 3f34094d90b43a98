//! HTTP: routes, shapes, credentials and documents. Only this folder knows the framework.
//!
//! Two documents are made of the routes, one for each side; the shared routes stand in both.

mod auth;
mod blobs;
mod bodies;
mod body;
mod buyer;
mod capacity;
mod catalog;
mod compression;
mod connections;
mod cors;
mod declarations;
mod direct;
mod documents;
mod etag;
mod failures;
mod filter_entries;
mod head;
mod limits;
mod listing_filters;
mod names;
mod once;
mod pages;
mod params;
mod problem;
mod raw;
mod request_id;
mod router;
pub mod shapes;
mod site;
mod vendor;
pub mod vocabulary;

use std::net::SocketAddr;

use crate::{config::Settings, market::Market, search::Renderer};
use poem::{Response, endpoint::BoxEndpoint};

pub use bodies::bytes as body_bytes;
pub use direct::{Caller, Direct, DirectAnswer};
pub use problem::Failure;
pub use site::Site;

/// Parts of the interface, as the documents group operations.
#[derive(poem_openapi::Tags)]
#[oai(rename_all = "snake_case")]
enum Tag {
    /// The published listings: pages, filters, facets, details, quality evidence and previews.
    Catalog,
    /// The words of the catalog: domains, tags and asset kinds.
    Taxonomy,
    /// The team's wallet and messages.
    Account,
    /// What a buyer has bought and bid.
    Deals,
    /// What buyers ask for, and vendors' bids on it.
    Opportunities,
    /// Advisory quotes of a vendor's sources.
    Estimations,
    /// A vendor's own listings, whatever their stage.
    Listings,
    /// What a vendor has to offer: assets of all kinds, in groups.
    Inventory,
    /// Repositories with their history.
    Codebases,
    /// Zips of files.
    RawData,
    /// Zips that come under a grant, part by part.
    Uploads,
    /// Task versions, imported one by one from the team's tasksets.
    Tasks,
}

/// How listings are rendered for the catalog.
pub const RENDERER: Renderer = shapes::listings::render;

/// Who a document is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Side {
    /// Teams that offer data.
    Vendor,
    /// Teams that look for data.
    Buyer,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Side::Vendor => "vendor",
            Side::Buyer => "buyer",
        }
    }
}

/// What handlers share: the market, and where the server is reached.
pub struct App {
    market: Market,
    base_url: String,
    front_pages: catalog::FrontPages,
    in_flight: once::InFlight,
}

impl App {
    /// The market.
    pub const fn market(&self) -> &Market {
        &self.market
    }

    /// The base of every link that the server makes, without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }
}

/// The base of every link: the setting, or the address that the server listens on.
pub fn base_url(settings: &Settings, address: SocketAddr) -> String {
    match settings.server.public_url.as_str() {
        "" => format!("http://{address}"),
        url => url.to_owned(),
    }
}

/// The document of one side, as JSON.
pub fn document(side: Side, base_url: &str) -> String {
    let mut text = serde_json::to_string_pretty(&document_value(side, base_url)).expect("a document is JSON");
    text.push('\n');
    text
}

fn document_value(side: Side, base_url: &str) -> serde_json::Value {
    match side {
        Side::Vendor => documents::document((catalog::apis(), vendor::apis()), side, base_url),
        Side::Buyer => documents::document((catalog::apis(), buyer::apis()), side, base_url),
    }
}

/// Serves until `stop` resolves, then gives running requests time to finish, as the settings say.
pub async fn run(
    app: BoxEndpoint<'static, Response>,
    listener: std::net::TcpListener,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) -> std::io::Result<()> {
    connections::serve(app, listener, &settings.server, stop).await
}
