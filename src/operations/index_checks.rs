//! Checks of the search index: its files, and its documents compared with the database.

use std::collections::{BTreeMap, BTreeSet};

use marketplace_index::{Filters, Scope, Search, Snapshot, Sort, Start, catch_panics};
use uuid::Uuid;

use crate::{
    domain::{catalog::CatalogEntry, listings::ListingRowId, time::Timestamp},
    error::{Error, Result},
    market::{Market, Reader},
    search::{self, Progress, Taxonomy},
    store,
};

/// How the index is checked, and where the progress is reported.
#[derive(Clone, Copy)]
pub struct IndexCheck<'a> {
    /// Whether the index is also compared with one that is built from the database.
    pub is_deep: bool,
    /// Progress of comparing listings.
    pub listings: &'a dyn Progress,
    /// Progress of building another index, in listings.
    pub rebuilt: &'a dyn Progress,
}

/// Number of changes that are read with one statement.
const BATCH_SIZE: usize = 4096;

/// Returns a description of each damaged file of the index. If there is none, returns one of each difference between the
/// index and the database.
pub(super) fn find_inconsistencies(
    market: &Market,
    reader: &Reader,
    options: IndexCheck,
) -> Result<Vec<String>> {
    let mut found = market.find_index_damage();
    if !found.is_empty() || reader.index.has_failed() {
        return Ok(found);
    }
    let (indexed, last) = (reader.index.change(), store::index_queue::last_change(reader.rows)?);
    if indexed > u64::try_from(last).unwrap_or_default() {
        found.push("the index has changes that the database lacks".to_owned());
        return Ok(found);
    }
    let comparison =
        Comparison { reader, taxonomy: Taxonomy::load(reader.rows)?, pending: pending(market, reader)? };
    found.extend(comparison.find_differences(market, options)?);
    if options.is_deep {
        found.extend(comparison.find_differences_from_rebuilt(market, options)?);
    }
    Ok(found)
}

/// Returns the listings whose last changes the index lacks, because a server has not committed them to it yet, or was killed
/// before it could. They are not compared. If this process updates the index, there are none.
fn pending(market: &Market, reader: &Reader) -> Result<BTreeSet<u64>> {
    let mut pending = BTreeSet::new();
    let mut after = reader.index.change() as i64;
    while !market.updates_index() {
        let batch = store::index_queue::list_after(reader.rows, after, BATCH_SIZE)?;
        let Some((_, last)) = batch.last() else { break };
        after = *last;
        pending.extend(batch.into_iter().map(|(listing, _)| listing.0 as u64));
    }
    Ok(pending)
}

/// The index, and the database of the same time.
struct Comparison<'r, 'a> {
    reader: &'r Reader<'a>,
    taxonomy: Taxonomy,
    pending: BTreeSet<u64>,
}

impl Comparison<'_, '_> {
    /// Compares the documents that the index was given, and the JSON that was stored with them.
    fn find_differences(&self, market: &Market, options: IndexCheck) -> Result<Vec<String>> {
        let mut indexed: BTreeMap<u64, u64> =
            catch_panics(|| Ok(self.reader.index.snapshot().fingerprints()))?;
        let mut found = Vec::new();
        self.for_each_listing(options.listings, |row_id, entry| {
            let expected = search::build_document(entry, &self.taxonomy).digest();
            match indexed.remove(&row_id) {
                _ if self.pending.contains(&row_id) => {}
                None => found.push(missing(entry.id)),
                Some(found_digest) if found_digest != expected => {
                    found.push(format!("the index has an outdated version of listing {}", entry.id));
                }
                Some(_) => {}
            }
            if !self.pending.contains(&row_id) && !self.is_rendered(market, entry)? {
                found.push(format!("the stored JSON of listing {} differs from its record", entry.id));
            }
            Ok(())
        })?;
        found.extend(
            indexed
                .keys()
                .filter(|row_id| !self.pending.contains(row_id))
                .map(|row_id| format!("the index has listing row {row_id}, which does not exist")),
        );
        Ok(found)
    }

