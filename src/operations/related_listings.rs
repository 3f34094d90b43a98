//! Listings that are like another one.

use marketplace_index::{Filters, document::Labels};

use super::{
    access::ListingViewer,
    browse::{self, CursorForm, PageRequest},
};
use crate::{
    domain::{assets::Kind, browse::SortOrder, listings::ListingRowId},
    error::Result,
    market::Reader,
    store::renderings::Rendering,
    string_enum::StringEnum,
};

/// What listings have in common.
#[derive(Clone, Debug, Default)]
pub struct Likeness {
    /// Kinds of assets, of which they share one.
    pub kinds: Vec<Kind>,
    /// Slugs of inventory tags, of which they share one.
    pub tags: Vec<String>,
    /// Slugs of domains. If no other listing shares a tag, they share a domain.
    pub domains: Vec<String>,
}

/// Returns at most `max` listings in the catalog that are like a listing, in the order of the catalog, without the listing itself.
/// Empty while the catalog is locked for the team. Costs at most two searches and one statement.
pub fn find(
    reader: &Reader,
    viewer: &ListingViewer,
    (listing, likeness): (ListingRowId, &Likeness),
    max: usize,
) -> Result<Vec<Rendering>> {
    let Some(viewer) = viewer.for_any_listing() else { return Ok(Vec::new()) };
    let kinds = || likeness.kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
    let by_tags = Labels { asset_types: kinds(), tag_slugs: likeness.tags.clone(), ..Labels::default() };
    let by_domains = Labels { asset_types: kinds(), tags: likeness.domains.clone(), ..Labels::default() };
    // An empty list would match every listing.
    let searches = [(by_tags, &likeness.tags), (by_domains, &likeness.domains)];
    for (labels, _) in searches.into_iter().filter(|(_, slugs)| !slugs.is_empty()) {
        let request = PageRequest {
            text: String::new(),
            filters: Filters { labels, ..Filters::default() },
            owned: false,
            sort: SortOrder::Recommended,
            limit: max + 1,
            cursor: None,
            cursor_form: CursorForm::Full,
            skip: 0,
        };
        let mut found = browse::search_listings(reader, viewer, request)?.listings;
        found.retain(|found| *found != listing);
        found.truncate(max);
        if !found.is_empty() {
            return browse::renderings(reader, &found);
        }
    }
    Ok(Vec::new())
}
