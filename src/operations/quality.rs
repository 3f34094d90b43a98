//! Quality data of listings: the evidence for buyers, and the runs for the vendor.

use uuid::Uuid;

use super::{
    access::{ListingBrowser, Vendor},
    browse, listings,
};
use crate::{
    domain::{
        quality::{CheckKind, CheckStatus},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    store::{
        self,
        listings::ListingRow,
        quality::{CheckRow, EvidenceCheck, Ingest, Report, RunRow},
    },
};

/// Quality evidence that buyers can see.
#[derive(Debug)]
pub struct Evidence {
    /// Time of certification; `None` if the listing is not certified.
    pub certified_at: Option<Timestamp>,
    /// Checks of the latest completed run.
    pub checks: Vec<EvidenceCheck>,
    /// Number of environment checks that passed.
    pub environments_passed: usize,
    /// Number of environment checks.
    pub environments: usize,
}

/// Returns the quality evidence of a listing.
pub fn evidence(reader: &Reader, browser: &ListingBrowser, listing: Uuid) -> Result<Evidence> {
    let listing = browse::visible(reader, browser, listing)?;
    let checks = store::quality::latest_evidence(reader.rows, listing.number)?;
    let of_environments = || checks.iter().filter(|check| check.kind == CheckKind::Environment);
    Ok(Evidence {
        certified_at: listing.certified_at,
        environments_passed: of_environments().filter(|check| check.status == CheckStatus::Passed).count(),
        environments: of_environments().count(),
        checks,
    })
}

/// Quality data that a vendor can see of one of its own listings.
#[derive(Debug)]
pub struct View {
    /// The listing.
    pub listing: ListingRow,
    /// The latest run with its checks, if there was any.
    pub latest_run: Option<(RunRow, Vec<CheckRow>)>,
    /// Copies of the listing's datasets to the platform's hub.
    pub ingests: Vec<Ingest>,
}

/// Returns the quality data of one of the team's own listings.
pub fn view(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<View> {
    let listing = listings::own(reader.rows, vendor, id)?;
    let latest_run = match store::quality::latest_run(reader.rows, listing.number)? {
        Some(run) => {
            let checks = store::quality::checks(reader.rows, run.number)?;
            Some((run, checks))
        }
        None => None,
    };
    Ok(View { latest_run, ingests: store::quality::hub_ingests(reader.rows, listing.number)?, listing })
}

/// Returns a page of the runs of all the team's listings, newest first, and their total number.
pub fn reports(reader: &Reader, vendor: &Vendor, limit: usize, offset: u64) -> Result<(Vec<Report>, u64)> {
    let team = vendor.number();
    Ok((
        store::quality::reports(reader.rows, team, limit, offset)?,
        store::quality::report_count(reader.rows, team)?,
    ))
}
