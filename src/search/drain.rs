//! Carrying changes from the queue into the index, and rendering what browse answers.

use std::sync::Arc;

use marketplace_index::{Index, Writer};

use super::documents::{self, Taxonomy};
use crate::{
    domain::{catalog::CatalogEntry, listings::ListingNumber, time::Timestamp},
    error::Result,
    store::{self, Store},
};

/// Listings that are loaded, rendered and put in one transaction, during which nobody else writes.
const BATCH: usize = 256;

/// Documents after which a long drain commits, so that a kill does not throw all of it away.
const COMMIT_EVERY: u64 = 200_000;

/// A listing as browse answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The summary's JSON.
    pub item: Vec<u8>,
    /// The further fields of the detail, as a JSON object.
    pub rest: Vec<u8>,
}

/// How a listing looks on the wire is decided by the layer that documents it, so this one is handed a function.
pub type Renderer = fn(&CatalogEntry, &Taxonomy, Timestamp) -> Rendered;

/// Hears how far a long piece of work is.
pub trait Progress {
    /// So many of so many are done.
    fn advance(&self, done: u64, total: u64);
}

/// Nobody listens.
impl Progress for () {
    fn advance(&self, _: u64, _: u64) {}
}

/// Carries changes from a database into an index.
#[derive(Clone)]
pub struct Indexer {
    store: Arc<Store>,
    clock: Arc<crate::clock::Clock>,
    render: Renderer,
}

impl Indexer {
    /// An indexer of this database.
    pub fn new(store: Arc<Store>, clock: Arc<crate::clock::Clock>, render: Renderer) -> Indexer {
        Indexer { store, clock, render }
    }

    /// The number of the latest change in the database.
    pub fn latest(&self) -> Result<u64> {
        Ok(self.store.read(store::index_queue::last)? as u64)
    }

    /// Carries everything over that the index lacks, and answers how many listings that were.
    ///
    /// Renderings are committed before the index shows a listing, so that whatever it finds can be answered.
    pub fn drain(&self, index: &Index, writer: &mut Writer, progress: &dyn Progress) -> Result<u64> {
        let begun = index.snapshot().change();
        let mut change = begun;
        let (mut done, mut uncommitted) = (0, 0);
        let taxonomy = self.store.read(Taxonomy::load)?;
        loop {
            let batch = self.store.read(|reader| store::index_queue::after(reader, change as i64, BATCH))?;
            let Some((_, last)) = batch.last() else { break };
            change = *last as u64;
            let listings: Vec<ListingNumber> = batch.into_iter().map(|(listing, _)| listing).collect();
            self.carry(&listings, writer, &taxonomy)?;
            done += listings.len() as u64;
            uncommitted += listings.len() as u64;
            progress.advance(done, done.max(self.latest()?.saturating_sub(begun)));
            if uncommitted >= COMMIT_EVERY {
                writer.commit(change)?;
                uncommitted = 0;
            }
        }
        if uncommitted > 0 {
            writer.commit(change)?;
        }
        Ok(done)
    }

    /// Loads, renders and puts listings one by one, so that memory and what the processor keeps near serve the next at
    /// once. What is put into the index before a failure is never committed there.
    fn carry(&self, listings: &[ListingNumber], writer: &mut Writer, taxonomy: &Taxonomy) -> Result<()> {
        let now = self.clock.now();
        self.store.write(|rows| {
            for listing in listings {
                let Some(entry) = store::listings::entry(rows, *listing)? else {
                    writer.remove(listing.0 as u64)?;
                    continue;
                };
                let rendered = (self.render)(&entry, taxonomy, now);
                store::renderings::put(rows, entry.number, &rendered.item, &rendered.rest)?;
                writer.put(&documents::document(&entry, taxonomy))?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
