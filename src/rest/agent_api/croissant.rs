//! The description of a listing in Croissant, for agents. Over HTTP it has a route of its own (`rest/files/croissant.rs`).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    operations::{access::ListingViewer, croissant},
    rest::{prelude::*, shapes::json_object::ObjectWriter},
    web::{bundle_urls, served_market::LinkBaseUrl},
};

/// The description of a listing.
#[derive(Debug, Object, Serialize)]
pub struct CroissantOut {
    /// The document: JSON-LD of the format Croissant 1.0.
    pub croissant: BTreeMap<String, Value>,
}

#[routes(prefix = "/agents/v1", tag = Catalog)]
impl CroissantApi {
    /// Describe a listing in Croissant
    ///
    /// Returns the description of a listing in Croissant 1.0: its files, and the columns of the tables that were read in them.
    /// Digests of files are there once the listing is bought.
    #[get(
        "/listings/{listing_id}/croissant",
        RouteAttributes::read(
            Tool::record(
                ToolText::new(
                    Toolset::Catalog,
                    "get_listing_croissant",
                    "Listing in Croissant",
                    "A listing as JSON-LD in Croissant 1.0: files, and tables with the names and types of their columns.",
                )
                .unlisted()
                .with_ids("browse_listings"),
            ),
            Contract::new(Target::CatalogListing),
        )
        .with_budget(Budget::Catalog),
    )]
    async fn get_listing_croissant(
        call: Call<ListingViewer>,
        listing_id: Path<Uuid>,
        link_base: LinkBaseUrl,
    ) -> JsonResult<CroissantOut> {
        let addresses = bundle_urls::addresses(&link_base.0, listing_id.0);
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let document = croissant::describe(reader, &call.access, listing_id.0, addresses)?;
            let mut json = ObjectWriter::with_capacity(document.len() + 16);
            json.raw_field("croissant", &document);
            Ok(json.finish())
        })
        .await
    }
}
