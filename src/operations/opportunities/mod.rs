//! Opportunities: what buyers want to buy. Vendors search and bid on them; buyers manage their own.

mod announcements;
mod fitting;
mod lifecycle;

use std::collections::{BTreeMap, HashMap, HashSet};

use marketplace_text::equality_key;
use uuid::Uuid;

pub use self::fitting::{AskedFor, Fitting, FittingSupply, find_fitting, list_asked_for};
pub use self::lifecycle::{
    MAX_UNFINISHED, cancel, close, create, end_all, exclude, extend, find_own, pass_deadline, publish,
    record_update, update,
};
use super::access::{Buyer, Vendor};
use crate::{
    domain::opportunities::{Bid, Opportunity, OpportunityFilter, OpportunityKind, OpportunityOrder},
    error::{Error, Result},
    market::Reader,
    store::{
        self,
        records::{
            Filters,
            pages::{TeamPage, TeamPageRequest},
            team_lists::requests::{self, OpenRequest},
        },
    },
};

/// A page of open opportunities.
#[derive(Clone, Debug)]
pub struct OpportunityPage {
    /// The opportunities of the page.
    pub items: Vec<Opportunity>,
    /// Number of matching opportunities over all pages.
    pub total: u64,
    /// Tags of all opportunities that match the search text, regardless of the filters, with their counts.
    pub tags: BTreeMap<String, u64>,
}

impl OpportunityPage {
    /// Replaces each tag by the spelling under which it is counted. Each opportunity has it once then.
    pub fn unify_tags(&mut self) {
        let OpportunityPage { items, tags, .. } = self;
        let spellings: HashMap<String, &String> = tags.keys().map(|tag| (equality_key(tag), tag)).collect();
        for opportunity in items {
            let mut found = HashSet::new();
            let keys: Vec<String> = opportunity.tags().map(equality_key).collect();
            let spelled = keys.iter().filter(|key| found.insert(*key)).filter_map(|key| spellings.get(key));
            opportunity.metadata.tags = spelled.map(|tag| (*tag).clone()).collect();
        }
    }
}

/// Returns a page of the open opportunities that the vendor may see. Opportunities are few, so all of them
/// are loaded and filtered here.
pub fn page(
    reader: &Reader,
    vendor: &Vendor,
    filter: &OpportunityFilter,
    order: OpportunityOrder,
    limit: usize,
    offset: u64,
) -> Result<OpportunityPage> {
    let (team, keys) = (vendor.team().id, filter.keys());
    let mut found = store::opportunities::list_open(reader.rows, reader.now)?;
    found.retain(|opportunity| opportunity.allows_team(team) && opportunity.contains_terms(&keys));
    let tags = count_tags(&found);
    found.retain(|opportunity| opportunity.matches(filter, &keys));
    order.sort(&mut found);
    let total = found.len() as u64;
    let items = found.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).take(limit).collect();
    Ok(OpportunityPage { items, total, tags })
}

/// Returns the tags of opportunities with the number of opportunities that have them. Different spellings of a tag are counted
/// under the first one, and once for an opportunity that has several.
fn count_tags(opportunities: &[Opportunity]) -> BTreeMap<String, u64> {
    let mut counts: HashMap<String, (&str, u64)> = HashMap::new();
    for opportunity in opportunities {
        let mut counted = HashSet::new();
        for tag in opportunity.tags() {
            let key = equality_key(tag);
            if counted.insert(key.clone()) {
                counts.entry(key).or_insert((tag, 0)).1 += 1;
            }
        }
    }
    counts.into_values().map(|(tag, count)| (tag.to_owned(), count)).collect()
}

/// Returns a page of the open opportunities of both kinds that the vendor may see, newest first.
pub fn requests_page(
    reader: &Reader,
    vendor: &Vendor,
    filters: &Filters,
    request: TeamPageRequest,
) -> Result<TeamPage<OpenRequest>> {
    requests::page(reader.rows, vendor.team_row_id(), reader.now, filters, request)
}

