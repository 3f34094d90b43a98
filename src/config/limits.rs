//! Settings of rate limits and capacity limits.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

/// Rate limits and capacity limits. Budgets are requests per minute; 0 for no limit. Each operator key has the
/// budgets of a team.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// A team's budget for browsing the catalog.
    pub catalog: u32,
    /// A team's budget for the history of its listings.
    pub history: u32,
    /// A team's budget for its sales.
    pub sales: u32,
    /// A team's budget for its purchases and offers.
    pub purchases: u32,
    /// A team's budget for quality checks: starting and reading them.
    pub quality_checks: u32,
    /// A team's budget for uploads.
    pub uploads: u32,
    /// A team's budget for all other requests.
    pub other: u32,
    /// The budget of a client address, for all requests.
    pub address: u32,
    /// Whether to take the client address from the last entry of `X-Forwarded-For`. Replaced by `server.trusted_proxies`.
    pub trust_forwarded_for: bool,
    /// Maximum number of requests in progress that only read, and of those that change something; 0 to choose the number by the
    /// cores.
    pub in_flight: u32,
    /// Maximum number of requests of each of these two kinds that wait for capacity.
    pub queue: u32,
    /// Milliseconds that a request waits for capacity before an overloaded server rejects it.
    pub queue_milliseconds: u32,
    /// Milliseconds after which a server whose queue has not been empty is overloaded.
    pub burst_milliseconds: u32,
    /// Maximum number of request bodies and upload parts that are being received; 0 for no limit.
    pub bodies: u32,
    /// The same for one team or operator key; 0 for no limit.
    pub bodies_per_team: u32,
    /// The same for one client address, while the principal is not known; 0 for no limit.
    pub bodies_per_address: u32,
    /// Maximum number of bundles that are being downloaded; 0 for no limit.
    pub downloads: u32,
    /// The same for one team; 0 for no limit.
    pub downloads_per_team: u32,
    /// The same for one client address, while the team is not known; 0 for no limit.
    pub downloads_per_address: u32,
    /// Maximum number of requests that are held open, such as streams; 0 for no limit.
    pub held: u32,
    /// The same for one team or operator key; 0 for no limit.
    pub held_per_principal: u32,
    /// Megabytes of memory for the bodies and responses of all requests; 0 for no limit.
    pub memory_mb: u32,
    /// Megabytes of temporary files for large responses; 0 for no limit.
    pub spool_mb: u32,
}

impl LimitSettings {
    /// Returns the maximum number of requests in progress of each kind.
    pub fn slots(&self) -> usize {
        match self.in_flight {
            0 => (4 * cores()).max(8),
            slots => slots as usize,
        }
    }
}

/// Returns the number of cores that this process may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use crate::config::Settings;

    #[test]
    fn numbers_that_are_not_set_fit_the_cores() {
        let mut settings = Settings::default();
        let (slots, readers) = (settings.limits.slots(), settings.data.read_connections());
        assert!(slots >= 8 && readers >= 2, "{slots} requests, {readers} connections");
        assert!(slots >= 4 * super::cores() && readers as usize >= super::cores().min(64));
        (settings.limits.in_flight, settings.data.readers) = (3, 1);
        assert_eq!((settings.limits.slots(), settings.data.read_connections()), (3, 1));
    }
}
