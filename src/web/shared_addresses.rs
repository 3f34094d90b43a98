//! Detects that many callers share one address and its limits, usually because the settings do not name a proxy in
//! front of the server.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use uuid::Uuid;

use crate::http_server::client_network::client_network;

/// Number of different keys from one address that counts as many.
pub const MANY_KEYS: usize = 16;

/// Time in which keys are counted.
const WINDOW: Duration = Duration::from_mins(10);

/// Maximum number of addresses whose keys are counted. Other addresses are ignored until the next window.
const MAX_ADDRESSES: usize = 1024;

/// The keys that were used from each address lately.
#[derive(Debug, Default)]
pub struct SharedAddresses {
    window: Mutex<Window>,
    /// Whether an address was found in this window or the one before.
    is_found: AtomicBool,
    is_logged: AtomicBool,
}

#[derive(Debug, Default)]
struct Window {
    began_at: Option<Instant>,
    is_found: bool,
    keys: HashMap<IpAddr, Vec<Uuid>>,
}

impl SharedAddresses {
    /// Counts the use of a key.
    pub fn record(&self, address: IpAddr, key_id: Uuid, now: Instant) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if window.began_at.is_none_or(|began_at| now.saturating_duration_since(began_at) >= WINDOW) {
            self.is_found.store(window.is_found, Ordering::Relaxed);
            *window = Window { began_at: Some(now), ..Window::default() };
        }
        if window.is_found {
            return;
        }
        let address = client_network(address);
        if window.keys.len() >= MAX_ADDRESSES && !window.keys.contains_key(&address) {
            return;
        }
        let keys = window.keys.entry(address).or_default();
        if keys.contains(&key_id) {
            return;
        }
        keys.push(key_id);
        if keys.len() >= MANY_KEYS {
            window.is_found = true;
            self.is_found.store(true, Ordering::Relaxed);
            if !self.is_logged.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    client = %address,
                    keys = MANY_KEYS,
                    "many keys are used from one address, so they share its limits; if it is that of a proxy, name it in \
                     server.trusted_proxies"
                );
            }
        }
    }

    /// Whether many callers have come from one address lately.
    pub fn is_found(&self) -> bool {
        self.is_found.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_keys_of_one_address_are_found_for_a_while() {
        let shared = SharedAddresses::default();
        let start = Instant::now();
        let record = |keys: std::ops::Range<u128>, address: &str, now: Instant| {
            for key in keys {
                shared.record(address.parse().unwrap(), Uuid::from_u128(key), now);
            }
        };
        let many = MANY_KEYS as u128;
        record(0..many - 1, "192.0.2.7", start);
        record(0..many - 1, "192.0.2.8", start);
        record(0..many - 1, "192.0.2.7", start);
        assert!(!shared.is_found(), "few, each several times and from several addresses");
        record(many..many + 1, "192.0.2.7", start + WINDOW);
        assert!(!shared.is_found(), "not in one window");
        record(0..many - 1, "2001:db8::1", start + WINDOW);
        record(many..many + 1, "2001:db8::2", start + WINDOW);
        assert!(shared.is_found(), "an IPv6 network counts as one address");
        record(0..1, "192.0.2.7", start + 2 * WINDOW);
        assert!(shared.is_found(), "it was in the window before");
        record(0..1, "192.0.2.7", start + 3 * WINDOW);
        assert!(!shared.is_found());
    }

    #[test]
    fn number_of_counted_addresses_is_limited() {
        let shared = SharedAddresses::default();
        let now = Instant::now();
        for address in 0..2 * MAX_ADDRESSES as u32 {
            shared.record(std::net::Ipv4Addr::from_bits(address).into(), Uuid::nil(), now);
        }
        assert_eq!(shared.window.lock().unwrap().keys.len(), MAX_ADDRESSES);
    }
}
