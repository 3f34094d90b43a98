//! What is compared.

use std::collections::BTreeMap;

use crate::{
    console::{
        parts::{
            evidence,
            listing_view::{Details, ListingView},
        },
        prelude::*,
    },
    domain::listings::ListingRowId,
    operations::{
        access::FullCatalogViewer,
        browse,
        listing_quality::{self, Certificate},
    },
    store::listing_quality::EvidenceCheck,
};

/// What the page shows.
pub struct Found {
    pub listings: Vec<ListingView>,
    pub certificates: BTreeMap<ListingRowId, Certificate>,
    pub checks: BTreeMap<ListingRowId, Vec<EvidenceCheck>>,
}

pub fn find(reader: &Reader, access: &FullCatalogViewer, ids: &[Uuid]) -> Result<Found> {
    let mut listings = Vec::new();
    for id in ids {
        if let Some(rendering) = browse::find_rendering(reader, access.viewer(), *id)? {
            listings.push(ListingView::full(&rendering)?);
        }
    }
    let rows: Vec<ListingRowId> = listings.iter().map(|listing| listing.row_id).collect();
    Ok(Found {
        certificates: listing_quality::certificates(reader, &rows)?,
        checks: listing_quality::evidence_checks(reader, &rows)?,
        listings,
    })
}

/// Returns the keys of the checks that were run on any of the listings, with their names.
pub fn check_labels(found: &Found) -> Vec<(&str, &str)> {
    let mut labels: Vec<(&str, &str)> = Vec::new();
    for check in found.checks.values().flatten() {
        if !labels.iter().any(|(key, _)| *key == check.key) {
            labels.push((&check.key, &check.label));
        }
    }
    labels
}

/// Returns the names of the robotics formats.
pub fn format_names(details: &Details) -> Vec<String> {
    let name = |format: &String| kinds::robotics_format(format).unwrap_or(format).to_owned();
    details.robotics_formats.iter().map(name).collect()
}

/// Returns the price for 1,000 lines of code; `None` without a price or without code.
pub fn price_for_lines(listing: &ListingView, details: &Details) -> Option<Cents> {
    let lines = listing.summary.scale.loc;
    details.price.and_then(|price| Cents(price.0.saturating_mul(1_000)).divided_by(lines))
}

/// Returns the verdict of a check on a listing; `None` if it was not run.
pub fn verdict(found: &Found, listing: &ListingView, key: &str) -> Option<(Tone, &'static str)> {
    let checks = found.checks.get(&listing.row_id).into_iter().flatten();
    worst(checks.filter(|check| check.key == key))
}

/// Returns the worst verdict of a check on several assets; `None` if it was not run.
pub fn worst<'c>(checks: impl Iterator<Item = &'c EvidenceCheck>) -> Option<(Tone, &'static str)> {
    let worst = checks.max_by_key(|check| evidence::severity(check.status))?;
    Some(evidence::verdict(worst.status, worst.is_mandatory))
}
