//! The cache of API keys: keys are looked up by digest, and cached until the next write. Uses of keys and sessions are recorded, or
//! reported by a replica.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{
    replication::{MAX_REPORTED_USES, Uses},
    requester::UsedKey,
};
use crate::{
    domain::{
        principals::{KeyOwner, PrincipalKind},
        row_ids::KeyRowId,
        time::Timestamp,
    },
    error::{Error, Result},
    store::{self, Store, keys::KeyValidity},
};

/// Interval at which uses of keys are written to the database, in microseconds. If uses of sessions could not be written, they are
/// written again after the same interval.
const FLUSH_INTERVAL: i64 = 60_000_000;

/// The owner of a key, with the state of the key.
#[derive(Debug)]
pub struct CachedKey {
    /// The owner of the key.
    pub owner: KeyOwner,
    state: KeyValidity,
}

impl CachedKey {
    /// Returns the ID of the key.
    pub const fn id(&self) -> Uuid {
        self.state.id
    }

    /// Returns the row ID of the key.
    pub const fn row_id(&self) -> KeyRowId {
        self.state.row_id
    }

    /// Whether the APIs and the agent server accept the key.
    pub const fn permits_api(&self) -> bool {
        match self.owner {
            KeyOwner::Team(_) => self.state.team_scope.permits_api(),
            KeyOwner::Operator(_) => true,
        }
    }

    /// Whether a person can sign in to the console with the key.
    pub const fn permits_console(&self) -> bool {
        match self.owner {
            KeyOwner::Team(_) => self.state.team_scope.permits_console(),
            KeyOwner::Operator(key) => key.scope.permits_console(),
        }
    }
}

/// The keys looked up since the last write, and the uses of keys and sessions that are not yet in the database.
#[derive(Debug)]
pub struct KeyCache {
    allow_fixture_keys: bool,
    entries: RwLock<Entries>,
    pending_uses: Mutex<PendingUses>,
}

#[derive(Debug, Default)]
struct Entries {
    by_digest: HashMap<[u8; 32], Arc<CachedKey>>,
    /// Number of times that the entries were cleared.
    clearings: u64,
}

#[derive(Debug, Default)]
struct PendingUses {
    by_key: HashMap<Uuid, Timestamp>,
    by_session: HashMap<Uuid, Timestamp>,
    /// Uses of sessions that [`KeyCache::flush_session_uses`] last wrote or is writing. A read that began before the write does not
    /// see them in the database.
    flushed_sessions: HashMap<Uuid, Timestamp>,
    /// When uses of sessions could last not be written; `None` if the last write succeeded.
    session_failure: Option<Timestamp>,
    flushed_at: Timestamp,
    /// The times that [`KeyCache::flush_all_uses`] has written.
    written: HashMap<Uuid, Timestamp>,
}

impl KeyCache {
    /// Creates an empty cache. Keys that a fixture defines in plain text are valid only if
    /// `allow_fixture_keys` is set.
    pub fn new(allow_fixture_keys: bool) -> KeyCache {
        KeyCache { allow_fixture_keys, entries: RwLock::default(), pending_uses: Mutex::default() }
    }

    /// Returns the SHA-256 digest under which a key is stored.
    pub fn digest(key: &str) -> [u8; 32] {
        Sha256::digest(key.as_bytes()).into()
    }

    /// Returns the owner of a key if the key is cached, without a database read.
    pub fn get_cached(&self, key: &str, now: Timestamp) -> Option<Result<Arc<CachedKey>>> {
        let entry = self.read_entries().by_digest.get(&KeyCache::digest(key)).cloned()?;
        Some(self.validate(entry, now))
    }

    /// Looks up the owner of a key in the database, and caches it. Fails if the key is invalid.
    pub fn load(&self, rows: &store::Reader, key: &str, now: Timestamp) -> Result<Arc<CachedKey>> {
        let digest = KeyCache::digest(key);
        // Read before the row: if the cache is cleared from now on, the row may be outdated.
        let clearings = self.read_entries().clearings;
        let Some((owner, state)) = store::keys::find_by_digest(rows, &digest)? else {
            return Err(invalid_key());
        };
        let key = Arc::new(CachedKey { owner, state });
        let valid_key = self.validate(Arc::clone(&key), now)?;
        let mut entries = self.write_entries();
        if entries.clearings == clearings {
            entries.by_digest.insert(digest, key);
        }
        drop(entries);
        Ok(valid_key)
    }

    /// Checks a key that was not looked up by its digest, and records its use. Fails if the key is invalid.
    pub fn check(&self, owner: KeyOwner, state: KeyValidity, now: Timestamp) -> Result<Arc<CachedKey>> {
        self.validate(Arc::new(CachedKey { owner, state }), now)
    }

