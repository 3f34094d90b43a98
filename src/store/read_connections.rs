//! The read connections of a database. They are opened on demand. Unlike the usual pools, this one needs no
//! thread for background checks.

use std::{
    ops::Deref,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use super::connection_settings::configure_reader;
use crate::error::{Error, Result};

/// How long a read waits for a connection. The market does not admit more reads than there are connections, so
/// only a stuck read takes that long.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// Read connections, of which at most a fixed number is open.
#[derive(Debug)]
pub(super) struct ReadConnections {
    name: PathBuf,
    flags: OpenFlags,
    max_open: u32,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    free: Vec<Connection>,
    open: u32,
}

/// A connection that is in use. Dropping it returns it.
#[derive(Debug)]
pub(super) struct ReadConnection {
    connections: Arc<ReadConnections>,
    /// `None` only while it is dropped.
    connection: Option<Connection>,
}

impl ReadConnections {
    /// Creates the connections of a database, given by a path or a URI, and opens one of them.
    pub(super) fn open(
        name: PathBuf,
        flags: OpenFlags,
        max_open: u32,
    ) -> rusqlite::Result<Arc<ReadConnections>> {
        let connections =
            ReadConnections { name, flags, max_open, state: Mutex::default(), returned: Condvar::new() };
        let first = connections.connect()?;
        *connections.lock() = State { free: vec![first], open: 1 };
        Ok(Arc::new(connections))
    }

    /// Returns a connection if one is free, or can be opened, now.
    pub(super) fn try_get(self: &Arc<Self>) -> Option<ReadConnection> {
        self.take(self.lock())?.ok()
    }

    /// Returns a connection. Waits until one is free.
    pub(super) fn get(self: &Arc<Self>) -> Result<ReadConnection> {
        let is_none_free = |state: &mut State| state.free.is_empty() && state.open >= self.max_open;
        let waited = self.returned.wait_timeout_while(self.lock(), MAX_WAIT, is_none_free);
        match self.take(waited.unwrap_or_else(PoisonError::into_inner).0) {
            Some(connection) => Ok(connection?),
            None => {
                tracing::warn!("no database connection became free");
                Err(Error::AtCapacity { retry_seconds: 1 })
            }
        }
    }

    /// Takes a free connection, or opens one; `None` if the maximum number is in use.
    fn take(self: &Arc<Self>, mut state: MutexGuard<State>) -> Option<rusqlite::Result<ReadConnection>> {
        let connection = match state.free.pop() {
            Some(connection) => Ok(connection),
            None if state.open >= self.max_open => return None,
            None => {
                state.open += 1;
                drop(state);
                self.connect().inspect_err(|_| {
                    self.lock().open -= 1;
                    self.returned.notify_one();
                })
            }
        };
        let connections = Arc::clone(self);
        Some(connection.map(|connection| ReadConnection { connections, connection: Some(connection) }))
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(&self.name, self.flags)?;
        configure_reader(&connection)?;
        Ok(connection)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for ReadConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect("it is only taken when it is dropped")
    }
}

impl Drop for ReadConnection {
    fn drop(&mut self) {
        self.connections.lock().free.extend(self.connection.take());
        self.connections.returned.notify_one();
    }
}
