//! What buyers ask for: as vendors find it, as its owners keep it, and vendors' bids on it.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::access::{Buyer, Vendor};
use crate::{
    domain::opportunities::{Bid, Opportunity, OpportunityOrder, Wanted},
    error::{Error, Result},
    market::Reader,
    store,
};

/// A page of open opportunities.
#[derive(Clone, Debug)]
pub struct Page {
    /// The opportunities.
    pub items: Vec<Opportunity>,
    /// All that match.
    pub all: u64,
    /// Tags of all that match the words, whatever the filters.
    pub tags: BTreeMap<String, u64>,
}

/// A page of the opportunities that are open and that the vendor may see. There are as many as people post, so they are read
/// at once and sifted here, where letters of every alphabet have their case.
pub fn page(
    reader: &Reader,
    vendor: &Vendor,
    wanted: &Wanted,
    order: OpportunityOrder,
    limit: usize,
    offset: u64,
) -> Result<Page> {
    let team = vendor.team().id;
    let mut found = store::opportunities::open(reader.rows, reader.now)?;
    found.retain(|one| one.admits(team) && one.holds(&wanted.text));
    let mut tags = BTreeMap::new();
    for tag in found.iter().flat_map(Opportunity::tags) {
        *tags.entry(tag.to_owned()).or_default() += 1;
    }
    found.retain(|one| one.fits(wanted));
    order.sort(&mut found);
    let all = found.len() as u64;
    let items = found.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).take(limit).collect();
    Ok(Page { items, all, tags })
}

/// An opportunity that the vendor may see.
pub fn find(reader: &Reader, vendor: &Vendor, id: Uuid, is_project: bool) -> Result<Opportunity> {
    let found = store::opportunities::find(reader.rows, id, is_project)?;
    let shown = found.filter(|found| found.is_shown_to(vendor.team().id));
    shown.ok_or_else(|| Error::not_found("opportunity"))
}

/// The vendor's own bids on projects, later ones first, and how many there are.
pub fn own_bids(reader: &Reader, vendor: &Vendor, limit: usize, offset: u64) -> Result<(Vec<Bid>, u64)> {
    store::opportunities::bids_of_team(reader.rows, vendor.number(), limit, offset)
}

/// The buyer's own opportunities of a sort, later ones first, and how many there are.
pub fn owned(
    reader: &Reader,
    buyer: &Buyer,
    is_project: bool,
    status: Option<&str>,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Opportunity>, u64)> {
    store::opportunities::owned(reader.rows, buyer.number(), is_project, status, limit, offset)
}

/// One of the buyer's own opportunities.
pub fn find_owned(reader: &Reader, buyer: &Buyer, id: Uuid, is_project: bool) -> Result<Opportunity> {
    let found = store::opportunities::find(reader.rows, id, is_project)?;
    let own = found.filter(|found| found.owner == buyer.number());
    own.ok_or_else(|| Error::not_found("opportunity"))
}

/// The bids on one of the buyer's own projects, later ones first, and how many there are.
pub fn bids_on(
    reader: &Reader,
    buyer: &Buyer,
    id: Uuid,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Bid>, u64)> {
    let project = find_owned(reader, buyer, id, true)?;
    store::opportunities::bids_of_opportunity(reader.rows, project.number, limit, offset)
}