    /// Clears the cache. Called after every write, since any write may change a key or a team.
    pub fn clear(&self) {
        let mut entries = self.write_entries();
        entries.by_digest.clear();
        entries.clearings += 1;
    }

    fn read_entries(&self) -> RwLockReadGuard<'_, Entries> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_entries(&self) -> RwLockWriteGuard<'_, Entries> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether there are uses that [`KeyCache::flush_uses`] or [`KeyCache::flush_session_uses`] has not written.
    pub fn has_pending_uses(&self) -> bool {
        let uses = self.lock_uses();
        !(uses.by_key.is_empty() && uses.by_session.is_empty())
    }

    /// Returns whether there are key uses that [`KeyCache::flush_all_uses`] would write.
    pub fn has_unwritten_uses(&self) -> bool {
        let uses = self.lock_uses();
        uses.by_key.iter().any(|(key, at)| uses.written.get(key) != Some(at))
    }

    /// Writes the times of key uses to the database, about once a minute.
    pub fn flush_uses(&self, store: &Store, now: Timestamp) -> Result<()> {
        let by_key = {
            let mut uses = self.lock_uses();
            // The clock may have been set back.
            let next_flush = uses.flushed_at.plus_micros(FLUSH_INTERVAL);
            if uses.by_key.is_empty() || (uses.flushed_at..next_flush).contains(&now) {
                return Ok(());
            }
            uses.flushed_at = now;
            std::mem::take(&mut uses.by_key)
        };
        let record = |rows: &store::Writer| {
            by_key.iter().try_for_each(|(key, at)| store::keys::record_use(rows, *key, *at))
        };
        store.write(record).map(drop).inspect_err(|_| {
            let mut uses = self.lock_uses();
            for (key, at) in &by_key {
                uses.by_key.entry(*key).or_insert(*at);
            }
        })
    }

    /// Writes the times of all key uses to the database. Writes nothing for keys that were used at the same time before.
    pub fn flush_all_uses(&self, store: &Store) -> Result<()> {
        let new: Vec<(Uuid, Timestamp)> = {
            let uses = self.lock_uses();
            let is_new = |(key, at): &(&Uuid, &Timestamp)| uses.written.get(key) != Some(at);
            uses.by_key.iter().filter(is_new).map(|(key, at)| (*key, *at)).collect()
        };
        if !new.is_empty() {
            let record = |rows: &store::Writer| {
                new.iter().try_for_each(|(key, at)| store::keys::record_use(rows, *key, *at))
            };
            store.write(record)?;
        }
        let mut uses = self.lock_uses();
        let PendingUses { by_key, written, .. } = &mut *uses;
        written.extend(new.iter().copied());
        // A use at a later time stays.
        by_key.retain(|key, at| written.get(key) != Some(at));
        Ok(())
    }

    /// Notes the use of a session. [`KeyCache::flush_session_uses`] writes it; a replica reports it to the primary instead. At most
    /// one use is noted for each session that has not ended.
    pub fn note_session_use(&self, session: Uuid, at: Timestamp) {
        self.lock_uses().by_session.insert(session, at);
    }

    /// Returns the last noted use of a session, which the database may lack; `None` if the database has all uses.
    pub fn pending_session_use(&self, session: Uuid) -> Option<Timestamp> {
        let uses = self.lock_uses();
        uses.by_session.get(&session).or_else(|| uses.flushed_sessions.get(&session)).copied()
    }

    /// Returns the noted uses of sessions, which the database may lack.
    pub fn noted_session_uses(&self) -> HashMap<Uuid, Timestamp> {
        let uses = self.lock_uses();
        let mut noted = uses.flushed_sessions.clone();
        noted.extend(&uses.by_session);
        noted
    }

    /// Writes the times of uses of sessions to the database, in one transaction. After a failure, does nothing for a minute. `now`
    /// is the system time. Only one thread may call this at a time.
    pub fn flush_session_uses(&self, store: &Store, now: Timestamp) -> Result<()> {
        let by_session = {
            let mut uses = self.lock_uses();
            let is_paused =
                uses.session_failure.is_some_and(|at| (at..at.plus_micros(FLUSH_INTERVAL)).contains(&now));
            if uses.by_session.is_empty() || is_paused {
                return Ok(());
            }
            uses.flushed_sessions = std::mem::take(&mut uses.by_session);
            uses.flushed_sessions.clone()
        };
        let record = |rows: &store::Writer| {
            by_session
                .iter()
                .try_for_each(|(id, at)| store::sessions::record_use(rows, *id, (*at).min(now), now))
        };
        let written = store.write(record).map(drop);
        let mut uses = self.lock_uses();
        uses.session_failure = written.is_err().then_some(now);
        if written.is_err() {
            for (id, at) in by_session {
                uses.by_session.entry(id).or_insert(at);
            }
        }
        drop(uses);
        written
    }

