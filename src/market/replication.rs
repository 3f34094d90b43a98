//! What replication needs of a market: positions, uses of keys that are reported, and the lease.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Market;
use crate::{
    clock::Clock,
    domain::{commit_position::CommitPosition, time::Timestamp},
    error::Result,
    store::{self, Lease},
};

/// Maximum number of keys, and of sessions, whose uses a replica reports at once.
pub const MAX_REPORTED_USES: usize = 10_000;

/// When keys and sessions were used at a replica: IDs, and microseconds since the Unix epoch.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Uses {
    pub(super) keys: Vec<(Uuid, i64)>,
    pub(super) sessions: Vec<(Uuid, i64)>,
}

impl Uses {
    /// Whether nothing was used.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.sessions.is_empty()
    }

    /// Whether there may be more than these.
    pub const fn is_full(&self) -> bool {
        self.keys.len() >= MAX_REPORTED_USES || self.sessions.len() >= MAX_REPORTED_USES
    }
}

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

    /// Records what was used at a replica; nothing of keys and sessions that are not there any more. A time is the current time at
    /// the latest: for keys that of the market, for sessions that of the machine. Must not be called on a thread that serves requests.
    pub fn record_reported_uses(&self, uses: &Uses) -> Result<()> {
        if uses.is_empty() {
            return Ok(());
        }
        let (now, machine_now) = (self.inner.clock.now(), Clock::System.now());
        self.inner.store.write(|rows| {
            for (id, at) in &uses.keys {
                store::keys::record_use(rows, *id, Timestamp(*at).min(now))?;
            }
            for (id, at) in &uses.sessions {
                store::sessions::record_use(rows, *id, Timestamp(*at).min(machine_now), machine_now)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Returns until when the server may write.
    pub fn lease(&self) -> &Lease {
        self.inner.store.lease()
    }
}
