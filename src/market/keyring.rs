//! API keys as requests meet them: looked up by their digest, remembered until anything is written, and noted as used.

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

/// How long uses of keys are gathered before they are written, in microseconds.
const KEEP_EVERY: i64 = 60_000_000;

/// Who a key speaks for.
#[derive(Debug)]
pub struct Holder {
    /// The team.
    pub team: Team,
    standing: Standing,
}

/// Keys that were met since the last write, and when keys were used since that was last kept.
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
    /// An empty keyring. Keys that a fixture stated in clear text count only where they are allowed.
    pub fn new(allows_fixtures: bool) -> Keyring {
        Keyring { allows_fixtures, met: RwLock::default(), uses: Mutex::default() }
    }

    /// The digest under which a key is kept.
    pub fn digest(key: &str) -> [u8; 32] {
        Sha256::digest(key.as_bytes()).into()
    }

    /// Who a key speaks for, where it was met since the last write; then no row is read.
    pub fn remembered(&self, key: &str, now: Timestamp) -> Option<Result<Arc<Holder>>> {
        let met = self.met.read().unwrap_or_else(PoisonError::into_inner);
        let holder = met.get(&Keyring::digest(key)).cloned()?;
        drop(met);
        Some(self.admit(holder, now))
    }

    /// Who a key speaks for.
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

    /// Forgets what was met: something was written.
    pub fn forget(&self) {
        self.met.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Writes when keys were used, about once a minute.
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
        "This API key is not known. Check that the whole key is sent, and that it is one of this server's."
            .to_owned(),
    )
}
