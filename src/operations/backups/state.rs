//! Identifies the market and the state in a backup, so that a backup does not replace a newer one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::place::Place;
use crate::{
    error::{Error, Result},
    market,
    store::{self, secrets::COPY_SECRET},
};

/// A counter of earlier versions: the highest row ID of an upload. It decreases when the last upload is deleted.
const UPLOADS: &str = "uploads";

/// Which backups of the same market a new one replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Backups of earlier states of the same copy of the market.
    EarlierStates,
    /// Backups of every copy and state: the operator has allowed this.
    AnyState,
}

/// A market, and its progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MarketState {
    /// Identifies the market: a digest of a secret that it has from its first start.
    pub(super) market: String,
    /// Identifies the copy of the market: a digest of a secret that each restore creates. Empty for the
    /// original.
    #[serde(default)]
    pub(super) copy: String,
    /// Numbers that never decrease, by name. Backups of earlier versions have none.
    #[serde(default)]
    pub(super) counters: BTreeMap<String, i64>,
}

impl MarketState {
    /// Reads the state of a market.
    pub(super) fn read(rows: &store::Reader) -> Result<MarketState> {
        // The secrets cannot be computed from the digests.
        let digest = |secret: [u8; 32]| {
            let digest = Sha256::new().chain_update("marketplace backup").chain_update(secret).finalize();
            format!("{digest:x}")
        };
        let secret = store::secrets::find(rows, market::CURSOR_SECRET)?.ok_or_else(|| {
            Error::Conflict("the market was never started, so there is nothing to back up".to_owned())
        })?;
        let copy = store::secrets::find(rows, COPY_SECRET)?.map(digest).unwrap_or_default();
        let counters = store::snapshots::counters(rows)?;
        Ok(MarketState { market: digest(secret), copy, counters })
    }

    /// Checks that a backup of this state may replace an earlier one in `place`, which was made at
    /// `made_at`.
    pub(super) fn ensure_replaces(
        &self,
        earlier: &MarketState,
        place: &Place,
        made_at: &str,
        replace: Replace,
    ) -> Result<()> {
        if self.market != earlier.market {
            return Err(Error::Conflict(format!(
                "{place} contains a backup of another market; choose another directory"
            )));
        }
        if replace == Replace::AnyState {
            return Ok(());
        }
        if self.copy != earlier.copy {
            return Err(Error::Conflict(format!(
                "{place} contains a backup of another copy of this market, made at {made_at}: one of them was \
                 restored from a backup, and each may have what the other lacks; choose another directory, or add \
                 --replace if this copy has taken the place of the other"
            )));
        }
        let is_behind = |name: &str, earlier: i64| self.counters.get(name).is_none_or(|now| *now < earlier);
        if earlier.counters.iter().any(|(name, value)| name != UPLOADS && is_behind(name, *value)) {
            return Err(Error::Conflict(format!(
                "{place} contains a backup of a later state of this market, made at {made_at}: check whether \
                 --data names an old copy; if not, choose another directory, or add --replace to give up the later \
                 state"
            )));
        }
        Ok(())
    }
}
