//! The history of a listing.

use crate::{
    domain::listings::{Event, LifecycleStage},
    rest::operator_api::{pages::PageParams, prelude::*},
    store::records::listing_history::LISTING_HISTORY,
};

/// An event in the history of a listing.
#[derive(Debug, Object, Serialize, Deserialize)]
pub struct ListingHistoryEntry {
    /// Number of the event; increases with the commits.
    pub number: i64,
    /// What happened.
    pub event_type: EnumValue<Event>,
    /// Who acted. The audit says which operator acted for a team or the platform.
    pub actor: EnumValue<Actor>,
    /// Time of the event.
    pub occurred_at: UtcTime,
    /// Lifecycle stage before the event; null if the listing was created.
    pub from_status: Option<EnumValue<LifecycleStage>>,
    /// Lifecycle stage after the event.
    pub to_status: EnumValue<LifecycleStage>,
}

resource!(ListingHistoryEntry: i64, LISTING_HISTORY, "listing_event", number);

page_of! {
    /// A page of the history of a listing.
    ListingHistoryPage, ListingHistoryEntry
}

#[routes(prefix = "/operator/v1", tag = Listings)]
impl ListingHistoryApi {
    /// Get the history of a listing
    ///
    /// Returns what happened to a listing, newest first. Featuring is not part of the history.
    #[get("/listings/{listing_id}/history", routes::list_of(Target::RecordOf("listings"), &["limit=2"]))]
    async fn get_listing_history(
        call: Call<Operator>,
        listing_id: Path<Uuid>,
        query: Params<PageParams>,
    ) -> JsonResult<ListingHistoryPage> {
        pages::list_all_of(call, ("listing_id", listing_id.0), query).await
    }
}
