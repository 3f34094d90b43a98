//! IDs of records that are not committed yet.

use std::cell::RefCell;

use uuid::Uuid;

use super::Clock;
use crate::domain::collections::Collection;

/// The IDs of the records that one transaction creates. A simulated clock counts them only if the transaction is
/// committed, so one that fails changes no later ID. Two transactions must not take IDs at the same time.
#[derive(Debug)]
pub struct PendingIds<'a> {
    clock: &'a Clock,
    counts: RefCell<[u32; Collection::COUNT]>,
}

impl PendingIds<'_> {
    /// Creates the IDs of a transaction that has created nothing.
    pub const fn new(clock: &Clock) -> PendingIds<'_> {
        PendingIds { clock, counts: RefCell::new([0; Collection::COUNT]) }
    }

    /// Returns a new ID.
    pub fn new_id(&self, collection: Collection) -> Uuid {
        match self.clock {
            Clock::System => Uuid::new_v4(),
            Clock::Simulated(clock) => {
                let count = &mut self.counts.borrow_mut()[collection as usize];
                let id = clock.peek_id(collection, (*count).into());
                *count += 1;
                id
            }
        }
    }

    /// Counts the IDs, since the transaction is going to be committed.
    pub fn commit(&self) {
        if let Clock::Simulated(clock) = self.clock {
            clock.count_ids(&self.counts.take());
        }
    }
}
