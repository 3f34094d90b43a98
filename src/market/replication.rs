//! What replicas of a market, and its primary, ask it for.

use super::Market;
use crate::{domain::commit_position::CommitPosition, store::Lease};

impl Market {
    /// Returns the secret that encrypts positions; `None` if commits are not counted.
    pub fn position_secret(&self) -> Option<&[u8; 32]> {
        self.inner.position_secret.as_ref()
    }

    /// Returns the position after the last write of this process, or a later one; `None` if commits are not counted.
    pub fn written_position(&self) -> Option<CommitPosition> {
        self.inner.store.written_position()
    }

    /// Whether the database is a copy that another process keeps current, so nothing can be written.
    pub fn is_replica(&self) -> bool {
        self.inner.store.is_followed()
    }

    /// Returns until when the server may write.
    pub fn lease(&self) -> &Lease {
        self.inner.store.lease()
    }
}
