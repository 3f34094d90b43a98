//! The history of a listing.

use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::listings::{Actor, Event, LifecycleStage},
    market::CheckContext,
    operations::access::Operator,
    rest::{
        enum_value::EnumValue,
        json::JsonResult,
        operator_api::{
            pages::{self, PageParams, page_of},
            resources::{Resource, subject},
            routes::{self, routes},
        },
        params::Params,
        route::{Call, Path, Target},
        shapes::UtcTime,
    },
    store::records::{
        listing_history::{HistoryFilter, HistoryRecord},
        listings::ListingRecord,
    },
};

/// An event in the history of a listing.
#[derive(Debug, Object, Serialize)]
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

subject!(ListingHistoryEntry, "listing_event", number);

impl Resource for ListingHistoryEntry {
    type Record = HistoryRecord;

    fn new(HistoryRecord { event, number }: HistoryRecord, _: &CheckContext) -> ListingHistoryEntry {
        ListingHistoryEntry {
            number,
            event_type: EnumValue(event.event),
            actor: EnumValue(event.actor),
            occurred_at: event.occurred_at.into(),
            from_status: event.from.map(EnumValue),
            to_status: EnumValue(event.to),
        }
    }
}

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
        let (listing, page) = (listing_id.0, query.0);
        let filter = HistoryFilter { listing };
        pages::list_of::<ListingRecord, ListingHistoryEntry, _>(call, listing, page, &listing, filter).await
    }
}
