//! Estimations: non-binding price quotes for a vendor's sources.

use uuid::Uuid;

use super::access::Vendor;
use crate::{
    domain::{
        estimations::{self as rules, Estimation, EstimationColumn, EstimationField, Summary},
        filters::{Condition, SortDirection},
    },
    error::{Error, Result},
    market::Reader,
    store,
};

/// Returns the team's estimations that match all conditions, newest first.
fn list_matching(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
) -> Result<Vec<Estimation>> {
    let mut found = store::estimations::list(reader.rows, vendor.team_row_id())?;
    found.retain(|estimation| conditions.iter().all(|condition| estimation.matches(condition)));
    Ok(found)
}

/// Returns a page of the team's estimations, and the number of all that match. Estimations are few, so all of
/// them are loaded and filtered here, where case folding works for every alphabet (in SQLite it works for
/// ASCII only).
pub fn page(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
    sort: Option<(EstimationColumn, SortDirection)>,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Estimation>, u64)> {
    let mut found = list_matching(reader, vendor, conditions)?;
    if let Some((column, direction)) = sort {
        rules::sort_estimations(&mut found, column, direction);
    }
    let total = found.len() as u64;
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    Ok((found.into_iter().skip(offset).take(limit).collect(), total))
}

/// Returns a summary of the team's estimations that match all conditions.
pub fn summary(
    reader: &Reader,
    vendor: &Vendor,
    conditions: &[Condition<EstimationField>],
) -> Result<Summary> {
    list_matching(reader, vendor, conditions).map(|found| Summary::from_estimations(&found))
}

/// Returns the latest estimation of each of these assets that has one, in the order of `assets`.
pub fn latest(reader: &Reader, vendor: &Vendor, assets: &[Uuid]) -> Result<Vec<(Uuid, Estimation)>> {
    let all = store::estimations::list(reader.rows, vendor.team_row_id())?;
    let mut distinct: Vec<Uuid> = Vec::new();
    for asset in assets {
        if !distinct.contains(asset) {
            distinct.push(*asset);
        }
    }
    let latest = |asset: Uuid| all.iter().find(|estimation| estimation.asset == Some(asset)).cloned();
    Ok(distinct.into_iter().filter_map(|asset| Some((asset, latest(asset)?))).collect())
}

/// Returns one of the team's estimations.
pub fn find(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Estimation> {
    store::estimations::find(reader.rows, vendor.team_row_id(), id)?
        .ok_or_else(|| Error::not_found("estimation"))
}
