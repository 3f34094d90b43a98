//! What a team has spent and earned, by month, kind, and listing.

use uuid::Uuid;

use super::{
    Reader,
    aggregates::PURCHASES,
    record_filters::FilterColumns,
    row::{ColumnIndexes, FromColumns, FromRow},
};
use crate::{
    domain::{money::Cents, record_filters::RecordFilter, teams::TeamRowId, time::Timestamp},
    error::Result,
};

/// Maximum number of listings in a summary.
pub const MAX_LISTINGS: usize = 1_000;

/// Maximum number of releases of earnings in a summary.
pub const MAX_RELEASES: usize = 12;

/// Amounts of several records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Spent {
    /// Number of purchases.
    pub purchases: u64,
    /// Sum of the prices.
    pub price: Cents,
    /// Sum of the fees that the buyer paid in addition.
    pub fees: Cents,
}

/// Amounts that several entries added to earnings. Deductions are negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Earned {
    /// Number of completed sales, with free samples and without those that were refunded.
    pub sales: u64,
    /// Prices of the sales.
    pub gross: Cents,
    /// Fees of the platform.
    pub fees: Cents,
    /// Refunds, net of the fees that the platform gives back.
    pub refunds: Cents,
    /// Conversions to credits, and withdrawals.
    pub used: Cents,
}

impl Spent {
    /// Returns what was paid.
    pub const fn paid(&self) -> Cents {
        Cents(self.price.0 + self.fees.0)
    }
}

impl Earned {
    /// Returns what is left of the sales after fees and refunds.
    pub const fn net(&self) -> Cents {
        Cents(self.gross.0 + self.fees.0 + self.refunds.0)
    }
}

/// A listing in a summary.
#[derive(Clone, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct SummarizedListing {
    /// ID of the listing.
    pub id: Uuid,
    /// Title of the listing.
    pub title: String,
}

/// Earnings that become available at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromRow)]
#[row(by_position)]
pub struct Release {
    /// When they become available.
    pub at: Timestamp,
    /// Their amount.
    pub amount: Cents,
}

/// The postings to a vendor's earnings, and its completed sales. Sales are not counted by postings: a free sample has no
/// posting, and a refunded sale keeps its postings.
const EARNINGS: &str =
    "(SELECT e.created_at AS at, coalesce(p.kind, e.entry_type) AS kind, e.entry_type AS entry_type,
         b.cents AS cents, p.listing AS listing
     FROM ledger_postings b JOIN ledger_entries e ON e.id = b.entry LEFT JOIN purchases p ON p.id = e.purchase
     WHERE b.team = ?1 AND b.account = 'earnings'
     UNION ALL
     SELECT p.paid_at, p.kind, NULL, 0, p.listing FROM listings l JOIN purchases p ON p.listing = l.id
     WHERE l.team = ?1 AND p.status = 'completed') e
    LEFT JOIN listings l ON l.id = e.listing
    WHERE TRUE";

const EARNINGS_FILTERS: FilterColumns =
    FilterColumns { listing: Some("e.listing"), ..FilterColumns::by_time("e.at") };

/// A property by which amounts are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// All in one group, whose name is empty.
    Nothing,
    /// The month in UTC, as in `2026-03`, earliest first.
    Month,
    /// The kind of purchase, or the type of entry.
    Kind,
}

impl GroupBy {
    fn sql(self, at: &str, kind: &str) -> String {
        match self {
            GroupBy::Nothing => "''".to_owned(),
            GroupBy::Month => format!("strftime('%Y-%m', {at} / 1000000, 'unixepoch')"),
            GroupBy::Kind => kind.to_owned(),
        }
    }
}

/// Returns what a buyer has spent, by group in order of their names.
pub fn spent(
    reader: &Reader,
    buyer: TeamRowId,
    filter: &RecordFilter,
    by: GroupBy,
) -> Result<Vec<(String, Spent)>> {
    let (purchases, values) = PURCHASES.of_team(buyer, filter);
    let group = by.sql("p.created_at", "p.kind");
    let sql = format!("SELECT {group}, {SPENT} FROM {purchases} GROUP BY 1 ORDER BY 1");
    reader.query_all(&sql, rusqlite::params_from_iter(values), |row| {
        Ok((row.get(0)?, Spent::from_columns(row, &mut ColumnIndexes(1))?))
    })
}

