//! The open connections, and the choice of a connection to close for a new one.
//!
//! A connection on which no request is running is *idle*: it was opened and sends its request head, or it waits
//! for its next request. When there are too many connections, or too many idle ones of a client network, the
//! oldest idle connection of the network with the most is closed. A connection with a running request never is.

use std::{
    cmp::Reverse,
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::timeout};

use crate::{ConnectionSettings, client_network::client_network, trusted_proxies::TrustedProxies};

/// The share of all connections that only networks with few connections can use, as a divisor: the last eighth.
const RESERVE_DIVISOR: u32 = 8;

/// Maximum number of connections of a network that can use the reserve, as a divisor of all connections.
const FEW_DIVISOR: u32 = 64;

/// Maximum time that a new connection waits for another to become idle or to end. Further connections wait behind
/// it meanwhile.
const MAX_ADMISSION_TIME: Duration = Duration::from_secs(1);

/// The state of a connection with a running request.
const BUSY: u64 = 0;

/// The state of a connection that is about to be closed.
const EVICTED: u64 = u64::MAX;

/// Limits on the number of connections; 0 for no limit, except for `total`.
#[derive(Clone, Copy, Debug)]
pub struct TableLimits {
    /// All connections.
    pub total: u32,
    /// The connections of a client network.
    pub per_network: u32,
    /// The idle connections of a client network.
    pub idle_per_network: u32,
}

impl TableLimits {
    /// Takes the limits from the settings.
    pub const fn new(settings: &ConnectionSettings) -> TableLimits {
        TableLimits {
            total: settings.max_connections,
            per_network: settings.max_connections_per_address,
            idle_per_network: settings.max_idle_connections_per_address,
        }
    }

    /// Returns the limits for a proxy, whose connections are those of many clients.
    const fn without_shares(self) -> TableLimits {
        TableLimits { per_network: 0, idle_per_network: 0, ..self }
    }

    /// Returns the number of connections up to which a network with `open` connections can open another one.
    const fn total_for(&self, open: u32) -> u32 {
        let has_few = open == 0 || open < self.total / FEW_DIVISOR;
        if has_few { self.total } else { self.total - self.total / RESERVE_DIVISOR }
    }
}

/// All open connections.
#[derive(Debug)]
pub struct ConnectionTable {
    limits: TableLimits,
    proxies: TrustedProxies,
    entries: Mutex<Entries>,
    /// Number of connections, without those that are about to be closed.
    open: AtomicU32,
    /// The number that the next connection to become idle gets, which orders them by age.
    next_idle: AtomicU64,
    /// Whether [`ConnectionTable::admit`] waits for a connection to become idle or to end.
    is_waiting: AtomicBool,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    next_id: u64,
    connections: HashMap<u64, Arc<Connection>>,
    networks: HashMap<IpAddr, Arc<Network>>,
}

/// The numbers of connections of a client network.
#[derive(Debug, Default)]
struct Network {
    /// All that are in the table.
    present: AtomicU32,
    /// All but those that are about to be closed.
    open: AtomicU32,
    /// The idle ones among those.
    idle: AtomicU32,
}

/// An open connection.
#[derive(Debug)]
pub struct Connection {
    table: Arc<ConnectionTable>,
    network: Arc<Network>,
    /// Maximum number of idle connections of its network; 0 for no limit.
    idle_per_network: u32,
    /// [`BUSY`], [`EVICTED`], or since when it is idle, as a number of `next_idle`.
    state: AtomicU64,
    evicted: Notify,
}

/// Why a connection cannot be admitted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// The connections that the network can use have running requests, but other networks can use more.
    Network,
    /// All connections have running requests, so no other network could use one, either.
    Total,
}

impl ConnectionTable {
    /// Creates an empty table. The limits of one client network do not apply to these proxies.
    pub fn new(limits: TableLimits, proxies: TrustedProxies) -> Arc<ConnectionTable> {
        Arc::new(ConnectionTable {
            limits,
            proxies,
            entries: Mutex::default(),
            open: AtomicU32::new(0),
            next_idle: AtomicU64::new(1),
            is_waiting: AtomicBool::new(false),
            changed: Notify::new(),
        })
    }

    /// Admits a new connection if few enough are open, or if an idle one can be closed in its favor.
    ///
    /// If all connections have running requests, it waits for one of them to become idle or to end, for up to
    /// [`MAX_ADMISSION_TIME`]. If another network could use a connection, it does not wait, since clients of that network would
    /// have to wait behind it. Returns none if the connection is not admitted.
    pub async fn admit(self: &Arc<Self>, address: IpAddr) -> Option<OpenConnection> {
        let attempts = async {
            loop {
                // A change between this attempt and the wait is not missed, since it leaves a permit to continue.
                self.is_waiting.store(true, SeqCst);
                match self.try_admit(address) {
                    Err(Refusal::Total) => self.changed.notified().await,
                    admitted => return admitted.ok(),
                }
            }
        };
        let admitted = timeout(MAX_ADMISSION_TIME, attempts).await.ok().flatten();
        self.is_waiting.store(false, SeqCst);
        admitted
    }

