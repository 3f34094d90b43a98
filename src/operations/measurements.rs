//! Numbers of a market for the metrics: its health, the queues of background work, and the size of the stored data.

use super::health::{FileFacts, Health};
use crate::{
    domain::time::Timestamp,
    error::Result,
    market::{DATABASE_FILE, Market, Reader},
    store::{self, market_facts::JobKindCount},
};

/// Measurements of a market at one point in time.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// Its health.
    pub health: Health,
    /// Numbers of jobs by kind and state, without those that are 0.
    pub jobs: Vec<JobKindCount>,
    /// Number of deliveries to webhooks that are pending.
    pub pending_deliveries: u64,
    /// Time at which the first of them is due.
    pub first_delivery_at: Option<Timestamp>,
    /// Size in bytes of all uploads, stored and planned.
    pub upload_bytes: u64,
    /// Size of the file of the database in bytes.
    pub database_file_bytes: u64,
}

impl Measurements {
    /// Measures a market in few statements, and some calls of the operating system. Nothing in it is about a team, so it needs no
    /// proof of access.
    pub fn read(reader: &Reader, market: &Market) -> Result<Measurements> {
        let (pending_deliveries, first_delivery_at) = store::market_facts::pending_deliveries(reader.rows)?;
        let file = std::fs::metadata(market.data_dir().join(DATABASE_FILE));
        Ok(Measurements {
            health: Health::read(reader, FileFacts::read(market)?)?,
            jobs: store::market_facts::count_jobs_by_kind(reader.rows)?,
            pending_deliveries,
            first_delivery_at,
            upload_bytes: store::market_facts::upload_bytes(reader.rows)?,
            database_file_bytes: file.map_or(0, |file| file.len()),
        })
    }

    /// Returns for how many seconds something has been due; 0 if it is not due yet.
    pub fn seconds_since(&self, due_at: Timestamp) -> f64 {
        (self.health.now.0.saturating_sub(due_at.0).max(0)) as f64 / 1e6
    }
}
