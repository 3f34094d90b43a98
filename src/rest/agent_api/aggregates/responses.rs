//! Responses with aggregates.

use super::output::AggregatesOut;
use crate::{
    domain::record_filters::RecordFilter,
    error::Result,
    market::{Reader, Requester},
    operations::{
        access::{Buyer, Vendor},
        aggregates::{self, Aggregates, Request},
    },
    rest::{
        json::{Json, JsonResult},
        served_market::ServedMarket,
    },
    store::aggregates::RecordList,
};

/// Aggregates records in a read, and returns the response.
pub async fn respond(
    served: &ServedMarket,
    requester: Requester,
    aggregate: impl FnOnce(&Reader) -> Result<Aggregates> + Send + 'static,
) -> JsonResult<AggregatesOut> {
    Json::read(served, requester, move |reader| Ok(AggregatesOut::new(aggregate(reader)?, reader.now))).await
}

/// Aggregates records of a buyer.
pub async fn of_buyer(
    served: &ServedMarket,
    buyer: Buyer,
    list: &'static RecordList,
    (request, filter): (Request, RecordFilter),
) -> JsonResult<AggregatesOut> {
    respond(served, buyer.requester(), move |reader| {
        aggregates::of_buyer(reader, &buyer, list, &filter, &request)
    })
    .await
}

/// Aggregates records of a vendor.
pub async fn of_vendor(
    served: &ServedMarket,
    vendor: Vendor,
    list: &'static RecordList,
    (request, filter): (Request, RecordFilter),
) -> JsonResult<AggregatesOut> {
    respond(served, vendor.requester(), move |reader| {
        aggregates::of_vendor(reader, &vendor, list, &filter, &request)
    })
    .await
}
