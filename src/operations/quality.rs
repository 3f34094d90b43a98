//! Quality evidence as buyers may know it, and the quality of their own listings as vendors do.

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

/// What buyers may know of a listing's quality.
#[derive(Debug)]
pub struct Evidence {
    /// Since when it is certified.
    pub certified_at: Option<Timestamp>,
    /// The checks of its latest completed run.
    pub checks: Vec<EvidenceCheck>,
    /// Checks of environments that passed.
    pub environments_passed: usize,
    /// Checks of environments.
    pub environments: usize,
}

/// The quality evidence of a listing.
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

/// What a vendor knows of the quality of one of its own listings.
#[derive(Debug)]
pub struct View {
    /// The listing.
    pub listing: ListingRow,
    /// Its latest run with its checks.
    pub latest_run: Option<(RunRow, Vec<CheckRow>)>,
    /// Copies of its datasets into the platform's hub.
    pub ingests: Vec<Ingest>,
}

/// The quality of one of the team's own listings.
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

/// Runs of all the team's listings, newest first, and how many there are.
pub fn reports(reader: &Reader, vendor: &Vendor, limit: usize, offset: u64) -> Result<(Vec<Report>, u64)> {
    let team = vendor.number();
    Ok((
        store::quality::reports(reader.rows, team, limit, offset)?,
        store::quality::report_count(reader.rows, team)?,
    ))
}