    fn try_admit(self: &Arc<Self>, address: IpAddr) -> Result<OpenConnection, Refusal> {
        let limits = if self.proxies.are_at(address) { self.limits.without_shares() } else { self.limits };
        let TableLimits { per_network, idle_per_network, .. } = limits;
        let address = client_network(address);
        let mut entries = self.lock();
        let network = Arc::clone(entries.networks.entry(address).or_default());
        let open = network.open.load(SeqCst);
        let total = self.limits.total_for(open);
        let room = if per_network > 0 && open >= per_network && !entries.evict(Some(&network)) {
            Err(Refusal::Network)
        } else if self.open.load(SeqCst) >= total && !entries.evict(None) {
            Err(if total < self.limits.total { Refusal::Network } else { Refusal::Total })
        } else {
            Ok(())
        };
        if let Err(refusal) = room {
            entries.remove_empty_network(address);
            return Err(refusal);
        }
        if idle_per_network > 0 && network.idle.load(SeqCst) >= idle_per_network {
            entries.evict(Some(&network));
        }
        self.open.fetch_add(1, SeqCst);
        network.present.fetch_add(1, SeqCst);
        network.open.fetch_add(1, SeqCst);
        network.idle.fetch_add(1, SeqCst);
        let connection = Arc::new(Connection {
            table: Arc::clone(self),
            network,
            idle_per_network,
            state: AtomicU64::new(self.next_idle.fetch_add(1, SeqCst)),
            evicted: Notify::new(),
        });
        let id = entries.next_id;
        entries.next_id += 1;
        entries.connections.insert(id, Arc::clone(&connection));
        Ok(OpenConnection { connection, id, address })
    }

    /// Closes the oldest idle connection of the network with the most, for instance because the process has no
    /// file descriptor left.
    pub fn evict_one(&self) {
        self.lock().evict(None);
    }

    /// Tells [`ConnectionTable::admit`] that a connection became idle or ended.
    fn notify(&self) {
        if self.is_waiting.load(SeqCst) {
            self.changed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    /// Closes the oldest idle connection of a network, or of the network with the most of them. Returns whether
    /// there was one.
    fn evict(&self, network: Option<&Arc<Network>>) -> bool {
        // A connection can become busy while this compares them, and then the next one is chosen.
        loop {
            let idle = self.connections.values().filter_map(|connection| {
                let state = connection.state.load(SeqCst);
                let is_candidate = state != BUSY
                    && state != EVICTED
                    && network.is_none_or(|network| Arc::ptr_eq(network, &connection.network));
                is_candidate.then_some((connection.network.idle.load(SeqCst), Reverse(state), connection))
            });
            let Some((_, Reverse(state), connection)) = idle.max_by_key(|(idle, age, _)| (*idle, *age))
            else {
                return false;
            };
            if connection.state.compare_exchange(state, EVICTED, SeqCst, SeqCst).is_ok() {
                connection.network.idle.fetch_sub(1, SeqCst);
                connection.leave();
                connection.evicted.notify_one();
                return true;
            }
        }
    }

    fn remove_empty_network(&mut self, address: IpAddr) {
        if self.networks.get(&address).is_some_and(|network| network.present.load(SeqCst) == 0) {
            self.networks.remove(&address);
        }
    }
}

impl Connection {
    /// Marks the connection as busy: a request has begun.
    pub fn begin_request(&self) {
        match self.state.swap(BUSY, SeqCst) {
            BUSY => {}
            EVICTED => {
                // Its request arrived before it was closed, so it stays open.
                self.network.open.fetch_add(1, SeqCst);
                self.table.open.fetch_add(1, SeqCst);
            }
            _ => {
                self.network.idle.fetch_sub(1, SeqCst);
            }
        }
    }

    /// Marks the connection as idle: the response is sent, or the connection waits to be closed.
    pub fn end_request(&self) {
        if self.state.load(SeqCst) != BUSY {
            return;
        }
        // Counted before it can be evicted, which ends the count.
        let idle = self.network.idle.fetch_add(1, SeqCst) + 1;
        self.state.store(self.table.next_idle.fetch_add(1, SeqCst), SeqCst);
        let limit = self.idle_per_network;
        if limit > 0 && idle > limit {
            self.table.lock().evict(Some(&self.network));
        }
        self.table.notify();
    }

    /// Whether a request is running.
    pub fn is_busy(&self) -> bool {
        self.state.load(SeqCst) == BUSY
    }

    /// Waits until the connection must be closed in favor of another one.
    pub async fn evicted(&self) {
        while self.state.load(SeqCst) != EVICTED {
            self.evicted.notified().await;
        }
    }

    /// Ends the count as an open connection.
    fn leave(&self) {
        self.network.open.fetch_sub(1, SeqCst);
        self.table.open.fetch_sub(1, SeqCst);
    }
}

/// A connection in the table, which it leaves when this is dropped.
#[derive(Debug)]
pub struct OpenConnection {
    connection: Arc<Connection>,
    id: u64,
    address: IpAddr,
}

impl OpenConnection {
    /// Returns the connection.
    pub const fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let table = Arc::clone(&self.connection.table);
        let mut entries = table.lock();
        // Within the lock, so that the connection cannot be evicted in between.
        match self.connection.state.swap(EVICTED, SeqCst) {
            EVICTED => {}
            state => {
                if state != BUSY {
                    self.connection.network.idle.fetch_sub(1, SeqCst);
                }
                self.connection.leave();
            }
        }
        entries.connections.remove(&self.id);
        self.connection.network.present.fetch_sub(1, SeqCst);
        entries.remove_empty_network(self.address);
        drop(entries);
        table.notify();
    }
}

#[cfg(test)]
mod tests;
