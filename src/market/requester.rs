//! On whose behalf reads and writes run, and what they cost.

use std::{net::IpAddr, sync::Arc, time::Duration};

use uuid::Uuid;

use super::cost_meter::{Activity, CostMeter};
use crate::domain::{principals::Principal, row_ids::KeyRowId};

/// Which of the open markets of a process it is. Principals of different markets can have equal row IDs, so limits that
/// several markets share have it as a part of their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MarketId(pub usize);

/// Whose work it is. The work of different owners takes turns; see [`super::Scheduler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkOwner {
    /// A team or an operator, whose API key is valid.
    Principal(MarketId, Principal),
    /// A client whose API key has not been checked, by its network.
    Client(IpAddr),
    /// This process: background jobs, commands, and agents over stdio.
    Process,
}

/// The key that a request was authenticated with. A command on the data directory has none.
#[derive(Clone, Copy, Debug)]
pub struct UsedKey {
    /// Row ID of the key.
    pub row_id: KeyRowId,
    /// ID of the key.
    pub id: Uuid,
    /// ID of the session that the key was used for; `None` if the request has the key itself.
    pub session: Option<Uuid>,
}

/// On whose behalf a read or write runs, and the meter of the request that it belongs to. Each entry point of
/// the market takes one, so no work runs outside of someone's share.
#[derive(Clone, Debug)]
pub struct Requester {
    owner: WorkOwner,
    cost: Option<CostMeter>,
    request_id: Option<Arc<str>>,
    /// The key of the request, and its market; `None` if the work is that of nobody's key.
    used_key: Option<Arc<(MarketId, UsedKey)>>,
}

impl Requester {
    /// Creates a requester whose costs are added to `cost`.
    pub const fn new(owner: WorkOwner, cost: CostMeter) -> Requester {
        Requester { owner, cost: Some(cost), request_id: None, used_key: None }
    }

    /// Creates a requester whose costs are not counted.
    pub const fn unmetered(owner: WorkOwner) -> Requester {
        Requester { owner, cost: None, request_id: None, used_key: None }
    }

    /// Creates the requester of background jobs and commands.
    pub const fn process() -> Requester {
        Requester::unmetered(WorkOwner::Process)
    }

    /// Sets the ID of the request, which events and audit entries of its writes have.
    #[must_use]
    pub fn with_request_id(self, id: &str) -> Requester {
        Requester { request_id: Some(id.into()), ..self }
    }

    /// Sets the key of a market that the request was authenticated with.
    #[must_use]
    pub fn with_key(self, market: MarketId, key: UsedKey) -> Requester {
        Requester { used_key: Some(Arc::new((market, key))), ..self }
    }

    /// Returns the requester of work that must end although the key may have ended meanwhile.
    #[must_use]
    pub fn without_key(self) -> Requester {
        Requester { used_key: None, ..self }
    }

    /// Returns the key of the request, if it is one of this market.
    pub(super) fn key_of(&self, market: MarketId) -> Option<UsedKey> {
        self.used_key.as_deref().filter(|(of, _)| *of == market).map(|(_, key)| *key)
    }

    /// Returns the ID of the request, if the work belongs to one.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Returns the same request on behalf of a principal of a market, after its key was checked.
    #[must_use]
    pub fn into_principal(self, market: MarketId, principal: Principal) -> Requester {
        match self.owner {
            WorkOwner::Process => self,
            WorkOwner::Client(_) | WorkOwner::Principal(..) => {
                Requester { owner: WorkOwner::Principal(market, principal), ..self }
            }
        }
    }

    /// Returns whose work it is.
    pub const fn owner(&self) -> WorkOwner {
        self.owner
    }

    /// Returns the meter of the request, if its costs are counted.
    pub const fn cost_meter(&self) -> Option<&CostMeter> {
        self.cost.as_ref()
    }

    /// Adds the time that work has occupied a slot to the meter.
    pub(super) fn count_work(&self, activity: Activity, time: Duration) {
        if let Some(cost) = &self.cost {
            cost.add_work(activity, time);
        }
    }

    /// Adds the time that a write has waited for the index to the meter.
    pub(super) fn count_index_wait(&self, time: Duration) {
        if let Some(cost) = &self.cost {
            cost.add_index_wait(time);
        }
    }

    /// Adds the time that work has waited for a slot to the meter.
    pub(super) fn count_wait(&self, activity: Activity, time: Duration) {
        if let Some(cost) = &self.cost {
            cost.add_wait(activity, time);
        }
    }
}
