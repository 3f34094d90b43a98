//! Summaries of what a team has spent and earned.

use super::access::{Buyer, Vendor};
use crate::{
    domain::record_filters::RecordFilter,
    error::Result,
    market::Reader,
    store::{
        self,
        money_summaries::{ByListing, Earned, GroupBy, Release, Spent},
        wallet::Balances,
    },
};

/// What a team has spent on purchases: those that are completed, unless a filter states other statuses.
#[derive(Debug)]
pub struct Spending {
    /// In total.
    pub total: Spent,
    /// By month of the checkout, earliest first.
    pub by_month: Vec<(String, Spent)>,
    /// By kind of purchase.
    pub by_kind: Vec<(String, Spent)>,
    /// By listing, the largest amounts first.
    pub by_listing: ByListing<Spent>,
}

/// What a team has earned.
#[derive(Debug)]
pub struct EarningsSummary {
    /// In total.
    pub total: Earned,
    /// By month of the entries, earliest first.
    pub by_month: Vec<(String, Earned)>,
    /// By kind of purchase; entries that belong to no purchase, by their type.
    pub by_kind: Vec<(String, Earned)>,
    /// By listing, the largest amounts first.
    pub by_listing: ByListing<Earned>,
    /// The balances now.
    pub balances: Balances,
    /// When earnings on hold become available, earliest first.
    pub releases: Vec<Release>,
}

/// Returns what the team has spent on the purchases that a filter allows.
pub fn spending(reader: &Reader, buyer: &Buyer, filter: &RecordFilter) -> Result<Spending> {
    let team = buyer.team_row_id();
    let by = |group| store::money_summaries::spent(reader.rows, team, filter, group);
    let total = by(GroupBy::Nothing)?.pop().map(|(_, spent)| spent).unwrap_or_default();
    Ok(Spending {
        total,
        by_month: by(GroupBy::Month)?,
        by_kind: by(GroupBy::Kind)?,
        by_listing: store::money_summaries::spent_by_listing(reader.rows, team, filter)?,
    })
}

/// Returns what the team has earned by the entries that a filter allows, and what becomes available when.
pub fn earnings(reader: &Reader, vendor: &Vendor, filter: &RecordFilter) -> Result<EarningsSummary> {
    let team = vendor.team_row_id();
    let by = |group| store::money_summaries::earned(reader.rows, team, filter, group);
    let total = by(GroupBy::Nothing)?.pop().map(|(_, earned)| earned).unwrap_or_default();
    Ok(EarningsSummary {
        total,
        by_month: by(GroupBy::Month)?,
        by_kind: by(GroupBy::Kind)?,
        by_listing: store::money_summaries::earned_by_listing(reader.rows, team, filter)?,
        balances: store::wallet::balances(reader.rows, team)?,
        releases: store::money_summaries::releases(reader.rows, team, reader.now)?,
    })
}
