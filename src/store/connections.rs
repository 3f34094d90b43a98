//! The connections of a database: several for reading and one for writing, or a single one for both.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rusqlite::Connection;

use super::{
    private_connection::{PrivateConnection, PrivateDatabase},
    read_connections::{ReadConnection, ReadConnections},
};
use crate::error::Result;

/// The connections of a database.
#[derive(Debug)]
pub(super) enum Connections {
    /// For a database that other processes may use.
    Shared {
        /// The connections that read.
        readers: Arc<ReadConnections>,
        /// The connection that writes.
        writer: Mutex<Connection>,
    },
    /// For a database that nothing else uses.
    Private(Arc<PrivateDatabase>),
}

impl Connections {
    pub(super) fn new(readers: Arc<ReadConnections>, writer: Connection) -> Connections {
        Connections::Shared { readers, writer: Mutex::new(writer) }
    }

    /// Returns a connection for reading. Waits until one is free.
    pub(super) fn reader(&self) -> Result<AnyReadConnection> {
        match self {
            Connections::Shared { readers, .. } => readers.get().map(UsedConnection::Shared),
            Connections::Private(database) => database.get().map(UsedConnection::Private),
        }
    }

    /// Returns a connection for reading if one is free now.
    pub(super) fn try_reader(&self) -> Option<AnyReadConnection> {
        match self {
            Connections::Shared { readers, .. } => readers.try_get().map(UsedConnection::Shared),
            Connections::Private(database) => database.try_get().map(UsedConnection::Private),
        }
    }

    /// Returns the connection for writing. Waits until it is free.
    pub(super) fn writer(&self) -> Result<WriteConnection<'_>> {
        match self {
            // A panic during a write rolled its transaction back, so the connection is still usable.
            Connections::Shared { writer, .. } => {
                Ok(UsedConnection::Shared(writer.lock().unwrap_or_else(PoisonError::into_inner)))
            }
            Connections::Private(database) => database.get().map(UsedConnection::Private),
        }
    }
}

/// A connection that is in use: one of a shared database, or that of a private one. Dropping it returns it.
#[derive(Debug)]
pub(super) enum UsedConnection<S> {
    Shared(S),
    Private(PrivateConnection),
}

/// A connection for reading that is in use.
pub(super) type AnyReadConnection = UsedConnection<ReadConnection>;

/// The connection for writing while it is in use.
pub(super) type WriteConnection<'s> = UsedConnection<MutexGuard<'s, Connection>>;

impl WriteConnection<'_> {
    /// Limits the size of the log of a private database. SQLite does so itself for the others.
    pub(super) fn limit_log(&mut self) {
        if let UsedConnection::Private(connection) = self {
            connection.limit_log();
        }
    }
}

impl<S: Deref<Target = Connection>> Deref for UsedConnection<S> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match self {
            UsedConnection::Shared(connection) => connection,
            UsedConnection::Private(connection) => connection,
        }
    }
}

impl<S: DerefMut<Target = Connection>> DerefMut for UsedConnection<S> {
    fn deref_mut(&mut self) -> &mut Connection {
        match self {
            UsedConnection::Shared(connection) => connection,
            UsedConnection::Private(connection) => connection,
        }
    }
}
