//! The cache of API keys: keys are looked up by digest, cached until the next write, and their use is
//! recorded.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, RwLock},
};

use sha2::{Digest, Sha256};

use crate::{
    domain::{teams::Team, time::Timestamp},
    error::{Error, Result},
    store::{self, Store, keys::Standing},
};

/// Interval at which key uses are written to the database, in microseconds.
const KEEP_EVERY: i64 = 60_000_000;

/// The team that a key authenticates, with the state of the key.
#[derive(Debug)]
pub struct Holder {
    /// The team that the key belongs to.
    pub team: Team,
    standing: Standing,
}

/// The keys looked up since the last write, and the key uses that are not yet in the database.
#[derive(Debug)]
pub struct Keyring {
    allows_fixtures: bool,
    met: RwLock<HashMap<[u8; 32], Arc<Holder>>>,
    uses: Mutex<Uses>,
}

#[derive(Debug, Default)]
struct Uses {
    by_key: HashMap<i64, Timestamp>,
    kept_at: Timestamp,
}

impl Keyring {
    /// Creates an empty cache. Keys that a fixture defines in plain text are valid only if `allows_fixtures`
    /// is set.
    pub fn new(allows_fixtures: bool) -> Keyring {
        Keyring { allows_fixtures, met: RwLock::default(), uses: Mutex::default() }
    }

    /// Returns the SHA-256 digest under which a key is stored.
    pub fn digest(key: &str) -> [u8; 32] {
        Sha256::digest(key.as_bytes()).into()
    }

    /// Returns the team of a key if the key is cached, without a database read.
    pub fn remembered(&self, key: &str, now: Timestamp) -> Option<Result<Arc<Holder>>> {
        let met = self.met.read().unwrap_or_else(PoisonError::into_inner);
        let holder = met.get(&Keyring::digest(key)).cloned()?;
        drop(met);
        Some(self.admit(holder, now))
    }

    /// Looks up the team of a key in the database, and caches it. Fails if the key is invalid.
    pub fn find(&self, rows: &store::Reader, key: &str, now: Timestamp) -> Result<Arc<Holder>> {
        let digest = Keyring::digest(key);
        let Some((team, standing)) = store::keys::find(rows, &digest)? else {
            return Err(unknown());
        };
        let holder = Arc::new(Holder { team, standing });
        let admitted = self.admit(Arc::clone(&holder), now)?;
        self.met.write().unwrap_or_else(PoisonError::into_inner).insert(digest, holder);
        Ok(admitted)
    }

    /// Clears the cache. Called after every write, since any write may change a key or a team.
    pub fn forget(&self) {
        self.met.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Writes the times of key uses to the database, about once a minute.
    pub fn keep_uses(&self, store: &Store, now: Timestamp) -> Result<()> {
        let by_key = {
            let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
            if uses.by_key.is_empty() || now < uses.kept_at.plus_micros(KEEP_EVERY) {
                return Ok(());
            }
            uses.kept_at = now;
            std::mem::take(&mut uses.by_key)
        };
        store.write(|rows| by_key.iter().try_for_each(|(key, at)| store::keys::note_use(rows, *key, *at)))?;
        Ok(())
    }

    fn admit(&self, holder: Arc<Holder>, now: Timestamp) -> Result<Arc<Holder>> {
        let standing = &holder.standing;
        if standing.is_fixture && !self.allows_fixtures {
            return Err(unknown());
        }
        if standing.revoked_at.is_some_and(|at| at <= now) {
            return Err(Error::Unauthorized(
                "This API key was revoked. Use another key of your team.".to_owned(),
            ));
        }
        if standing.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::Unauthorized(
                "This API key has expired. Use another key of your team.".to_owned(),
            ));
        }
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.by_key.insert(standing.key, now);
        drop(uses);
        Ok(holder)
    }
}

fn unknown() -> Error {
    Error::Unauthorized(
        "The API key is invalid. Check that you sent the complete key, and that this server issued it."
            .to_owned(),
    )
}
