//! The quality of listings, as buyers see it.

use std::collections::BTreeMap;

use super::{
    Reader,
    changed_data::{CHANGED_ASSETS, IS_OF_PRESENT_DATA},
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

/// Returns the checks of a listing's latest completed run, in order, without those of data that has changed since. Empty if no
/// run was completed.
pub fn list_evidence(reader: &Reader, listing: ListingRowId) -> Result<Vec<EvidenceCheck>> {
    Ok(list_evidence_of(reader, &[listing])?.remove(&listing).unwrap_or_default())
}

/// Like [`list_evidence`], for several listings. Leaves out listings without such checks.
pub fn list_evidence_of(
    reader: &Reader,
    listings: &[ListingRowId],
) -> Result<BTreeMap<ListingRowId, Vec<EvidenceCheck>>> {
    let sql = format!(
        "WITH run (place, listing, id, assets) AS MATERIALIZED (
             SELECT j.key, r.listing, r.id, r.assets FROM json_each(?1) j CROSS JOIN quality_runs r ON r.id = (
                 SELECT id FROM quality_runs WHERE listing = j.value AND status = 'completed'
                 ORDER BY run_number DESC LIMIT 1)),
             {CHANGED_ASSETS}
         SELECT run.listing AS listing, c.key, c.label, c.kind, a.kind AS asset_kind, c.is_mandatory, c.is_informational,
             c.status
         FROM run CROSS JOIN quality_checks c ON c.run = run.id LEFT JOIN assets a ON a.id = c.asset
         WHERE {IS_OF_PRESENT_DATA} ORDER BY run.place, c.id"
    );
    let rows = reader.query_all(&sql, [row::to_json(listings)?], |row| {
        Ok((row.get("listing")?, EvidenceCheck::from_row(row)?))
    })?;
    let mut checks: BTreeMap<ListingRowId, Vec<EvidenceCheck>> = BTreeMap::new();
    for (listing, check) in rows {
        checks.entry(listing).or_default().push(check);
    }
    Ok(checks)
}
