//! The quality of listings: the evidence for buyers, and the latest run for the vendor.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{
    access::{ListingViewer, Vendor},
    browse, listings,
    quality_runs::CheckedRun,
};
use crate::{
    domain::{
        listings::ListingRowId,
        quality_checks::{CheckKind, CheckStatus},
        time::Timestamp,
    },
    error::Result,
    market::Reader,
    store::{
        self, listing_bundles::HubIngestStatus, listing_quality::EvidenceCheck, listings::ListingRow,
        quality_runs::RunSummary,
    },
};

/// Quality evidence that buyers can see.
#[derive(Debug)]
pub struct Evidence {
    /// Row ID of the listing.
    pub listing: ListingRowId,
    /// Time of certification; `None` if the listing is not certified.
    pub certified_at: Option<Timestamp>,
    /// Checks of the latest completed run, without checks of data that has changed since.
    pub checks: Vec<EvidenceCheck>,
    /// Number of environment checks that passed.
    pub environments_passed: usize,
    /// Number of environment checks.
    pub environments: usize,
}

/// Returns the quality evidence of a listing.
pub fn get_evidence(reader: &Reader, viewer: &ListingViewer, listing: Uuid) -> Result<Evidence> {
    let listing = browse::find_visible(reader, viewer, listing)?;
    let checks = store::listing_quality::list_evidence(reader.rows, listing.row_id)?;
    let environment_checks = || checks.iter().filter(|check| check.kind == CheckKind::Environment);
    Ok(Evidence {
        listing: listing.row_id,
        certified_at: listing.certified_at,
        environments_passed: environment_checks().filter(|check| check.status == CheckStatus::Passed).count(),
        environments: environment_checks().count(),
        checks,
    })
}

/// Quality data that a vendor can see of one of its own listings.
#[derive(Debug)]
pub struct QualityView {
    /// The listing.
    pub listing: ListingRow,
    /// The latest run, if there was any.
    pub latest_run: Option<CheckedRun>,
    /// Copies of the listing's datasets to the platform's hub.
    pub ingests: Vec<HubIngestStatus>,
}

/// Returns the quality data of one of the team's own listings. The checks of an asset with a newer completed
/// run of its own are those of that run.
pub fn get(reader: &Reader, vendor: &Vendor, id: Uuid) -> Result<QualityView> {
    let listing = listings::find_own(reader.rows, vendor, id)?;
    Ok(QualityView {
        latest_run: latest_run(reader.rows, listing.row_id)?,
        ingests: store::listing_bundles::list_hub_ingests(reader.rows, listing.row_id)?,
        listing,
    })
}

/// Returns the latest run of a listing, if there was any. If an asset has a newer completed run of its own, the checks of that
/// run replace its checks. The caller must check access.
pub(super) fn latest_run(rows: &store::Reader, listing: ListingRowId) -> Result<Option<CheckedRun>> {
    let Some(run) = store::quality_runs::find_latest_of_listing(rows, listing)? else { return Ok(None) };
    let newer = store::quality_checks::list_newer_of_assets(rows, listing, &run)?;
    let mut latest = CheckedRun::read(rows, run)?;
    latest.replace_checks(newer);
    Ok(Some(latest))
}

/// The certification of a listing, and the quality run behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Time of certification; `None` if the listing is not certified.
    pub certified_at: Option<Timestamp>,
    /// The latest completed run, without checks of data that has changed since; `None` if there is none.
    pub latest_run: Option<RunSummary>,
}

/// Returns the checks of the latest completed run of each of these listings that has one. The caller has checked that the team
/// may see the listings.
pub fn evidence_checks(
    reader: &Reader,
    listings: &[ListingRowId],
) -> Result<BTreeMap<ListingRowId, Vec<EvidenceCheck>>> {
    store::listing_quality::list_evidence_of(reader.rows, listings)
}

/// Returns the certification of a listing that the team may view.
pub fn certificate(reader: &Reader, viewer: &ListingViewer, listing: Uuid) -> Result<Certificate> {
    certificate_of(reader, browse::find_visible(reader, viewer, listing)?.row_id)
}

/// Returns the certification of one of the team's own listings.
pub fn certificate_of_own(reader: &Reader, vendor: &Vendor, listing: Uuid) -> Result<Certificate> {
    certificate_of(reader, listings::find_own(reader.rows, vendor, listing)?.row_id)
}

fn certificate_of(reader: &Reader, listing: ListingRowId) -> Result<Certificate> {
    Ok(certificates(reader, &[listing])?.remove(&listing).unwrap_or_default())
}

/// Returns the certifications of these listings, with two statements for all. The caller has checked that the team may see
/// the listings.
pub fn certificates(
    reader: &Reader,
    listings: &[ListingRowId],
) -> Result<BTreeMap<ListingRowId, Certificate>> {
    let mut runs = store::quality_runs::summaries_of_listings(reader.rows, listings)?;
    let times = store::listings::certification_times(reader.rows, listings)?;
    let certificate =
        |(listing, certified_at)| (listing, Certificate { certified_at, latest_run: runs.remove(&listing) });
    Ok(times.into_iter().map(certificate).collect())
}