/// Returns the opportunity of this kind and with this ID, if the vendor may see it: it is visible to the team
/// in its status, or the team has a bid on it or a notification of it, which keep referring to it.
pub fn find(rows: &store::Reader, vendor: &Vendor, id: Uuid, kind: OpportunityKind) -> Result<Opportunity> {
    let not_found = || Error::not_found("opportunity");
    let found = store::opportunities::find(rows, id, kind)?.ok_or_else(not_found)?;
    let is_visible = found.is_visible_to(vendor.team().id)
        || store::opportunities::concerns_team(rows, found.row_id, vendor.team_row_id())?;
    if is_visible { Ok(found) } else { Err(not_found()) }
}

/// Returns a page of the vendor's own bids on projects, newest first, and their total number.
pub fn list_own_bids(reader: &Reader, vendor: &Vendor, limit: usize, offset: u64) -> Result<(Vec<Bid>, u64)> {
    store::opportunities::list_bids_by_team(reader.rows, vendor.team_row_id(), limit, offset)
}

/// Returns a page of the buyer's own opportunities of one kind, newest first, and their total number.
pub fn list_owned(
    reader: &Reader,
    buyer: &Buyer,
    kind: OpportunityKind,
    status: Option<&str>,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Opportunity>, u64)> {
    store::opportunities::list_by_owner(reader.rows, buyer.team_row_id(), kind, status, limit, offset)
}

/// Returns a page of the bids on one of the buyer's own projects, newest first, and their total number.
pub fn list_bids_on(
    reader: &Reader,
    buyer: &Buyer,
    id: Uuid,
    limit: usize,
    offset: u64,
) -> Result<(Vec<Bid>, u64)> {
    let project = find_own(reader.rows, buyer, id, OpportunityKind::Project)?;
    store::opportunities::list_bids_on_opportunity(reader.rows, project.row_id, limit, offset)
}

/// An opportunity of a buyer, with a page of the bids on it.
#[derive(Clone, Debug)]
pub struct OwnedOpportunity {
    /// The opportunity.
    pub opportunity: Opportunity,
    /// Bids on it, newest first.
    pub bids: Vec<Bid>,
    /// Number of all bids on it.
    pub bid_count: u64,
    /// Names of the vendors that made these bids, and of those that are excluded, by their IDs.
    pub vendors: HashMap<Uuid, String>,
}

/// Returns the opportunity with this ID, of either kind, with a page of the bids on it, if it belongs to the buyer.
pub fn find_owned_with_bids(
    reader: &Reader,
    buyer: &Buyer,
    id: Uuid,
    limit: usize,
    offset: u64,
) -> Result<OwnedOpportunity> {
    let opportunity = of_any_kind(|kind| find_own(reader.rows, buyer, id, kind))?;
    let (bids, bid_count) = match opportunity.kind {
        OpportunityKind::Listing => (Vec::new(), 0),
        OpportunityKind::Project => {
            store::opportunities::list_bids_on_opportunity(reader.rows, opportunity.row_id, limit, offset)?
        }
    };
    let row_ids: Vec<_> = bids.iter().map(|bid| bid.row_id).collect();
    let vendors = store::opportunities::vendor_names(reader.rows, opportunity.row_id, &row_ids)?;
    Ok(OwnedOpportunity { opportunity, bids, bid_count, vendors })
}

/// Like [`find`], of either kind.
pub fn find_of_any_kind(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<Opportunity> {
    of_any_kind(|kind| find(reader.rows, vendor, id, kind))
}

/// Returns the first opportunity that `find` finds, which is called with each kind.
fn of_any_kind(find: impl Fn(OpportunityKind) -> Result<Opportunity>) -> Result<Opportunity> {
    match find(OpportunityKind::Listing) {
        Err(Error::NotFound(_)) => find(OpportunityKind::Project),
        found => found,
    }
}
