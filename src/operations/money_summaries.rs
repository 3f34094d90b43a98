//! Summaries of what a team has spent and earned.

use super::access::{Buyer, Vendor};
use crate::{
    domain::{
        figures::Month,
        record_filters::{Period, RecordFilter},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    store::{
        self,
        money_summaries::{ByListing, Earned, GroupBy, Release, Spent},
        wallet::Balances,
    },
};

/// The spending of a team on purchases. Only completed purchases count, unless a filter states other statuses.
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

/// Returns the earnings of the team from the entries that a filter allows, and when they become available.
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

/// What a team has earned in a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthlyEarnings {
    /// The year.
    pub year: i32,
    /// The month, from 1 to 12.
    pub month: u8,
    /// What the team has earned in it.
    pub earned: Earned,
}

/// What becomes of a team's earnings.
#[derive(Debug)]
pub struct EarningsOutlook {
    /// The balances now.
    pub balances: Balances,
    /// When earnings on hold become available, earliest first.
    pub releases: Vec<Release>,
    /// What the team has earned in the last months, earliest first.
    pub by_month: Vec<MonthlyEarnings>,
}

/// Returns the balances of a vendor's wallet.
pub fn balances(reader: &Reader, vendor: &Vendor) -> Result<Balances> {
    store::wallet::balances(reader.rows, vendor.team_row_id())
}

/// Returns the earnings of the team in the last months, and when they become available. Three statements.
pub fn outlook(reader: &Reader, vendor: &Vendor, months: u32) -> Result<EarningsOutlook> {
    let team = vendor.team_row_id();
    Ok(EarningsOutlook {
        balances: store::wallet::balances(reader.rows, team)?,
        releases: store::money_summaries::releases(reader.rows, team, reader.now)?,
        by_month: earnings_by_month(reader, vendor, months)?,
    })
}

/// Returns what the team has earned in each of the last months, earliest first, up to the present one.
pub fn earnings_by_month(reader: &Reader, vendor: &Vendor, months: u32) -> Result<Vec<MonthlyEarnings>> {
    let months = last_months(reader.now, months);
    let since = months.first().map(|first| first.start());
    let filter = RecordFilter { period: Period { since, end: None }, ..RecordFilter::default() };
    let earned = store::money_summaries::earned(reader.rows, vendor.team_row_id(), &filter, GroupBy::Month)?;
    let earned_in = |month: Month| {
        let name = month.to_string();
        earned.iter().find(|(found, _)| *found == name).map(|(_, earned)| *earned)
    };
    let months = months.into_iter().map(|month| MonthlyEarnings {
        year: month.year(),
        month: month.number(),
        earned: earned_in(month).unwrap_or_default(),
    });
    Ok(months.collect())
}

/// Returns the last months in UTC, earliest first, up to the one of a time.
fn last_months(now: Timestamp, count: u32) -> Vec<Month> {
    let count = i32::try_from(count).unwrap_or(i32::MAX);
    (1 - count..=0).map(|months| Month::of(now).plus(months)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_months_cross_the_year() {
        let now = Timestamp::parse("2026-02-28T23:59:59Z").unwrap();
        let names: Vec<String> = last_months(now, 4).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["2025-11", "2025-12", "2026-01", "2026-02"]);
    }
}