    /// Takes the uses that a replica has not reported: of each kind, at most [`MAX_REPORTED_USES`].
    pub fn take_uses(&self) -> Uses {
        let mut uses = self.lock_uses();
        let take = |by_id: &mut HashMap<Uuid, Timestamp>| {
            let taken: Vec<Uuid> = by_id.keys().copied().take(MAX_REPORTED_USES).collect();
            taken.into_iter().filter_map(|id| Some((id, by_id.remove(&id)?.0))).collect()
        };
        let taken = Uses { keys: take(&mut uses.by_key), sessions: take(&mut uses.by_session) };
        if !taken.sessions.is_empty() {
            // The copy of a replica has them only after the primary has written and replicated them.
            uses.flushed_sessions = taken.sessions.iter().map(|(id, at)| (*id, Timestamp(*at))).collect();
        }
        taken
    }

    /// Keeps uses that could not be reported. Later uses win.
    pub fn keep_uses(&self, unreported: &Uses) {
        let mut uses = self.lock_uses();
        let PendingUses { by_key, by_session, .. } = &mut *uses;
        for (kept, ids) in [(by_key, &unreported.keys), (by_session, &unreported.sessions)] {
            for (id, at) in ids {
                kept.entry(*id).or_insert(Timestamp(*at));
            }
        }
    }

    fn lock_uses(&self) -> MutexGuard<'_, PendingUses> {
        self.pending_uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn validate(&self, key: Arc<CachedKey>, now: Timestamp) -> Result<Arc<CachedKey>> {
        let state = &key.state;
        if state.is_fixture && !self.allow_fixture_keys {
            return Err(invalid_key());
        }
        if state.revoked_at.is_some_and(|at| at <= now) {
            return Err(ended_key(&key.owner, "was revoked"));
        }
        if state.expires_at.is_some_and(|at| at <= now) {
            return Err(ended_key(&key.owner, "has expired"));
        }
        let mut uses = self.lock_uses();
        uses.by_key.insert(state.id, now);
        drop(uses);
        Ok(key)
    }
}

/// Fails if a key, or the session that it was used in, has ended since the request was authenticated: its body can arrive much
/// later.
pub(super) fn check_has_not_ended(rows: &store::Reader, used: UsedKey, now: Timestamp) -> Result<()> {
    let key = store::keys::find_by_row_id(rows, used.row_id)?.filter(|key| key.id == used.id);
    let message = if key.is_none_or(|key| !key.status(now).is_valid()) {
        "This API key was revoked or has expired while the request was being sent. Nothing was changed. Use another key."
    } else if let Some(session) = used.session
        && !store::sessions::exists(rows, session)?
    {
        "You were signed out while this was being sent. Nothing was changed. Sign in again."
    } else {
        return Ok(());
    };
    Err(Error::Unauthorized(message.to_owned()))
}

fn ended_key(owner: &KeyOwner, reason: &str) -> Error {
    let other = match owner.principal().kind() {
        PrincipalKind::Team => "another key of your team",
        PrincipalKind::Operator => "another operator key",
    };
    Error::Unauthorized(format!("This API key {reason}. Use {other}."))
}

fn invalid_key() -> Error {
    Error::Unauthorized(
        "The API key is invalid. Check that you sent the complete key, and that this server issued it."
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::Durability;

    #[test]
    fn uses_of_sessions_that_cannot_be_written_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("market.sqlite");
        let store = Store::open(&path, 1, Durability::None).unwrap();
        let id = Uuid::new_v4();
        let last_use = store::sessions::add_without_key(&path, id, Timestamp(10));
        let uses = KeyCache::new(false);
        uses.note_session_use(id, Timestamp(50));
        store.lease().set_end(Duration::ZERO);
        uses.flush_session_uses(&store, Timestamp(60)).unwrap_err();
        store.lease().set_end(Duration::MAX);
        assert!(uses.has_pending_uses());
        uses.flush_session_uses(&store, Timestamp(70)).unwrap();
        assert_eq!(last_use(), Timestamp(10), "it pauses after a failure");
        assert_eq!(uses.pending_session_use(id), Some(Timestamp(50)));
        uses.flush_session_uses(&store, Timestamp(60 + FLUSH_INTERVAL)).unwrap();
        assert_eq!(last_use(), Timestamp(50));
        assert!(!uses.has_pending_uses());
        assert_eq!(uses.pending_session_use(id), Some(Timestamp(50)), "for reads that have begun before");
        uses.note_session_use(id, Timestamp(80));
        assert_eq!(uses.noted_session_uses(), HashMap::from([(id, Timestamp(80))]));
        assert_eq!(uses.take_uses().sessions, [(id, 80)]);
    }
}
