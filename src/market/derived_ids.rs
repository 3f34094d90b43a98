//! IDs of what a due step or a job creates. They are derived from the work, so they do not depend on what else happens in
//! the market, and when.

use std::cell::RefCell;

use uuid::Uuid;

use crate::{
    clock::{Clock, NAMESPACE},
    domain::collections::Collection,
    string_enum::StringEnum,
};

/// The IDs of the records that one piece of work creates.
#[derive(Debug)]
pub struct DerivedIds {
    /// What no other work has; `None` if the IDs are random.
    name: Option<String>,
    counts: RefCell<[u32; Collection::COUNT]>,
}

impl DerivedIds {
    /// Creates the IDs of work with a name that no other work has.
    pub fn new(name: String) -> DerivedIds {
        DerivedIds { name: Some(name), counts: RefCell::new([0; Collection::COUNT]) }
    }

    /// Like [`DerivedIds::new`], for work whose name may repeat if the time of the system is changed: on the system
    /// clock, the IDs are random.
    pub fn on_clock(clock: &Clock, name: impl FnOnce() -> String) -> DerivedIds {
        let name = matches!(clock, Clock::Simulated(_)).then(name);
        DerivedIds { name, counts: RefCell::new([0; Collection::COUNT]) }
    }

    /// Returns the next ID of a collection.
    pub(super) fn new_id(&self, collection: Collection) -> Uuid {
        let Some(name) = &self.name else { return Clock::System.new_id(collection) };
        let mut counts = self.counts.borrow_mut();
        let count = &mut counts[collection as usize];
        let id = Uuid::new_v5(&NAMESPACE, format!("{name}/{}/{count}", collection.as_str()).as_bytes());
        *count += 1;
        id
    }
}
