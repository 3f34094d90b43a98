//! A read connection that a market keeps for the reads of one request.

use std::sync::{Arc, atomic::AtomicU64};

use super::{
    connections::AnyReadConnection,
    damage::Damage,
    transaction::{self, Reader},
};
use crate::error::Result;

/// A read connection that is in use.
pub struct PooledReader {
    pub(super) connection: AnyReadConnection,
    pub(super) statement_count: Arc<AtomicU64>,
    pub(super) damage: Damage,
}

impl PooledReader {
    /// Runs `work` in one read transaction, like [`Store::read`].
    pub fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        self.damage.note(transaction::read_in_transaction(&self.connection, &self.statement_count, work))
    }
}
