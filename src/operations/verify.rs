//! Consistency checks of a market: the database, the ledger, the inventory, the uploads, and the index.

use std::collections::BTreeMap;

use crate::{
    domain::listings::ListingNumber,
    error::Result,
    market::{Market, Reader},
    search, store,
};

/// Returns a description of each inconsistency in the market. Empty if there is none.
pub fn faults(market: &Market) -> Result<Vec<String>> {
    let mut faults = market.read_blocking(|reader| {
        let mut faults = store::verify::damage(reader.rows)?;
        for entry in store::verify::unbalanced_entries(reader.rows)? {
            faults.push(format!("the postings of ledger entry {entry} do not add up to zero"));
        }
        faults.extend(store::inventory::faults(reader.rows)?);
        faults.extend(index_faults(reader)?);
        Ok(faults)
    })?;
    faults.extend(super::uploads::faults(market)?);
    Ok(faults)
}

/// Returns a description of each difference between the index and the database.
pub fn index_faults(reader: &Reader) -> Result<Vec<String>> {
    let taxonomy = search::Taxonomy::load(reader.rows)?;
    let mut held: BTreeMap<u64, u64> = reader.index.fingerprints();
    let mut faults = Vec::new();
    for number in store::verify::listing_numbers(reader.rows)? {
        let Some(entry) = store::listings::entry(reader.rows, ListingNumber(number))? else { continue };
        let wanted = search::document(&entry, &taxonomy).digest();
        match held.remove(&(number as u64)) {
            None => faults.push(format!("listing {} is missing in the index", entry.id)),
            Some(found) if found != wanted => {
                faults.push(format!("the index has an outdated version of listing {}", entry.id));
            }
            Some(_) => {}
        }
    }
    faults.extend(
        held.keys().map(|number| format!("the index has listing row {number}, which does not exist")),
    );
    Ok(faults)
}
