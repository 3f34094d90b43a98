//! Aggregates of records that one SQL statement reads.

use uuid::Uuid;

use super::requests::{Aggregates, Request, find, finish};
use crate::{
    domain::{aggregation::Aggregation, record_filters::RecordFilter},
    error::Result,
    market::Reader,
    operations::{
        access::{TeamProof, Vendor},
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
    Ok(finish_selection(aggregation, &selection))
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

/// Aggregates a team's records that a filter allows.
pub fn of_records(
    reader: &Reader,
    proof: &impl TeamProof,
    list: &RecordList,
    filter: &RecordFilter,
    request: &Request,
) -> Result<Aggregates> {
    let selection = select(list.properties, list.numbers, request)?;
    let team = proof.team_row_id();
    let aggregation = store::aggregates::aggregate(reader.rows, list, team, filter, &selection)?;
    Ok(finish_selection(aggregation, &selection))
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

fn finish_selection(aggregation: Aggregation, selection: &Selection) -> Aggregates {
    finish(aggregation, selection.properties.len(), selection.number.map(|number| number.unit))
}
