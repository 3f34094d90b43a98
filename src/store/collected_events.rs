//! Events that are collected before they are appended to the outbox, in the order of their times: a temporary database
//! of its own, which SQLite keeps in a file once it is large, and deletes when it is closed.

use rusqlite::Connection;

use super::{
    Writer,
    events::{self, NewEvent},
};
use crate::{
    domain::teams::TeamRowId,
    error::{Error, Result},
};

/// Page cache of the temporary database in KiB. The rest is in a file.
const CACHE_KIB: i64 = 8_000;

const SCHEMA: &str = "
    CREATE TABLE events (
        occurred_at INTEGER,
        id INTEGER,
        type TEXT NOT NULL,
        team INTEGER,
        subject TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (occurred_at, id)
    ) WITHOUT ROWID;
    BEGIN;";

/// Collected events. They are deleted on drop.
#[derive(Debug)]
pub struct CollectedEvents {
    connection: Connection,
    /// Number of events so far.
    count: std::cell::Cell<i64>,
}

impl CollectedEvents {
    /// Creates an empty temporary database.
    pub fn new() -> Result<CollectedEvents> {
        let connection = Connection::open("")?;
        connection.pragma_update(None, "journal_mode", "OFF")?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.execute_batch(SCHEMA)?;
        Ok(CollectedEvents { connection, count: std::cell::Cell::new(0) })
    }

    /// Adds an event.
    pub fn add(&self, event: &NewEvent) -> Result<()> {
        const SQL: &str = "INSERT INTO events (occurred_at, id, type, team, subject, data)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let id = self.count.get() + 1;
        let kind = event.data.event_type();
        let data = event.data.to_json().map_err(Error::internal)?;
        self.connection.prepare_cached(SQL)?.execute((
            event.occurred_at,
            id,
            kind,
            event.team,
            event.subject,
            data,
        ))?;
        self.count.set(id);
        Ok(())
    }

    /// Appends all events to the outbox, in the order of their times. Events with equal times keep their order.
    pub fn append_to_outbox(&self, writer: &Writer) -> Result<()> {
        const SQL: &str =
            "SELECT type, occurred_at, team, subject, data FROM events ORDER BY occurred_at, id";
        let mut statement = self.connection.prepare(SQL)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let text = |column| row.get_ref(column)?.as_str().map_err(Error::internal);
            let (occurred_at, team): (i64, Option<TeamRowId>) = (row.get(1)?, row.get(2)?);
            events::append(writer, (text(0)?, occurred_at, team, text(3)?, text(4)?, None::<&str>))?;
        }
        Ok(())
    }
}
