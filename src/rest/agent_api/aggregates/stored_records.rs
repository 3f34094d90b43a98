//! Responses about records of a team that are read with one SQL statement.

use super::output::AggregatesOut;
use crate::{
    domain::record_filters::RecordFilter,
    operations::{
        access::{Buyer, Vendor},
        aggregates::{self, Request},
    },
    rest::{
        json::{Json, JsonResult},
        served_market::ServedMarket,
    },
    store::aggregates::RecordList,
};

/// Aggregates records of a buyer.
pub async fn of_buyer(
    served: &ServedMarket,
    buyer: Buyer,
    list: &'static RecordList,
    (request, filter): (Request, RecordFilter),
) -> JsonResult<AggregatesOut> {
    Json::read(served, buyer.requester(), move |reader| {
        let aggregates = aggregates::of_buyer(reader, &buyer, list, &filter, &request)?;
        Ok(AggregatesOut::new(aggregates, reader.now))
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
    Json::read(served, vendor.requester(), move |reader| {
        let aggregates = aggregates::of_vendor(reader, &vendor, list, &filter, &request)?;
        Ok(AggregatesOut::new(aggregates, reader.now))
    })
    .await
}
