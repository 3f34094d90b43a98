//! A vendor's own listings, with prices and the state of their review.

use super::rows::{self, AgentListing, SelectedFields};
use crate::{
    domain::listings::ReviewStatus,
    error::Result,
    operations::{
        browse,
        listings::{self, PageRequest},
    },
    rest::{
        prelude::*,
        shapes::{
            assets::ASSET_KINDS,
            listing_pages::{Counts, FacetCounts},
        },
        vendor_api::listings::{
            page_json,
            types::{ListingsSummary, OwnListingFilters, OwnListingsPage},
        },
    },
};

/// Query parameters that filter own listings.
#[derive(Debug, Object)]
pub struct AgentOwnListingFilters {
    /// The filters of the API.
    #[oai(flatten)]
    common: OwnListingFilters,
    /// States of the review.
    #[oai(default)]
    review_status: Vec<EnumValue<ReviewStatus>>,
}

/// Query parameters of a page.
#[derive(Debug, Object)]
pub struct AgentOwnListingsQuery {
    /// Conditions that listings meet.
    #[oai(flatten)]
    filters: AgentOwnListingFilters,
    /// Order and page.
    #[oai(flatten)]
    page: OwnListingsPage,
    /// Names of the selected fields; empty for all.
    #[oai(default, validator(max_items = 64))]
    fields: Vec<String>,
}

impl AgentOwnListingFilters {
    /// Converts the parameters into a request for a page.
    pub fn into_request(
        self,
        reader: &Reader,
        vendor: &Vendor,
        page: &OwnListingsPage,
    ) -> Result<PageRequest> {
        let reviews: Vec<ReviewStatus> = self.review_status.iter().map(|status| status.0).collect();
        let mut request = self.common.into_request(page);
        listings::restrict_to_reviews(reader, vendor, &reviews, &mut request.filters)?;
        Ok(request)
    }
}

/// A page of a vendor's own listings.
#[derive(Debug, Object, Serialize)]
pub struct AgentOwnListings {
    /// The listings, in the requested order.
    pub items: Vec<AgentListing>,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
    /// Number of listings that match, on all pages.
    pub counts: Counts,
    /// Values to filter by, with counts over all listings of the team, or over the matches of `query`.
    pub facets: FacetCounts,
    /// Totals over the same listings as the facets.
    pub summary: ListingsSummary,
}

#[routes(prefix = "/agents/v1", tag = Listings)]
impl OwnListingsApi {
    /// List own listings
    ///
    /// Returns a page of the team's own listings with the selected fields of their details.
    #[get(
        "/own-listings",
        RouteAttributes::read(
            Tool::list(
                ToolText::new(
                    Toolset::Listings,
                    "list_own_listings",
                    "Own listings",
                    "The team's own listings at every stage, with totals over all of them. \
                     Filters as in browse_listings.",
                )
                .with_fields_of("get_own_listing")
                .with_row(&[
                    "id",
                    "title",
                    "review_status",
                    "catalog_status",
                    "asset_types",
                    "price",
                    "active_bid_count",
                    "platform_quality_certified",
                    "evidence",
                    "counts",
                    "summary",
                ])
                .with_values(&[("asset_types", ASSET_KINDS)])
                .with_parameters(&[
                    ("no_assets", "Only listings without assets."),
                    ("asset_types", "Asset kinds."),
                    ("has_active_bids", "Only with a submitted bid."),
                    ("max_price", "Upper bound."),
                    ("max_sample_price", "Upper bound."),
                    ("max_tasks", "Upper bound."),
                    ("max_zip_files", "Maximum files in zips."),
                    ("max_zip_size_gb", "Maximum zip size in 10^9 bytes."),
                    ("min_price", "Lower bound."),
                    ("min_sample_price", "Lower bound."),
                    ("min_tasks", "Lower bound."),
                    ("min_zip_files", "Minimum files in zips."),
                    ("min_zip_size_gb", "Minimum zip size in 10^9 bytes."),
                    ("query", "Words, as in browse_listings."),
                    ("sample_available", "With (true) or without a sample."),
                    ("tags", "Domain slugs."),
                    ("workspace_view", "Group of lifecycle stages."),
                ]),
                "items",
            ),
            Contract::new(Target::None),
        ),
    )]
    async fn list_own_listings_for_agents(
        call: Call<Vendor>,
        query: Params<AgentOwnListingsQuery>,
    ) -> JsonResult<AgentOwnListings> {
        let AgentOwnListingsQuery { filters, page, fields } = query.0;
        let fields = SelectedFields::new(fields);
        Json::read_bytes(&call.served, call.access.requester(), move |reader| {
            let request = filters.into_request(reader, &call.access, &page)?;
            let (limit, offset) = (request.limit as u32, request.offset);
            let found = listings::find_page(reader, &call.access, request, browse::renderings)?;
            let items = rows::rows_json(reader, &found.listings, &fields)?;
            Ok(page_json(&items, limit, offset, found.total, &found.facets, found.listed_value))
        })
        .await
    }
}
