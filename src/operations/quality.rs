//! Quality evidence, and the certification that follows from it.

use uuid::Uuid;

use super::{access::ListingBrowser, browse};
use crate::{
    domain::{
        quality::{self, CheckKind, CheckStatus, Outcome, RunStatus},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    store::{self, quality::EvidenceCheck},
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

/// Notes what a listing's completed run means for its certification: a passing one certifies, another ends it. Runs that
/// are not completed change nothing.
pub fn conclude(
    rows: &store::Writer,
    listing: &store::listings::ListingRow,
    status: RunStatus,
    checks: impl IntoIterator<Item = Outcome>,
    at: Timestamp,
) -> Result<()> {
    if status != RunStatus::Completed {
        return Ok(());
    }
    let certified_at = quality::passed(status, checks).then_some(at);
    if certified_at.is_none() && listing.certified_at.is_none() {
        return Ok(());
    }
    store::listings::certify(rows, listing.number, certified_at, listing.status.stage(), at)
}

/// Ends a listing's certification, since its assets changed.
pub fn revoke(rows: &store::Writer, listing: &store::listings::ListingRow, at: Timestamp) -> Result<()> {
    if listing.certified_at.is_none() {
        return Ok(());
    }
    store::listings::certify(rows, listing.number, None, listing.status.stage(), at)
}
