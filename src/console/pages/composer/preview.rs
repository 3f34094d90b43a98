//! One of the team's own listings as buyers see it.

use crate::{
    console::{
        pages::listing,
        parts::{fees, samples as shown_samples},
        prelude::*,
    },
    operations::{
        access::{CatalogViewer, ListingViewer},
        listing_edits, listings,
        samples::{self, SampleContent},
    },
    store::listings::ListingFields,
};

/// The page.
pub struct Preview;

impl Page<Vendor> for Preview {
    const PATH: &'static str = "/selling/listings/{id}/preview";
    const TITLE: &'static str = "A listing as buyers see it";
    const BUDGET: Budget = Budget::Catalog;

    async fn show(visit: &Visit<Vendor>) -> Result<Answer> {
        let id = visit.id(0)?;
        visit.read(move |reader, vendor| listings::find_own(reader.rows, vendor, id)).await?;
        let authenticated =
            visit.access.authenticated().ok_or_else(|| Error::internal("a visit without a key"))?;
        let viewer = CatalogViewer::new(Member::authorize(authenticated.clone())?, visit.market())?;
        let viewer = ListingViewer::authorize(viewer, visit.market(), Some(id)).await?;
        let read = visit.read(move |reader, vendor| {
            let edited = listing_edits::find(reader, vendor, id)?;
            let sample = samples::contents(reader, vendor, &edited.fields.sample)?;
            Ok((listing::ListingPageData::read(reader, &viewer, None, id)?, edited, sample))
        });
        let (shown, edited, sample) = read.await?;
        let title = shown.listing.summary.title.clone();
        let actions = html! { a.button href=(visit.links.to(&paths::edit_listing(id))) { "Edit" } };
        let body = html! {
            (only_you(&visit.context, &edited.fields, &sample))
            (listing::body(&visit.context, &shown))
        };
        let content = Content::new(title.clone(), body)
            .with_note(html! { "As buyers see it" })
            .with_actions(actions)
            .with_parent("Listings", paths::OWN_LISTINGS)
            .with_parent(title, paths::own_listing(id));
        Ok(content.narrow().with_request(format!("/v2/listings/browse/{id}")).into())
    }
}

/// Shows what buyers do not see: the vendor's earnings, and the content of the sample.
fn only_you(context: &Context, fields: &ListingFields, sample: &[SampleContent]) -> Markup {
    let price = fields.price.filter(|price| price.0 > 0);
    html! { @if price.is_some() || !sample.is_empty() {
        (tables::section("only-you", "Only your team sees this", &html! {
            @if let Some(price) = price { p { (fees::sentence(context, price)) } }
            (shown_samples::summary(sample, fields.sample_price.is_some()))
        }))
    } }
}
