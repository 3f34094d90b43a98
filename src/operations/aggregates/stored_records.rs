//! Aggregates of records that one SQL statement reads.

use uuid::Uuid;

use super::requests::{Aggregates, Request, find, finish, too_large};
use crate::{
    domain::{
        aggregation::{Aggregation, TooLarge},
        record_filters::RecordFilter,
        teams::TeamRowId,
    },
    error::Result,
    market::Reader,
    operations::{
        access::{Buyer, Member, Vendor},
        assets::AssetFilter,
        listings,
    },
    store::{
        self,
        aggregates::{ASSET_NUMBERS, ASSET_PROPERTIES, Number, Property, RecordList, Selection},
        inventory::Query,
    },
};

/// Aggregates the team's assets that a filter allows.
pub fn of_assets(
    reader: &Reader,
    _: &Vendor,
    mut filter: AssetFilter,
    request: &Request,
) -> Result<Aggregates> {
    let selection = select(ASSET_PROPERTIES, ASSET_NUMBERS, request)?;
    filter.resolve_kinds(&store::taxonomy::deprecations(reader.rows)?);
    let aggregation = store::aggregates::aggregate_assets(reader.rows, &filter.query, &selection)?;
    finish_selection(aggregation, &selection)
}

/// Aggregates the assets of one of the team's listings.
pub fn of_listing_assets(
    reader: &Reader,
    vendor: &Vendor,
    listing: Uuid,
    request: &Request,
) -> Result<Aggregates> {
    listings::find_own(reader.rows, vendor, listing)?;
    let query = Query { listing: Some(listing), ..Query::new(vendor.team_row_id()) };
    of_assets(reader, vendor, AssetFilter { query, deprecated: None, attachable_to: None }, request)
}

/// Aggregates records of a buyer that a filter allows.
pub fn of_buyer(
    reader: &Reader,
    buyer: &Buyer,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    of_records(reader, buyer.team_row_id(), list, filter, request)
}

/// Aggregates records of a member of any role that a filter allows.
pub fn of_member(
    reader: &Reader,
    member: &Member,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    of_records(reader, member.team_row_id(), list, filter, request)
}

/// Aggregates records of a vendor that a filter allows.
pub fn of_vendor(
    reader: &Reader,
    vendor: &Vendor,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    of_records(reader, vendor.team_row_id(), list, filter, request)
}

fn of_records(
    reader: &Reader,
    team: TeamRowId,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    let selection = select(list.properties, list.numbers, request)?;
    finish_selection(store::aggregates::aggregate(reader.rows, list, team, filter, &selection)?, &selection)
}

/// Finds what a request names.
fn select(
    properties: &'static [Property],
    numbers: &'static [Number],
    request: &Request,
) -> Result<Selection> {
    let property = |name: &String| find(properties, |property| &property.name, "group_by", name);
    let number = |name: &String| find(numbers, |number| &number.name, "measure", name);
    Ok(Selection {
        properties: request.group_by.iter().map(property).collect::<Result<_>>()?,
        number: request.measure.as_ref().map(number).transpose()?,
    })
}

fn finish_selection(
    aggregation: std::result::Result<Aggregation, TooLarge>,
    selection: &Selection,
) -> Result<Aggregates> {
    let unit = selection.number.map(|number| number.unit);
    Ok(finish(aggregation.map_err(too_large)?, selection.properties.len(), unit))
}
