//! Consistency checks of a market: the database, the ledger, the inventory, the uploads, and the index.

use std::collections::BTreeMap;

use crate::{
    error::Result,
    market::{Market, Reader},
    search, store,
};

/// Returns a description of each inconsistency in the market. Empty if there is none.
pub fn find_inconsistencies(market: &Market) -> Result<Vec<String>> {
    let mut inconsistencies = market.read_blocking(|reader| {
        let mut inconsistencies = store::verify::find_corruption(reader.rows)?;
        for entry in store::verify::unbalanced_entries(reader.rows)? {
            inconsistencies.push(format!("the postings of ledger entry {} do not add up to zero", entry.0));
        }
        inconsistencies.extend(store::inventory::find_inconsistencies(reader.rows)?);
        for team in store::usage::list_miscounted(reader.rows)? {
            inconsistencies.push(format!("the usage of team {} differs from its records", team.0));
        }
        inconsistencies.extend(find_index_inconsistencies(reader)?);
        Ok(inconsistencies)
    })?;
    inconsistencies.extend(super::uploads::find_damaged(market)?);
    Ok(inconsistencies)
}

/// Returns a description of each difference between the index and the database.
fn find_index_inconsistencies(reader: &Reader) -> Result<Vec<String>> {
    let taxonomy = search::Taxonomy::load(reader.rows)?;
    let mut indexed: BTreeMap<u64, u64> = reader.index.fingerprints();
    let mut inconsistencies = Vec::new();
    for row_id in store::verify::listing_row_ids(reader.rows)? {
        let Some(entry) = store::listings::find_catalog_entry(reader.rows, row_id)? else {
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
