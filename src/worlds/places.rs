//! The names of worlds and snapshots. A name is taken from the beginning of the creation.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{names::RESERVED, source::Snapshot, world::World};
use crate::error::{Error, Result};

/// The worlds and snapshots of a process.
#[derive(Default)]
pub(super) struct State {
    /// The worlds by name; `None` while a world is being created.
    pub worlds: BTreeMap<String, Option<Arc<World>>>,
    /// The snapshots by name; `None` while a snapshot is being created.
    pub snapshots: BTreeMap<String, Option<Arc<Snapshot>>>,
    /// Number of worlds and snapshots that were created. Names of directories contain it.
    pub created: u64,
}

impl State {
    /// Checks that a name is not reserved, and that no world or snapshot has it.
    pub fn check_free(&self, name: &str) -> Result<()> {
        let what = match name {
            name if RESERVED.contains(&name) => "The name is reserved, since worlds can be forked from it.",
            name if self.worlds.contains_key(name) => "There is a world with this name.",
            name if self.snapshots.contains_key(name) => "There is a snapshot with this name.",
            _ => return Ok(()),
        };
        Err(Error::Conflict(format!("{what} Choose another name, or leave it out.")))
    }

    /// Returns a generated name that is not taken.
    pub fn free_name(&self, number: u64) -> String {
        let names = (number..).map(|number| format!("world-{number}"));
        let is_free = |name: &String| self.check_free(name).is_ok();
        names.into_iter().find(is_free).expect("there are more numbers than worlds")
    }
}

/// Locks the worlds and snapshots.
pub(super) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reserved name of a world or snapshot that is being created. Dropping it frees the name, unless the place was filled.
pub(super) struct Place<'a> {
    /// The worlds and snapshots.
    pub state: &'a Mutex<State>,
    /// Name of the new world or snapshot.
    pub name: String,
    /// Number of the new world or snapshot, which the names of its files contain.
    pub number: u64,
}

impl Place<'_> {
    /// Stores the new world or snapshot under the name.
    pub fn fill<T>(self, fill: impl FnOnce(&mut State, String) -> T) {
        fill(&mut lock(self.state), self.name.clone());
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = lock(self.state);
        if matches!(state.worlds.get(&self.name), Some(None)) {
            state.worlds.remove(&self.name);
        }
        if matches!(state.snapshots.get(&self.name), Some(None)) {
            state.snapshots.remove(&self.name);
        }
    }
}
