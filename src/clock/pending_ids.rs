//! IDs of records that are not committed yet.

use std::cell::RefCell;

use uuid::Uuid;

use super::simulated::SimulatedClock;
use crate::domain::collections::Collection;

/// The IDs of the records that one transaction creates. A simulated clock counts them only if the transaction is
/// committed, so one that fails changes no later ID. Two transactions must not take IDs at the same time.
#[derive(Debug)]
pub struct PendingIds<'a> {
    /// `None` if the IDs are random.
    clock: Option<&'a SimulatedClock>,
    counts: RefCell<[u32; Collection::COUNT]>,
}

impl<'a> PendingIds<'a> {
    pub(super) const fn random() -> PendingIds<'a> {
        PendingIds { clock: None, counts: RefCell::new([0; Collection::COUNT]) }
    }

    pub(super) const fn counted(clock: &'a SimulatedClock) -> PendingIds<'a> {
        PendingIds { clock: Some(clock), counts: RefCell::new([0; Collection::COUNT]) }
    }

    /// Returns a new ID.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        let Some(clock) = self.clock else { return Uuid::new_v4() };
        let count = &mut self.counts.borrow_mut()[collection as usize];
        let id = clock.peek_id(collection, (*count).into());
        *count += 1;
        id
    }

    /// Counts the IDs, since the transaction is going to be committed.
    pub fn commit(&self) {
        if let Some(clock) = self.clock {
            clock.count_ids(&self.counts.take());
        }
    }
}
