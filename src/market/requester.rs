//! On whose behalf reads and writes run, and what they cost.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::domain::teams::TeamRowId;

/// Whose work it is. The work of different principals takes turns; see [`super::Scheduler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Principal {
    /// A team, whose API key is valid.
    Team(TeamRowId),
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
    principal: Principal,
    cost: Option<CostMeter>,
}

impl Requester {
    /// Creates a requester whose costs are added to `cost`.
    pub const fn new(principal: Principal, cost: CostMeter) -> Requester {
        Requester { principal, cost: Some(cost) }
    }

    /// Creates a requester whose costs are not counted.
    pub const fn unmetered(principal: Principal) -> Requester {
        Requester { principal, cost: None }
    }

    /// Creates the requester of background jobs and commands.
    pub const fn process() -> Requester {
        Requester::unmetered(Principal::Process)
    }

    /// Returns the same request on behalf of a team, after its key was checked.
    #[must_use]
    pub fn into_team(self, team: TeamRowId) -> Requester {
        match self.principal {
            Principal::Process => self,
            Principal::Client(_) | Principal::Team(_) => {
                Requester { principal: Principal::Team(team), cost: self.cost }
            }
        }
    }

    /// Returns whose work it is.
    pub const fn principal(&self) -> Principal {
        self.principal
    }

    /// Adds time that a read or a write has taken to the meter.
    pub(super) fn count(&self, time: Duration) {
        if let Some(cost) = &self.cost {
            cost.add(time);
        }
    }
}
