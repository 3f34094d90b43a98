//! Facts about a team that an agent should know before anything else.

use super::{
    access::{AuthenticatedTeam, Buyer, Member, Vendor},
    aggregates, assets, wallet,
};
use crate::{
    domain::{offers::OfferStatus, record_filters::RecordFilter},
    error::Result,
    market::Reader,
    store::{aggregates as lists, inventory::Query, wallet::Balances},
    string_enum::StringEnum,
};

/// Facts about a team. Facts about a role that it lacks are `None`.
#[derive(Clone, Copy, Debug)]
pub struct TeamFacts {
    /// Balances of its wallet.
    pub balances: Balances,
    /// Number of its published listings, and of all of its listings.
    pub listings: Option<(u64, u64)>,
    /// Number of its assets.
    pub assets: Option<u64>,
    /// Number of its completed purchases.
    pub purchases: Option<u64>,
    /// Number of its offers that wait for a decision.
    pub open_offers: Option<u64>,
}

/// Returns the facts about the team of a member; `None` for a team that is no member of the market.
pub fn find(reader: &Reader, authenticated: &AuthenticatedTeam) -> Result<Option<TeamFacts>> {
    let Ok(member) = Member::authorize(authenticated.clone()) else { return Ok(None) };
    let mut facts = TeamFacts {
        balances: wallet::balances(reader, &member)?,
        listings: None,
        assets: None,
        purchases: None,
        open_offers: None,
    };
    if let Ok(vendor) = Vendor::authorize(authenticated.clone()) {
        let team = vendor.team_row_id().0 as u64;
        let all = reader.index.count(marketplace_index::Scope::Team(team))?;
        facts.listings = Some((reader.index.active_count(team)?, all));
        facts.assets = Some(assets::count(reader, &vendor, &Query::new(vendor.team_row_id()))?);
    }
    if let Ok(buyer) = Buyer::authorize(authenticated.clone()) {
        let request = aggregates::Request::default();
        let submitted = OfferStatus::Submitted.as_str().to_owned();
        let open = RecordFilter { statuses: vec![submitted], ..RecordFilter::default() };
        let count = |list, filter: &RecordFilter| {
            aggregates::of_records(reader, &buyer, list, filter, &request).map(|counted| counted.records)
        };
        facts.purchases = Some(count(&lists::PURCHASES, &RecordFilter::default())?);
        facts.open_offers = Some(count(&lists::OFFERS, &open)?);
    }
    Ok(Some(facts))
}
