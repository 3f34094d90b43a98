//! On whose behalf reads and writes run, and what they cost.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::domain::principals::Principal;

/// Whose work it is. The work of different owners takes turns; see [`super::Scheduler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkOwner {
    /// A team or an operator, whose API key is valid.
    Principal(Principal),
    /// A client whose API key has not been checked, by its network.
    Client(IpAddr),
    /// This process: background jobs, commands, and agents over stdio.
    Process,
}

/// The time that the reads and writes of one request have taken.
#[derive(Clone, Debug, Default)]
pub struct CostMeter(Arc<AtomicU64>);

impl CostMeter {
    fn add(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the total time so far.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}

/// On whose behalf a read or write runs, and the meter of the request that it belongs to. Each entry point of
/// the market takes one, so no work runs outside of someone's share.
#[derive(Clone, Debug)]
pub struct Requester {
    owner: WorkOwner,
    cost: Option<CostMeter>,
}

impl Requester {
    /// Creates a requester whose costs are added to `cost`.
    pub const fn new(owner: WorkOwner, cost: CostMeter) -> Requester {
        Requester { owner, cost: Some(cost) }
    }

    /// Creates a requester whose costs are not counted.
    pub const fn unmetered(owner: WorkOwner) -> Requester {
        Requester { owner, cost: None }
    }

    /// Creates the requester of background jobs and commands.
    pub const fn process() -> Requester {
        Requester::unmetered(WorkOwner::Process)
    }

    /// Returns the same request on behalf of a principal, after its key was checked.
    #[must_use]
    pub fn into_principal(self, principal: Principal) -> Requester {
        match self.owner {
            WorkOwner::Process => self,
            WorkOwner::Client(_) | WorkOwner::Principal(_) => {
                Requester { owner: WorkOwner::Principal(principal), cost: self.cost }
            }
        }
    }

    /// Returns whose work it is.
    pub const fn owner(&self) -> WorkOwner {
        self.owner
    }

    /// Adds time that a read or a write has taken to the meter.
    pub(super) fn count(&self, time: Duration) {
        if let Some(cost) = &self.cost {
            cost.add(time);
        }
    }
}
