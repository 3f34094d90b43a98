//! The start page of a vendor: waiting tasks, and business figures. A fixed number of statements for every team.

use super::{
    access::{BrowseGate, Vendor},
    money_summaries::{self, MonthlyEarnings},
};
use crate::{
    error::Result,
    market::Reader,
    store::{
        self,
        money_summaries::Release,
        vendor_attention::{
            DueDelivery, FailedCopy, FailedRun, RetiringKind, ReviewedListing, SalesSum, StalledUpload,
            VendorFigures, WaitingOffer,
        },
    },
};

/// Maximum number of records of one kind that are listed.
pub const MAX_OF_A_KIND: usize = 10;

/// Number of months of the earnings.
const MONTHS: u32 = 12;

/// Hours after which an upload that is not complete is taken as stalled.
const STALLED_AFTER_HOURS: i64 = 1;

/// At most [`MAX_OF_A_KIND`] records.
#[derive(Clone, Debug)]
pub struct First<T> {
    /// The records.
    pub rows: Vec<T>,
    /// Whether there are others.
    pub has_more: bool,
}

impl<T> First<T> {
    fn read(read: impl FnOnce(usize) -> Result<Vec<T>>) -> Result<First<T>> {
        let mut rows = read(MAX_OF_A_KIND + 1)?;
        let has_more = rows.len() > MAX_OF_A_KIND;
        rows.truncate(MAX_OF_A_KIND);
        Ok(First { rows, has_more })
    }
}

/// What waits for a vendor.
#[derive(Clone, Debug)]
pub struct Attention {
    /// Accepted bids on projects whose tasks are not delivered.
    pub deliveries: First<DueDelivery>,
    /// Offers that wait for a decision.
    pub offers: First<WaitingOffer>,
    /// Listings that were sent back, or approved and not published.
    pub listings: First<ReviewedListing>,
    /// Assets whose data could not be copied or read.
    pub failed_copies: First<FailedCopy>,
    /// Latest runs that have not passed.
    pub failed_runs: First<FailedRun>,
    /// Uploads that were begun and not completed.
    pub uploads: First<StalledUpload>,
    /// Kinds that retire.
    pub kinds: Vec<RetiringKind>,
}

/// How the business of a vendor goes.
#[derive(Clone, Debug)]
pub struct Business {
    /// Balances, listings, and incomplete assets.
    pub figures: VendorFigures,
    /// Sales of the last 30 days.
    pub last_30_days: SalesSum,
    /// Sales of the last 365 days.
    pub last_365_days: SalesSum,
    /// The next earnings that become available.
    pub next_release: Option<Release>,
    /// Earnings by month, earliest first.
    pub by_month: Vec<MonthlyEarnings>,
    /// The way through the browse gate.
    pub gate: BrowseGate,
}

impl Business {
    /// Whether the vendor has earnings or live listings, but has not stated how it is paid.
    pub const fn lacks_payout_setup(&self) -> bool {
        let VendorFigures { balances, listed, has_payout_setup, .. } = self.figures;
        !has_payout_setup && (balances.available.0 > 0 || balances.pending.0 > 0 || listed > 0)
    }
}

/// Returns what waits for the vendor.
pub fn attention(reader: &Reader, vendor: &Vendor) -> Result<Attention> {
    use store::vendor_attention as rows;
    let (team, now) = (vendor.team_row_id(), reader.now);
    let stalled_before = now.plus_seconds(-STALLED_AFTER_HOURS * 3_600);
    Ok(Attention {
        deliveries: First::read(|limit| rows::list_due_deliveries(reader.rows, team, limit))?,
        offers: First::read(|limit| rows::list_waiting_offers(reader.rows, team, limit))?,
        listings: First::read(|limit| rows::list_reviewed(reader.rows, team, limit))?,
        failed_copies: First::read(|limit| rows::list_failed_copies(reader.rows, team, limit))?,
        failed_runs: First::read(|limit| rows::list_failed_runs(reader.rows, team, limit))?,
        uploads: First::read(|limit| {
            rows::list_stalled_uploads(reader.rows, team, (stalled_before, now), limit)
        })?,
        kinds: rows::list_retiring_kinds(reader.rows, team)?,
    })
}

/// Returns how the business of the vendor goes.
pub fn business(reader: &Reader, vendor: &Vendor) -> Result<Business> {
    let (team, now) = (vendor.team_row_id(), reader.now);
    let figures = store::vendor_attention::find_figures(reader.rows, team)?;
    let (last_30_days, last_365_days) =
        store::vendor_attention::sum_sales(reader.rows, team, now.plus_days(-30), now.plus_days(-365))?;
    let published = reader.index.active_count(team.0 as u64)?;
    let required = reader.settings.browse_gate.required_published;
    Ok(Business {
        figures,
        last_30_days,
        last_365_days,
        next_release: store::money_summaries::releases(reader.rows, team, now)?.into_iter().next(),
        by_month: money_summaries::earnings_by_month(reader, vendor, MONTHS)?,
        gate: BrowseGate::new(vendor.team(), published, required),
    })
}
