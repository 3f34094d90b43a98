//! Whether a server can do its work: the conditions, and how each is checked.

use std::{io::Write, time::Duration};

use tokio::{
    sync::Mutex,
    time::{sleep, timeout},
};

use crate::{
    clock::Stopwatch,
    error::{Error, Result},
    market::{Market, Reader, Requester},
    store,
    string_enum::string_enum,
};

/// How long a result is valid, since anybody may send any number of requests.
const VALID: Duration = Duration::from_secs(1);

/// How long reading from the database may take.
const READ_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the index may take to contain what is committed.
const INDEX_TIMEOUT: Duration = Duration::from_secs(1);

/// Interval at which the index is checked meanwhile.
const INDEX_INTERVAL: Duration = Duration::from_millis(20);

string_enum! {
    /// What must hold for a server to be ready.
    Condition {
        /// The database can be read.
        DatabaseReadable = "database_readable",
        /// No statement has found the file of the database damaged.
        DatabaseIntact = "database_intact",
        /// The database has the schema of this version of the program.
        Migrated = "migrated",
        /// The search index contains all committed changes, or will in a moment.
        IndexInStep = "index_in_step",
        /// The data directory can be written to.
        DiskWritable = "disk_writable",
        /// The reserve of the disk is free.
        ReserveFree = "reserve_free",
        /// The server is the primary of its replicas, or has none.
        IsPrimary = "is_primary",
        /// The server is not stopping.
        NotDraining = "not_draining",
    }
}

/// Checks the conditions, at most once per second.
pub struct Readiness {
    stopwatch: Stopwatch,
    last: Mutex<Option<(Duration, Vec<Condition>)>>,
}

impl Readiness {
    /// Creates the checks of a market.
    pub fn new(market: &Market) -> Readiness {
        Readiness { stopwatch: market.stopwatch(), last: Mutex::default() }
    }

    /// Returns the conditions that are not met, apart from whether the server is stopping.
    pub async fn find_failed(&self, market: &Market) -> Vec<Condition> {
        let mut last = self.last.lock().await;
        let now = self.stopwatch.elapsed();
        if let Some((at, failed)) = &*last
            && now.saturating_sub(*at) < VALID
        {
            return failed.clone();
        }
        let mut failed = check_database(market).await;
        if market.is_database_damaged() {
            failed.push(Condition::DatabaseIntact);
        }
        if !is_disk_writable(market).await {
            failed.push(Condition::DiskWritable);
        }
        if market.lease().has_ended() {
            failed.push(Condition::IsPrimary);
        }
        if market.ensure_space(0).is_err() {
            failed.push(Condition::ReserveFree);
        }
        // A check can take longer than its result is valid, so its waiters must not check again.
        *last = Some((self.stopwatch.elapsed(), failed.clone()));
        failed
    }
}

/// Checks the conditions that are read from the database.
async fn check_database(market: &Market) -> Vec<Condition> {
    let read = |reader: &Reader| {
        let is_migrated = store::market_facts::is_schema_current(reader.rows)?;
        Ok((is_migrated, store::index_queue::last_change(reader.rows)?))
    };
    let found: Result<(bool, i64)> =
        match timeout(READ_TIMEOUT, market.read(Requester::process(), read)).await {
            Ok(found) => found,
            Err(_) => Err(Error::internal("the database is too busy")),
        };
    let (is_migrated, change) = match found {
        Ok(found) => found,
        Err(cause) => {
            tracing::warn!(%cause, "the database cannot be read, so the server is not ready");
            return vec![Condition::DatabaseReadable];
        }
    };
    let mut failed = Vec::new();
    if !is_migrated {
        failed.push(Condition::Migrated);
    }
    if !is_index_in_step(market, u64::try_from(change).unwrap_or_default()).await {
        failed.push(Condition::IndexInStep);
    }
    failed
}

/// Whether the index is intact, and contains a change, or does so after a moment.
async fn is_index_in_step(market: &Market, change: u64) -> bool {
    let catch_up = async {
        while market.search_index().change() < change {
            sleep(INDEX_INTERVAL).await;
        }
    };
    !market.search_index().has_failed() && timeout(INDEX_TIMEOUT, catch_up).await.is_ok()
}

/// Whether a file in the data directory can be written.
async fn is_disk_writable(market: &Market) -> bool {
    let directory = market.data_dir().to_owned();
    // The file has no name, so nothing is left of it.
    let write = move || tempfile::tempfile_in(directory)?.write_all(b"ready");
    match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => true,
        Ok(Err(cause)) => {
            tracing::warn!(%cause, "the data directory cannot be written to, so the server is not ready");
            false
        }
        Err(_) => false,
    }
}
