//! One of the team's own listings as buyers see it.

use crate::{
    console::{pages::listing, prelude::*},
    operations::{
        access::{CatalogViewer, ListingViewer},
        listings,
    },
};

/// The page.
pub struct Preview;

impl Page for Preview {
    const PATH: &'static str = "/selling/listings/{id}/preview";
    const TITLE: &'static str = "A listing as buyers see it";
    const BUDGET: Budget = Budget::Catalog;

    type Access = Vendor;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        visit.read(move |reader, vendor| listings::find_own(reader.rows, vendor, id)).await?;
        let authenticated =
            visit.access.authenticated().ok_or_else(|| Error::internal("a visit without a key"))?;
        let viewer = CatalogViewer::new(Member::authorize(authenticated.clone())?, visit.market())?;
        let viewer = ListingViewer::authorize(viewer, visit.market(), Some(id)).await?;
        let shown = visit.read(move |reader, _| listing::Shown::read(reader, &viewer, None, id)).await?;
        let title = shown.listing.summary.title.clone();
        let actions = html! { a.button href=(visit.links.to(&paths::edit_listing(id))) { "Edit" } };
        let content = Content::new(title.clone(), listing::body(&visit.context, &shown))
            .with_note(html! { "As buyers see it" })
            .with_actions(actions)
            .below("Listings", paths::OWN_LISTINGS)
            .below(title, paths::own_listing(id));
        Ok(content.narrow().with_request(format!("/v2/listings/browse/{id}")).into())
    }
}
