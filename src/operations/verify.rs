//! Consistency checks of a market: the database, the ledger, the inventory, the uploads, the files of
//! bundles, and the index.

use std::collections::BTreeMap;

use crate::{
    error::Result,
    market::{Market, Reader},
    search::{self, Progress},
    store,
    string_enum::StringEnum,
};

/// Returns a description of each inconsistency in the market. Empty if there is none.
pub fn find_inconsistencies(market: &Market) -> Result<Vec<String>> {
    check(market, &(), &())
}

/// Like [`find_inconsistencies`], and reports the progress: first of listings, then of bytes of uploads.
pub fn check(market: &Market, listings: &dyn Progress, upload_bytes: &dyn Progress) -> Result<Vec<String>> {
    let mut inconsistencies = market.read_blocking(|reader| {
        let mut inconsistencies = find_contradictions(reader)?;
        for (kind, subject, error) in store::due_steps::list_failed(reader.rows)? {
            let (kind, row_id) = (kind.as_str(), subject.0);
            inconsistencies.push(format!("the due step {kind} of row {row_id} failed: {error}"));
        }
        inconsistencies.extend(find_index_inconsistencies(reader, listings)?);
        Ok(inconsistencies)
    })?;
    inconsistencies.extend(super::uploads::find_damaged_with_progress(market, upload_bytes)?);
    Ok(inconsistencies)
}

/// Returns a description of each contradiction between rows of the database.
pub fn find_contradictions(reader: &Reader) -> Result<Vec<String>> {
    let mut found = store::verify::find_corruption(reader.rows)?;
    found.extend(store::verify::find_ledger_inconsistencies(reader.rows)?);
    found.extend(store::verify::find_miscounted_records(reader.rows)?);
    found.extend(store::event_retention::find_inconsistencies(reader.rows)?);
    found.extend(store::exclusive_sales::find_inconsistencies(reader.rows)?);
    found.extend(store::inventory::find_inconsistencies(reader.rows)?);
    for principal in store::usage::list_miscounted(reader.rows)? {
        let (kind, row_id) = (principal.kind().as_str(), principal.row_id());
        found.push(format!("the usage of {kind} {row_id} differs from its records"));
    }
    Ok(found)
}

/// Returns a description of each difference between the index and the database.
fn find_index_inconsistencies(reader: &Reader, progress: &dyn Progress) -> Result<Vec<String>> {
    let taxonomy = search::Taxonomy::load(reader.rows)?;
    let mut indexed: BTreeMap<u64, u64> = reader.index.fingerprints();
    let mut inconsistencies = Vec::new();
    let row_ids = store::verify::listing_row_ids(reader.rows)?;
    let total = row_ids.len() as u64;
    for (done, row_id) in (1..).zip(row_ids) {
        progress.advance(done, total);
        let Some(entry) = store::catalog_entries::find(reader.rows, row_id)? else {
            continue;
        };
        let expected = search::build_document(&entry, &taxonomy).digest();
        match indexed.remove(&(row_id.0 as u64)) {
            None => inconsistencies.push(format!("listing {} is missing in the index", entry.id)),
            Some(found) if found != expected => {
                inconsistencies.push(format!("the index has an outdated version of listing {}", entry.id));
            }
            Some(_) => {}
        }
    }
    inconsistencies.extend(
        indexed.keys().map(|row_id| format!("the index has listing row {row_id}, which does not exist")),
    );
    Ok(inconsistencies)
}