/// Listings with amounts of each: those with the largest amounts, at most [`MAX_LISTINGS`], and the number of all.
pub type ByListing<T> = (Vec<(SummarizedListing, T)>, u64);

/// Returns the spending of a buyer by listing, the largest amounts first.
pub fn spent_by_listing(
    reader: &Reader,
    buyer: TeamRowId,
    filter: &RecordFilter,
) -> Result<ByListing<Spent>> {
    let (purchases, values) = PURCHASES.of_team(buyer, filter);
    let sql = format!(
        "SELECT l.uuid, l.title, count(*) OVER () AS listings, {SPENT} FROM {purchases}
         GROUP BY l.id ORDER BY sum(p.price_cents + p.buyer_fee_cents) DESC, l.id LIMIT {MAX_LISTINGS}"
    );
    let mut listings = 0;
    let found = reader.query_all(&sql, rusqlite::params_from_iter(values), |row| {
        listings = row.get("listings")?;
        Ok((SummarizedListing::from_row(row)?, Spent::from_columns(row, &mut ColumnIndexes(3))?))
    })?;
    Ok((found, listings))
}

const SPENT: &str = "count(*), coalesce(sum(p.price_cents), 0), coalesce(sum(p.buyer_fee_cents), 0)";

/// Returns the earnings of a vendor by group, in the order of the names of the groups.
pub fn earned(
    reader: &Reader,
    vendor: TeamRowId,
    filter: &RecordFilter,
    by: GroupBy,
) -> Result<Vec<(String, Earned)>> {
    let (conditions, values) = EARNINGS_FILTERS.conditions(vendor, filter);
    let group = by.sql("e.at", "e.kind");
    let sql = format!("SELECT {group}, {EARNED} FROM {EARNINGS}{conditions} GROUP BY 1 ORDER BY 1");
    reader.query_all(&sql, rusqlite::params_from_iter(values), |row| {
        Ok((row.get(0)?, Earned::from_columns(row, &mut ColumnIndexes(1))?))
    })
}

/// Returns the earnings of a vendor by listing, the largest amounts first.
pub fn earned_by_listing(
    reader: &Reader,
    vendor: TeamRowId,
    filter: &RecordFilter,
) -> Result<ByListing<Earned>> {
    let (conditions, values) = EARNINGS_FILTERS.conditions(vendor, filter);
    let sql = format!(
        "SELECT l.uuid, l.title, count(*) OVER () AS listings, {EARNED} FROM {EARNINGS} AND l.id IS NOT NULL{conditions}
         GROUP BY l.id ORDER BY sum(e.cents) DESC, l.id LIMIT {MAX_LISTINGS}"
    );
    let mut listings = 0;
    let found = reader.query_all(&sql, rusqlite::params_from_iter(values), |row| {
        listings = row.get("listings")?;
        Ok((SummarizedListing::from_row(row)?, Earned::from_columns(row, &mut ColumnIndexes(3))?))
    })?;
    Ok((found, listings))
}

const EARNED: &str = "count(*) FILTER (WHERE e.entry_type IS NULL),
    coalesce(sum(e.cents) FILTER (WHERE e.entry_type IN ('sale', 'sample_sale', 'accepted_bid_sale')), 0),
    coalesce(sum(e.cents) FILTER (WHERE e.entry_type = 'platform_fee'), 0),
    coalesce(sum(e.cents) FILTER (WHERE e.entry_type = 'refund'), 0),
    coalesce(sum(e.cents) FILTER (WHERE e.entry_type IN ('credit_conversion', 'withdrawal')), 0)";

/// Returns when the earnings of a team that are on hold become available after `now`, earliest first, at most
/// [`MAX_RELEASES`] times. Holds that ended before are released soon.
pub fn releases(reader: &Reader, vendor: TeamRowId, now: Timestamp) -> Result<Vec<Release>> {
    let sql = format!(
        "SELECT available_at, sum(remaining_cents) FROM earnings_holds WHERE team = ?1 AND available_at > ?2
         GROUP BY available_at ORDER BY available_at LIMIT {MAX_RELEASES}"
    );
    reader.query_all(&sql, (vendor, now), Release::from_row)
}
