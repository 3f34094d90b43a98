//! Limits of failures to sign in: of the network of a client, and of the beginning of a key, which many clients may try
//! together. Keys have 240 random bits, so these limits only spare the server and the log.
//!
//! Nobody who has a valid key is locked out by others who try keys at random, since these begin differently.

use std::{
    collections::HashMap,
    hash::Hash,
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sha2::{Digest, Sha256};

use crate::{
    clock::{Clock, Stopwatch},
    error::{Error, Result},
    market::{Requester, WorkOwner},
};

/// Failures that the network of a client, and the beginning of a key, may have at once.
const BURST: u32 = 10;

/// Time after which another failure is allowed.
const INTERVAL: Duration = Duration::from_secs(30);

/// Maximum number of networks, and of beginnings of keys, that are remembered.
const MAX_REMEMBERED: usize = 10_000;

/// Characters of a key that its failures are counted by, in addition to the prefixes that many keys have.
const KEY_CHARACTERS: usize = 8;

/// Prefixes of keys, the longest first.
const KEY_PREFIXES: [&str; 3] = ["mkt_op_", "mkt_demo_", "mkt_"];

/// Description of what is used up.
const BUDGET: &str = "number of failed sign-ins";

/// The failures to sign in to a market. They expire by the time of the machine, even if the clock of the market stands still.
#[derive(Debug)]
pub struct SignInLimits {
    stopwatch: Stopwatch,
    failures: Mutex<Failures>,
}

#[derive(Debug, Default)]
struct Failures {
    by_network: Counts<IpAddr>,
    by_key: Counts<[u8; 8]>,
}

impl SignInLimits {
    /// Creates the limits, without failures.
    pub fn new() -> SignInLimits {
        SignInLimits::with_stopwatch(Stopwatch::start(Arc::new(Clock::System)))
    }

    fn with_stopwatch(stopwatch: Stopwatch) -> SignInLimits {
        SignInLimits { stopwatch, failures: Mutex::default() }
    }

    /// Counts an attempt as a failure, or fails if there were too many failures of the client's network, or with keys that begin
    /// like this one. Call it before the key is looked up, so that attempts at the same time are counted, too.
    pub fn begin(&self, client: &Requester, key: &str) -> Result<()> {
        self.begin_from(network(client), key)
    }

    /// Forgets an attempt that was no failure.
    pub fn forget(&self, client: &Requester, key: &str) {
        let now = self.stopwatch.elapsed();
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.by_network.remove(&network(client), now);
        failures.by_key.remove(&beginning(key), now);
    }

    fn begin_from(&self, network: IpAddr, key: &str) -> Result<()> {
        let (now, beginning) = (self.stopwatch.elapsed(), beginning(key));
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let waits = [failures.by_network.wait(&network, now), failures.by_key.wait(&beginning, now)];
        match waits.into_iter().max().filter(|wait| !wait.is_zero()) {
            None => {
                failures.by_network.add(network, now);
                failures.by_key.add(beginning, now);
                Ok(())
            }
            Some(wait) => {
                let retry_seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                Err(Error::RateLimited { budget: BUDGET.to_owned(), retry_seconds })
            }
        }
    }
}

impl Default for SignInLimits {
    fn default() -> SignInLimits {
        SignInLimits::new()
    }
}

/// Returns the network of a client. Requests without an address, such as those in process, count as one client.
fn network(client: &Requester) -> IpAddr {
    match client.owner() {
        WorkOwner::Client(network) => network,
        WorkOwner::Principal(..) | WorkOwner::Process => Ipv4Addr::UNSPECIFIED.into(),
    }
}

/// Returns a digest of how a key begins, after the prefix that many keys have.
fn beginning(key: &str) -> [u8; 8] {
    let rest = KEY_PREFIXES.iter().find_map(|prefix| key.strip_prefix(prefix)).unwrap_or(key);
    let end = rest.char_indices().nth(KEY_CHARACTERS).map_or(rest.len(), |(index, _)| index);
    let digest = Sha256::digest(&rest.as_bytes()[..end]);
    let (short, _) = digest.split_first_chunk().expect("the digest has 32 bytes");
    *short
}

/// For each key, the time at which all of its failures are forgotten: each adds an interval.
#[derive(Debug)]
struct Counts<K> {
    forgotten_at: HashMap<K, Duration>,
}

impl<K> Default for Counts<K> {
    fn default() -> Counts<K> {
        Counts { forgotten_at: HashMap::new() }
    }
}

impl<K: Copy + Eq + Hash> Counts<K> {
    /// Returns how long it takes until another failure is allowed.
    fn wait(&self, key: &K, now: Duration) -> Duration {
        let remaining = self.forgotten_at.get(key).map_or(Duration::ZERO, |at| at.saturating_sub(now));
        // The last failure of a burst is allowed as soon as all others fit.
        (remaining + INTERVAL).saturating_sub(INTERVAL * BURST)
    }

    fn add(&mut self, key: K, now: Duration) {
        if self.forgotten_at.len() >= MAX_REMEMBERED && !self.forgotten_at.contains_key(&key) {
            self.make_space(now);
        }
        let at = self.forgotten_at.entry(key).or_insert(now);
        // No key is locked for longer than the interval, however often others fail at the same time.
        *at = ((*at).max(now) + INTERVAL).min(now + INTERVAL * BURST);
    }

    fn remove(&mut self, key: &K, now: Duration) {
        if let Some(at) = self.forgotten_at.get_mut(key) {
            *at = at.saturating_sub(INTERVAL);
            if *at <= now {
                self.forgotten_at.remove(key);
            }
        }
    }

    /// Forgets what is over, or else the half that is over first.
    fn make_space(&mut self, now: Duration) {
        self.forgotten_at.retain(|_, at| *at > now);
        if self.forgotten_at.len() < MAX_REMEMBERED {
            return;
        }
        let mut times: Vec<Duration> = self.forgotten_at.values().copied().collect();
        let (_, median, _) = times.select_nth_unstable(MAX_REMEMBERED / 2);
        let median = *median;
        let mut kept = 0;
        self.forgotten_at.retain(|_, at| {
            let is_kept = *at >= median && kept < MAX_REMEMBERED / 2;
            kept += usize::from(is_kept);
            is_kept
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Timestamp;

    fn network(number: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, number).into()
    }

    fn limits() -> (Arc<Clock>, SignInLimits) {
        let clock = Arc::new(Clock::stopped(Timestamp(1_000_000_000_000_000)));
        (Arc::clone(&clock), SignInLimits::with_stopwatch(Stopwatch::start(clock)))
    }

    #[test]
    fn network_with_many_failures_waits() {
        let (clock, limits) = limits();
        for number in 0..BURST {
            let key = format!("mkt_{number}");
            limits.begin_from(network(1), &key).unwrap();
        }
        assert!(matches!(
            limits.begin_from(network(1), "mkt_other"),
            Err(Error::RateLimited { retry_seconds: 30, .. })
        ));
        limits.begin_from(network(2), "mkt_other").unwrap();
        clock.advance(30_000_000);
        limits.begin_from(network(1), "mkt_other").unwrap();
        assert!(limits.begin_from(network(1), "mkt_other").is_err());
    }

    #[test]
    fn beginning_of_a_key_is_counted_from_all_networks() {
        let (_, limits) = limits();
        for number in 0..10 {
            limits.begin_from(network(number), &format!("mkt_abcdefgh{number}")).unwrap();
        }
        assert!(limits.begin_from(network(99), "mkt_abcdefghxyz").is_err());
        for key in ["mkt_abcdefgx", "mkt_", "", "mkt_op_other", "ümlaut", "mkt_demo_vendor"] {
            limits.begin_from(network(99), key).unwrap();
        }
    }

    #[test]
    fn attempts_that_are_no_failures_are_forgotten() {
        let (_, limits) = limits();
        let client = Requester::unmetered(WorkOwner::Client(network(1)));
        for _ in 0..3 * BURST {
            limits.begin(&client, "mkt_valid").unwrap();
            limits.forget(&client, "mkt_valid");
        }
        let failures = limits.failures.lock().unwrap();
        assert!(failures.by_network.forgotten_at.is_empty() && failures.by_key.forgotten_at.is_empty());
    }

    #[test]
    fn memory_is_bounded() {
        let mut counts = Counts::default();
        for number in 0..3 * MAX_REMEMBERED {
            counts.add(number, Duration::from_secs(number as u64 / 1000));
            assert!(counts.forgotten_at.len() <= MAX_REMEMBERED);
        }
        for key in 0..2 * MAX_REMEMBERED {
            counts.add(key, Duration::from_secs(100_000));
            assert!(counts.forgotten_at.len() <= MAX_REMEMBERED);
        }
    }
}