    /// Whether the stored JSON of a listing matches its record. It may also match the record before a kind of asset was
    /// retired: the step that renders it again is due then, but may not have run.
    fn is_rendered(&self, market: &Market, entry: &CatalogEntry) -> Result<bool> {
        let Some(stored) = store::renderings::find(self.reader.rows, entry.id)? else { return Ok(false) };
        Ok([self.reader.now, Timestamp::default()].into_iter().any(|now| {
            let expected = market.render_listing(entry, &self.taxonomy, now);
            expected.summary == stored.summary && expected.detail_fields == stored.detail_fields
        }))
    }

    /// Builds another index in a temporary directory, and compares everything that searches read.
    fn find_differences_from_rebuilt(&self, market: &Market, options: IndexCheck) -> Result<Vec<String>> {
        let directory = tempfile::tempdir().map_err(Error::internal)?;
        let rebuilt = market.create_index(&directory.path().join("index"))?;
        let mut writer = market.open_index_writer(&rebuilt)?;
        let mut ids = BTreeMap::new();
        self.for_each_listing(options.rebuilt, |row_id, entry| {
            ids.insert(row_id, entry.id);
            Ok(writer.put(&search::build_document(entry, &self.taxonomy))?)
        })?;
        writer.commit(1)?;
        writer.finish()?;
        let rebuilt = rebuilt.snapshot();
        catch_panics(|| {
            let current = self.reader.index.snapshot();
            let (found, expected) = (current.content_digests()?, rebuilt.content_digests()?);
            let compared = ids.iter().filter(|(row_id, _)| !self.pending.contains(row_id));
            let mut differences: Vec<String> = compared
                .filter(|(row_id, _)| found.get(row_id) != expected.get(row_id))
                .map(|(_, id)| {
                    format!("the index finds listing {id} by other words or filters than a rebuilt one")
                })
                .collect();
            if self.pending.is_empty() {
                differences.extend(other_orders(current, &rebuilt)?);
            }
            Ok(differences)
        })
        .map_err(Error::from)
    }

    /// Calls `visit` with each listing and its row ID.
    fn for_each_listing(
        &self,
        progress: &dyn Progress,
        mut visit: impl FnMut(u64, &CatalogEntry) -> Result<()>,
    ) -> Result<()> {
        let row_ids: Vec<ListingRowId> = store::verify::listing_row_ids(self.reader.rows)?;
        let total = row_ids.len() as u64;
        for (done, row_id) in (1..).zip(row_ids) {
            progress.advance(done, total);
            if let Some(entry) = store::catalog_entries::find(self.reader.rows, row_id)? {
                visit(row_id.0 as u64, &entry)?;
            }
        }
        Ok(())
    }
}

fn missing(id: Uuid) -> String {
    format!("listing {id} is missing in the index")
}

/// Compares the stored orders of the market and its stored counts.
fn other_orders(
    current: &Snapshot,
    rebuilt: &Snapshot,
) -> std::result::Result<Vec<String>, marketplace_index::Error> {
    let listings = current.count(Scope::Market).max(rebuilt.count(Scope::Market));
    let mut found = Vec::new();
    for (sort, name) in [
        (Sort::Recommended, "recommended"),
        (Sort::Recent, "recent"),
        (Sort::PriceLow, "price_low"),
        (Sort::PriceHigh, "price_high"),
    ] {
        let search = Search {
            scope: Scope::Market,
            text: String::new(),
            filters: Filters::default(),
            sort,
            start: Start::First,
            ordered_as: BTreeMap::new(),
            limit: listings as usize,
            viewer: None,
            totals: true,
        };
        if current.search(&search)? != rebuilt.search(&search)? {
            found.push(format!("the index orders or counts listings by {name} other than a rebuilt one"));
        }
    }
    Ok(found)
}
