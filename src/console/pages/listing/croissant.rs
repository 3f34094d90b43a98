//! The description of a listing in Croissant, as a file.

use crate::{
    console::{pages::receipt_files, prelude::*},
    operations::{access::ListingViewer, croissant},
    web::bundle_urls,
};

/// Returns the path of the description of a listing.
pub(super) fn path(listing: Uuid) -> String {
    format!("{}/croissant", paths::listing(listing))
}

/// The file.
pub struct Croissant;

impl Page<ListingViewer> for Croissant {
    const PATH: &'static str = "/listings/{listing_id}/croissant";
    const TITLE: &'static str = "Description for ML tools (Croissant, JSON)";
    const BUDGET: Budget = Budget::Catalog;

    async fn show(visit: &Visit<ListingViewer>) -> Result<Answer> {
        let id = visit.id(0)?;
        let addresses = bundle_urls::addresses(&visit.context.base_url, id);
        let describe =
            move |reader: &Reader, viewer: &ListingViewer| croissant::describe(reader, viewer, id, addresses);
        let document = visit.read(describe).await?;
        let name = format!("listing-{id}.croissant.json");
        Ok(Answer::File(receipt_files::file("application/ld+json", &name, document.into())))
    }
}
