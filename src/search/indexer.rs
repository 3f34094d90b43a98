//! Applies queued changes to the index, and renders the JSON that the catalog returns.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use marketplace_index::{Writer, document::ListingDocument};

use super::{
    documents::{self, Taxonomy},
    prepared_changes::{PreparedChange, PreparedChanges},
};
use crate::{
    domain::{catalog::CatalogEntry, listings::ListingRowId, time::Timestamp},
    error::Result,
    store::{self, Store},
};

/// Maximum number of listings that a write operation renders itself. A larger operation would block other
/// writes for long.
const MAX_PREPARED_LISTINGS: usize = 64;

/// Number of listings processed in one transaction, during which no other write can run.
const BATCH_SIZE: usize = 256;

/// Number of documents after which a long drain commits, so that a kill does not discard all of its work. Each commit
/// ends a segment, and segments of fewer documents would have to be merged more often.
const DOCUMENTS_PER_COMMIT: u64 = 50_000;

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
    prepared: Arc<PreparedChanges>,
    commit_count: Arc<AtomicU64>,
}

impl Indexer {
    /// Creates an indexer for a database.
    pub fn new(store: Arc<Store>, clock: Arc<crate::clock::Clock>, render: Renderer) -> Indexer {
        Indexer { store, clock, render, prepared: Arc::default(), commit_count: Arc::default() }
    }

    /// Returns the number of commits of indexes so far.
    pub fn commit_count(&self) -> u64 {
        self.commit_count.load(Ordering::Relaxed)
    }

    /// Renders the listings that a transaction has queued, at its end, and builds their documents. Leaves
    /// this to [`Indexer::drain`] if they are many.
    pub fn prepare(&self, rows: &store::Writer, now: Timestamp) -> Result<Vec<PreparedChange>> {
        let queued = rows.queued_listings();
        if queued.len() > MAX_PREPARED_LISTINGS {
            return Ok(Vec::new());
        }
        let prepare = |(listing, change): (ListingRowId, i64)| {
            let entry = store::catalog_entries::find(rows, listing)?;
            let document = match entry {
                Some(entry) => {
                    Some(self.render_entry(rows, &entry, &Taxonomy::load_for(rows, &entry)?, now)?)
                }
                None => None,
            };
            Ok(PreparedChange { change: change as u64, listing, document })
        };
        queued.into_iter().map(prepare).collect()
    }

    /// Keeps the documents that a transaction has prepared, which is now committed, for the next drain. `indexed`
    /// is the last change in the index.
    pub fn keep_prepared(&self, changes: Vec<PreparedChange>, indexed: u64) {
        self.prepared.keep(changes, indexed);
    }

    /// Returns the number of the latest change in the database.
    pub fn latest_change(&self) -> Result<u64> {
        Ok(self.store.read(store::index_queue::last_change)? as u64)
    }

    /// Applies all changes that the index lacks, and returns the number of updated listings.
    ///
    /// Renderings are committed before the index returns a listing, so a rendering exists for every search
    /// result. If the operation is canceled, the changes since the last commit are not committed.
    pub fn drain(&self, writer: &mut Writer, progress: &dyn Progress) -> Result<u64> {
        let done = self.show_until(u64::MAX, writer, progress)?;
        self.flush(writer)?;
        Ok(done)
    }

    /// Like [`Indexer::drain`], but applies only the changes up to the number `last`, and other processes may
    /// see them only after [`Indexer::flush`]. If the listing of `last` has changed again since, there is no
    /// such number, and all changes are applied.
    pub fn show_until(&self, last: u64, writer: &mut Writer, progress: &dyn Progress) -> Result<u64> {
        let first_change = writer.last_change();
        let mut change = first_change;
        let (mut done, mut uncommitted) = (0, 0);
        let mut taxonomy = None;
        loop {
            let mut batch = self
                .store
                .read(|reader| store::index_queue::list_after(reader, change as i64, BATCH_SIZE))?;
            let end = batch.iter().position(|(_, change)| *change as u64 == last);
            let mut is_end = end.is_some() || batch.len() < BATCH_SIZE;
            batch.truncate(end.map_or(BATCH_SIZE, |end| end + 1));
            if self.store.is_followed() {
                let rendered = self.store.read(|rows| count_rendered(rows, &batch))?;
                is_end |= rendered < batch.len();
                batch.truncate(rendered);
            }
            let Some((_, last_of_batch)) = batch.last() else { break };
            if progress.is_canceled() {
                return Ok(done);
            }
            change = *last_of_batch as u64;
            let count = batch.len();
            let listings = self.put_prepared(batch, writer)?;
            if !listings.is_empty() && taxonomy.is_none() {
                taxonomy = Some(self.store.read(Taxonomy::load)?);
            }
            if let Some(taxonomy) = &taxonomy {
                self.index_listings(&listings, writer, taxonomy)?;
            }
            done += count as u64;
            uncommitted += count as u64;
            if is_end {
                progress.advance(done, done);
                break;
            }
            progress.advance(done, done.max(self.latest_change()?.saturating_sub(first_change)));
            if uncommitted >= DOCUMENTS_PER_COMMIT {
                self.commit(writer, change)?;
                uncommitted = 0;
            }
        }
        if uncommitted > 0 {
            writer.show(change)?;
            self.commit_count.fetch_add(u64::from(!writer.is_ahead()), Ordering::Relaxed);
        }
        Ok(done)
    }

