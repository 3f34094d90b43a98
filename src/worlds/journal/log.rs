//! The journal of a world: its requests, in the order of their admission. The oldest are dropped if there are too many.

use std::{
    collections::{HashMap, VecDeque},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use tokio::sync::watch;

use super::{
    body::{BodyStore, RecordedBody},
    coverage::Coverage,
    entry::{JournalEntry, KeyLabel, RequestHead},
    space::{MAX_ENTRIES, SharedSpace, Space},
};
use crate::{clock::Clock, domain::time::Timestamp};

/// Maximum number of keys whose names a journal remembers.
const MAX_KEYS: usize = 1_000;

/// The digest of a key, and whether it was sent to the sandbox API.
pub type KeyDigest = ([u8; 32], bool);

/// Version of the data that determines the name of a key: the number of resets of the world, and the numbers of commits of the
/// market of the world and of the market of the server.
pub type LabelVersion = [u64; 3];

/// The journal of a world.
#[derive(Debug)]
pub struct Journal {
    bodies: Arc<BodyStore>,
    space: Arc<Space>,
    state: Mutex<State>,
    keys: Mutex<HashMap<KeyDigest, (LabelVersion, Arc<KeyLabel>)>>,
    /// Number of the last entry.
    last: watch::Sender<u64>,
    /// Coverage by the clients of this world, and by those of all worlds.
    pub(super) coverage: [Arc<Coverage>; 2],
}

#[derive(Debug, Default)]
struct State {
    entries: VecDeque<Arc<JournalEntry>>,
    /// Number of the last entry.
    last: u64,
    dropped: u64,
    deleted: u64,
}

/// A part of a journal.
#[derive(Clone, Debug)]
pub struct JournalPage {
    /// The entries, oldest first.
    pub entries: Vec<Arc<JournalEntry>>,
    /// Number of the last entry of the journal; 0 if there was none.
    pub last: u64,
    /// Number of entries that were dropped since there were too many.
    pub dropped: u64,
    /// Number of entries that were deleted on request.
    pub deleted: u64,
}

/// When a request arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub at: Timestamp,
    pub instant: Instant,
}

impl Arrival {
    pub fn now() -> Arrival {
        Arrival { at: Clock::System.now(), instant: Instant::now() }
    }
}

impl Journal {
    /// Creates an empty journal. `directory` is where it keeps long bodies, and `coverage` is that of all worlds.
    pub fn new(shared: Arc<SharedSpace>, directory: PathBuf, coverage: Arc<Coverage>) -> Arc<Journal> {
        let space = Space::new(shared);
        Arc::new(Journal {
            bodies: Arc::new(BodyStore::new(Arc::clone(&space), directory)),
            space,
            state: Mutex::default(),
            keys: Mutex::default(),
            last: watch::Sender::default(),
            coverage: [Arc::default(), coverage],
        })
    }

    /// Returns where long bodies are kept.
    pub fn bodies(&self) -> &Arc<BodyStore> {
        &self.bodies
    }

    /// Returns what the clients of the world have met.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage[0]
    }

    /// Adds a request that was admitted at a time of the world.
    pub(super) fn add(
        &self,
        at: Timestamp,
        arrival: Arrival,
        request: RequestHead,
        bodies: [Arc<RecordedBody>; 2],
    ) -> Arc<JournalEntry> {
        let waited = arrival.instant.elapsed();
        let charge = self.space.charge(request.memory());
        let mut state = self.lock();
        state.last += 1;
        let times = (arrival.at, waited);
        let entry = Arc::new(JournalEntry::new((state.last, at), times, request, bodies, charge));
        state.entries.push_back(Arc::clone(&entry));
        self.last.send_replace(state.last);
        entry
    }

    /// Drops the oldest entries while there are too many.
    pub(super) fn drop_oldest(&self) {
        let mut state = self.lock();
        while state.entries.len() > MAX_ENTRIES || state.entries.len() > 1 && self.space.is_exceeded() {
            // The memory of an entry is free when its transfer has ended, too.
            state.entries.pop_front();
            state.dropped += 1;
        }
    }

    /// Counts memory of an answer.
    pub(super) fn charge(&self, bytes: usize) -> super::space::Charge {
        self.space.charge(bytes)
    }

    /// Returns the entries after the one with this number that `is_listed` accepts, at most `limit`.
    pub fn list(&self, after: u64, limit: usize, is_listed: impl Fn(&JournalEntry) -> bool) -> JournalPage {
        let state = self.lock();
        let start = state.entries.partition_point(|entry| entry.number <= after);
        let later = state.entries.range(start..).filter(|entry| is_listed(entry));
        JournalPage {
            entries: later.take(limit).cloned().collect(),
            last: state.last,
            dropped: state.dropped,
            deleted: state.deleted,
        }
    }

    /// Returns a receiver of the number of the last entry, which is notified of each new one.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Deletes all entries. Later ones get the following numbers.
    pub fn clear(&self) {
        let mut state = self.lock();
        state.deleted += state.entries.len() as u64;
        let entries = std::mem::take(&mut state.entries);
        drop(state);
        // Deletes files.
        drop(entries);
    }

    /// Returns the name of a key, if it is stored for this version.
    pub fn label_of(&self, digest: &KeyDigest, version: LabelVersion) -> Option<Arc<KeyLabel>> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, label) = keys.get(digest).filter(|(known, _)| *known == version)?;
        Some(Arc::clone(label))
    }

    /// Stores the name of a key for this version.
    pub fn remember_label(&self, digest: KeyDigest, version: LabelVersion, label: KeyLabel) -> Arc<KeyLabel> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= MAX_KEYS {
            keys.clear();
        }
        let label = Arc::new(label);
        keys.insert(digest, (version, Arc::clone(&label)));
        label
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
