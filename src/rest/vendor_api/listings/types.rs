//! JSON types of a vendor's own listings.

use crate::{
    domain::{
        browse::SortOrder,
        listings::{Actor, Event, LifecycleStage, WorkspaceView},
    },
    operations::listings::PageRequest,
    rest::{
        arguments::listing_filters::ListingFilters,
        prelude::*,
        shapes::listing_pages::{self, Counts, FacetCounts, OwnListingSummary},
    },
    store::listing_history::HistoryEvent,
};

/// Query parameters that filter a vendor's own listings.
#[derive(Debug, Object)]
pub struct OwnListingFilters {
    /// Only listings in these lifecycle stages: `drafts` (draft), `submitted` (review, ready), `live`
    /// (active), `archived` or `all`.
    #[oai(default = "default_view")]
    pub workspace_view: EnumValue<WorkspaceView>,
    /// Lifecycle stages. A listing matches if it is in any of them.
    #[oai(default)]
    pub lifecycle_stages: Vec<EnumValue<LifecycleStage>>,
    /// Filters that the catalog takes, too.
    #[oai(flatten)]
    pub common: ListingFilters,
    /// Only listings without attached assets.
    #[oai(default)]
    pub no_assets: bool,
}

/// Query parameters of the order and the page of a vendor's own listings.
#[derive(Debug, Object)]
pub struct OwnListingsPage {
    /// Order of the listings.
    #[oai(default = "default_sort")]
    pub sort: EnumValue<SortOrder>,
    /// Maximum number of listings to return.
    #[oai(default = "listing_pages::default_limit", validator(minimum(value = "1"), maximum(value = "100")))]
    pub limit: u32,
    /// Number of listings to skip.
    #[oai(default, validator(minimum(value = "0"), maximum(value = "2147483647")))]
    pub offset: i64,
}

/// Query parameters of the list of a vendor's own listings.
#[derive(Debug, Object)]
pub struct OwnListingsQuery {
    /// Conditions that listings meet.
    #[oai(flatten)]
    pub filters: OwnListingFilters,
    /// Order and page.
    #[oai(flatten)]
    pub page: OwnListingsPage,
}

impl Default for OwnListingsPage {
    fn default() -> OwnListingsPage {
        OwnListingsPage { sort: default_sort(), limit: listing_pages::default_limit(), offset: 0 }
    }
}

impl OwnListingFilters {
    /// Converts the parameters into a request for a page.
    pub fn into_request(self, page: &OwnListingsPage) -> PageRequest {
        PageRequest {
            text: self.common.query.clone().unwrap_or_default(),
            filters: marketplace_index::Filters { no_assets: self.no_assets, ..self.common.into_filters() },
            view: self.workspace_view.0,
            stages: self.lifecycle_stages.iter().map(|stage| stage.0).collect(),
            sort: page.sort.0,
            limit: page.limit as usize,
            offset: page.offset.cast_unsigned(),
        }
    }
}

fn default_view() -> EnumValue<WorkspaceView> {
    EnumValue(WorkspaceView::All)
}

fn default_sort() -> EnumValue<SortOrder> {
    EnumValue(SortOrder::Recent)
}

/// Totals over all listings of the team, or over the matches of `query` if it is set; filters do not affect
/// them.
#[derive(Debug, Object, Serialize)]
pub struct ListingsSummary {
    /// Number of published listings.
    pub active: u64,
    /// Number of listings in review.
    pub in_review: u64,
    /// Number of drafts, including listings that were sent back for changes or rejected.
    pub drafts: u64,
    /// Sum of the buy-now prices of the published listings, in US dollars.
    pub listed_value: f64,
}

/// A page of a vendor's own listings.
#[derive(Debug, Object, Serialize)]
pub struct OwnListings {
    /// The listings, in the requested order.
    pub items: Vec<OwnListingSummary>,
    /// Maximum number of items on the page, as requested.
    pub limit: u32,
    /// Number of items skipped, as requested.
    pub offset: i64,
    /// Number of listings that match, on all pages.
    pub counts: Counts,
    /// Values to filter by, with counts over all listings of the team, or over the matches of `query` if it
    /// is set.
    pub facets: FacetCounts,
    /// Totals over the same listings as the facets.
    pub summary: ListingsSummary,
}

/// An event in the life of a listing.
#[derive(Debug, Object, Serialize)]
#[oai(rename = "HistoryEvent")]
pub struct HistoryEventOut {
    /// Type of the event.
    pub event_type: EnumValue<Event>,
    /// Who caused the event: the vendor team, a person of the platform, or the server itself.
    pub actor: EnumValue<Actor>,
    /// Time of the event.
    pub occurred_at: UtcTime,
    /// Lifecycle stage before the event; null for the creation of the listing.
    pub from_status: Option<EnumValue<LifecycleStage>>,
    /// Lifecycle stage after the event.
    pub to_status: EnumValue<LifecycleStage>,
}

impl From<HistoryEvent> for HistoryEventOut {
    fn from(event: HistoryEvent) -> HistoryEventOut {
        HistoryEventOut {
            event_type: EnumValue(event.event),
            actor: EnumValue(event.actor),
            occurred_at: event.occurred_at.into(),
            from_status: event.from.map(EnumValue),
            to_status: EnumValue(event.to),
        }
    }
}

/// The history of a listing.
#[derive(Debug, Object, Serialize)]
pub struct ListingHistory {
    /// Events in the life of the listing, newest first.
    pub events: Vec<HistoryEventOut>,
}