    /// Commits the changes that are shown, so that other processes see them.
    pub fn flush(&self, writer: &mut Writer) -> Result<()> {
        self.commit_count.fetch_add(u64::from(writer.is_ahead()), Ordering::Relaxed);
        Ok(writer.flush()?)
    }

    fn commit(&self, writer: &mut Writer, change: u64) -> Result<()> {
        writer.commit(change)?;
        self.commit_count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Passes the prepared changes of a batch to the index, and returns the other listings.
    fn put_prepared(
        &self,
        batch: Vec<(ListingRowId, i64)>,
        writer: &mut Writer,
    ) -> Result<Vec<ListingRowId>> {
        let mut others = Vec::new();
        for (listing, change) in batch {
            match self.prepared.take(listing, change as u64) {
                Some(PreparedChange { document: Some(document), .. }) => writer.put(&document)?,
                Some(PreparedChange { document: None, .. }) => writer.remove(listing.0 as u64)?,
                None => others.push(listing),
            }
        }
        Ok(others)
    }

    /// Loads, renders and indexes listings one by one, which limits memory use and keeps data in the CPU
    /// cache. A replica finds them rendered. If this fails, the changes already made to the index are never committed.
    fn index_listings(
        &self,
        listings: &[ListingRowId],
        writer: &mut Writer,
        taxonomy: &Taxonomy,
    ) -> Result<()> {
        if listings.is_empty() {
            return Ok(());
        }
        if self.store.is_followed() {
            return self.store.read(|rows| {
                for listing in listings {
                    match store::catalog_entries::find(rows, *listing)? {
                        Some(entry) => writer.put(&documents::build_document(&entry, taxonomy))?,
                        None => writer.remove(listing.0 as u64)?,
                    }
                }
                Ok(())
            });
        }
        let now = self.clock.now();
        self.store.write(|rows| {
            for listing in listings {
                let Some(entry) = store::catalog_entries::find(rows, *listing)? else {
                    writer.remove(listing.0 as u64)?;
                    continue;
                };
                writer.put(&self.render_entry(rows, &entry, taxonomy, now)?)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Renders a listing as of a time.
    pub fn render(&self, entry: &CatalogEntry, taxonomy: &Taxonomy, now: Timestamp) -> RenderedListing {
        (self.render)(entry, taxonomy, now)
    }

    /// Stores the rendering of a listing, and returns its document.
    fn render_entry(
        &self,
        rows: &store::Writer,
        entry: &CatalogEntry,
        taxonomy: &Taxonomy,
        now: Timestamp,
    ) -> Result<ListingDocument> {
        let rendered = self.render(entry, taxonomy, now);
        store::renderings::upsert(rows, entry.row_id, &rendered.summary, &rendered.detail_fields)?;
        Ok(documents::build_document(entry, taxonomy))
    }
}

/// Returns how many changes of a batch can be indexed by a replica: those before the first listing that the primary has not
/// rendered yet. The primary renders a listing together with the change, or soon after it if many listings change at once.
fn count_rendered(rows: &store::Reader, batch: &[(ListingRowId, i64)]) -> Result<usize> {
    for (count, (listing, _)) in batch.iter().enumerate() {
        if !store::renderings::exists(rows, *listing)?
            && store::catalog_entries::find(rows, *listing)?.is_some()
        {
            return Ok(count);
        }
    }
    Ok(batch.len())
}
