//! What statements have found out about the file of a database.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::failures;
use crate::error::Result;

/// Whether a statement has found the file damaged. Clones share this.
#[derive(Clone, Debug, Default)]
pub(super) struct Damage(Arc<AtomicBool>);

impl Damage {
    /// Passes on the result of a transaction, and remembers that it failed because of damage.
    pub(super) fn note<T>(&self, result: Result<T>) -> Result<T> {
        let is_damage = result.as_ref().is_err_and(|error| failures::is_damage(error));
        if is_damage && !self.0.swap(true, Ordering::Relaxed) {
            tracing::error!(
                "the database is damaged; `marketplace verify` lists what is affected, `marketplace restore` restores a backup"
            );
        }
        result
    }

    /// Whether damage was found.
    pub(super) fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
