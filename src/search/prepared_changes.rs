//! Documents that the write operation itself built, so that the update of the index need not load the
//! listings again.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use marketplace_index::document::ListingDocument;

use crate::domain::listings::ListingRowId;

/// Maximum number of changes that are kept. Others are loaded from the database.
const MAX_CHANGES: usize = 1_024;

/// A change whose rendering is stored in the transaction of the change.
#[derive(Debug)]
pub struct PreparedChange {
    /// Number of the change.
    pub change: u64,
    /// The listing.
    pub listing: ListingRowId,
    /// The new document; `None` if the listing no longer exists.
    pub document: Option<ListingDocument>,
}

/// The prepared changes that the index lacks, by number.
#[derive(Debug, Default)]
pub struct PreparedChanges {
    by_number: Mutex<BTreeMap<u64, PreparedChange>>,
}

impl PreparedChanges {
    /// Keeps changes whose transaction is committed. Forgets those that the index has, according to
    /// `indexed`.
    pub fn keep(&self, changes: Vec<PreparedChange>, indexed: u64) {
        let mut by_number = self.lock();
        *by_number = by_number.split_off(&(indexed + 1));
        let free = MAX_CHANGES.saturating_sub(by_number.len());
        by_number.extend(changes.into_iter().take(free).map(|change| (change.change, change)));
    }

    /// Takes a change of a listing, if it is kept.
    pub fn take(&self, listing: ListingRowId, change: u64) -> Option<PreparedChange> {
        self.lock().remove(&change).filter(|prepared| prepared.listing == listing)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, PreparedChange>> {
        self.by_number.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
