//! Applies queued changes to the index, and renders the JSON that the catalog returns.

use std::sync::Arc;

use marketplace_index::{Index, Writer};

use super::documents::{self, Taxonomy};
use crate::{
    domain::{catalog::CatalogEntry, listings::ListingRowId, time::Timestamp},
    error::Result,
    store::{self, Store},
};

/// Number of listings processed in one transaction, during which no other write can run.
const BATCH_SIZE: usize = 256;

/// Number of documents after which a long drain commits, so that a kill does not discard all of its work.
const DOCUMENTS_PER_COMMIT: u64 = 200_000;

/// The JSON of a listing, as the catalog returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedListing {
    /// The summary, as a JSON object.
    pub summary: Vec<u8>,
    /// The fields that the detail has in addition to the summary, as a JSON object.
    pub detail_fields: Vec<u8>,
}

/// Function that renders a listing. The API layer defines the JSON of a listing, so it supplies this
/// function.
pub type Renderer = fn(&CatalogEntry, &Taxonomy, Timestamp) -> RenderedListing;

/// Receives the progress of a long operation.
pub trait Progress: Sync {
    /// Reports that `done` of `total` steps are complete.
    fn advance(&self, done: u64, total: u64);

    /// Returns whether to stop. The operation then ends soon, without its result.
    fn is_canceled(&self) -> bool {
        false
    }
}

/// Ignores progress.
impl Progress for () {
    fn advance(&self, _: u64, _: u64) {}
}

/// Applies changes of listings in a database to an index.
#[derive(Clone)]
pub struct Indexer {
    store: Arc<Store>,
    clock: Arc<crate::clock::Clock>,
    render: Renderer,
}

impl Indexer {
    /// Creates an indexer for a database.
    pub fn new(store: Arc<Store>, clock: Arc<crate::clock::Clock>, render: Renderer) -> Indexer {
        Indexer { store, clock, render }
    }

    /// Returns the number of the latest change in the database.
    pub fn latest_change(&self) -> Result<u64> {
        Ok(self.store.read(store::index_queue::last_change)? as u64)
    }

    /// Applies all changes that the index lacks, and returns the number of updated listings.
    ///
    /// Renderings are committed before the index returns a listing, so a rendering exists for every search
    /// result. If the operation is canceled, the changes since the last commit are not committed.
    pub fn drain(&self, index: &Index, writer: &mut Writer, progress: &dyn Progress) -> Result<u64> {
        let first_change = index.snapshot().change();
        let mut change = first_change;
        let (mut done, mut uncommitted) = (0, 0);
        let taxonomy = self.store.read(Taxonomy::load)?;
        loop {
            let batch = self
                .store
                .read(|reader| store::index_queue::list_after(reader, change as i64, BATCH_SIZE))?;
            let Some((_, last)) = batch.last() else { break };
            if progress.is_canceled() {
                return Ok(done);
            }
            change = *last as u64;
            let listings: Vec<ListingRowId> = batch.into_iter().map(|(listing, _)| listing).collect();
            self.index_listings(&listings, writer, &taxonomy)?;
            done += listings.len() as u64;
            uncommitted += listings.len() as u64;
            progress.advance(done, done.max(self.latest_change()?.saturating_sub(first_change)));
            if uncommitted >= DOCUMENTS_PER_COMMIT {
                writer.commit(change)?;
                uncommitted = 0;
            }
        }
        if uncommitted > 0 {
            writer.commit(change)?;
        }
        Ok(done)
    }

    /// Loads, renders and indexes listings one by one, which limits memory use and keeps data in the CPU
    /// cache. If this fails, the changes already made to the index are never committed.
    fn index_listings(
        &self,
        listings: &[ListingRowId],
        writer: &mut Writer,
        taxonomy: &Taxonomy,
    ) -> Result<()> {
        let now = self.clock.now();
        self.store.write(|rows| {
            for listing in listings {
                let Some(entry) = store::listings::find_catalog_entry(rows, *listing)? else {
                    writer.remove(listing.0 as u64)?;
                    continue;
                };
                let rendered = (self.render)(&entry, taxonomy, now);
                store::renderings::upsert(rows, entry.row_id, &rendered.summary, &rendered.detail_fields)?;
                writer.put(&documents::build_document(&entry, taxonomy))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
