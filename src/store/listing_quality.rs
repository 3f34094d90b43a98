//! The quality of listings, as buyers see it.

use std::collections::BTreeMap;

use super::{
    Reader,
    row::{self, FromRow},
};
use crate::{
    domain::{
        assets::Kind,
        listings::ListingRowId,
        quality_checks::{CheckKind, CheckStatus},
    },
    error::Result,
};

/// A check as buyers can see it, without names and IDs of the vendor's own records.
#[derive(Clone, Debug, FromRow)]
pub struct EvidenceCheck {
    /// Slug of the check.
    pub key: String,
    /// Name of the check for people.
    pub label: String,
    /// Who or what performed the check.
    pub kind: CheckKind,
    /// Kind of the checked asset; `None` if the check is about the whole listing.
    pub asset_kind: Option<Kind>,
    /// Whether the run fails if the check fails.
    pub is_mandatory: bool,
    /// Whether the check is only informational.
    pub is_informational: bool,
    /// Result of the check.
    pub status: CheckStatus,
}

/// Returns the checks of a listing's latest completed run, in order. Empty if no run was completed.
pub fn list_evidence(reader: &Reader, listing: ListingRowId) -> Result<Vec<EvidenceCheck>> {
    const SQL: &str =
        "SELECT c.key, c.label, c.kind, a.kind AS asset_kind, c.is_mandatory, c.is_informational, c.status
         FROM quality_checks c LEFT JOIN assets a ON a.id = c.asset
         WHERE c.run = (
             SELECT id FROM quality_runs WHERE listing = ?1 AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1)
         ORDER BY c.id";
    reader.query_all(SQL, [listing], EvidenceCheck::from_row)
}

/// Returns the checks of the latest completed run of each of these listings that has one, in order.
pub fn list_evidence_of(
    reader: &Reader,
    listings: &[ListingRowId],
) -> Result<BTreeMap<ListingRowId, Vec<EvidenceCheck>>> {
    const SQL: &str =
        "SELECT r.listing, c.key, c.label, c.kind, a.kind AS asset_kind, c.is_mandatory, c.is_informational, c.status
         FROM json_each(?1) j CROSS JOIN quality_runs r ON r.id = (
             SELECT id FROM quality_runs WHERE listing = j.value AND status = 'completed'
             ORDER BY run_number DESC LIMIT 1)
         JOIN quality_checks c ON c.run = r.id LEFT JOIN assets a ON a.id = c.asset
         ORDER BY j.key, c.id";
    let rows = reader.query_all(SQL, [row::to_json(listings)?], |row| {
        Ok((row.get("listing")?, EvidenceCheck::from_row(row)?))
    })?;
    let mut checks: BTreeMap<ListingRowId, Vec<EvidenceCheck>> = BTreeMap::new();
    for (listing, check) in rows {
        checks.entry(listing).or_default().push(check);
    }
    Ok(checks)
}
