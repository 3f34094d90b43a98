//! A fair limit on the amounts that requests hold: in total, and by principal and client network.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

/// Who holds a part of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder<P> {
    /// Who a valid key acts for.
    Principal(P),
    /// A client network; see [`crate::client_network`].
    Network(IpAddr),
    /// All clients without a key together, so that many networks do not get many shares.
    Anonymous,
}

/// A limit on the total amount that requests hold at the same time, and on the share of each holder.
#[derive(Clone, Debug)]
pub struct FairLimit<P>(Arc<Inner<P>>);

#[derive(Debug)]
struct Inner<P> {
    held: Mutex<Held<P>>,
    released: Notify,
}

/// How much may be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maxima {
    /// Maximum total; 0 for no limit.
    total: u64,
    /// Maximum of one principal; 0 for no limit.
    per_principal: u64,
    /// Maximum of one client network; 0 for no limit.
    per_network: u64,
    /// Maximum of all clients without a key together; 0 for no limit.
    anonymous: u64,
}

impl Maxima {
    /// A maximum of the total, of each principal, and of each client network. 0 means no limit.
    pub const fn new(total: u64, per_principal: u64, per_network: u64) -> Maxima {
        Maxima { total, per_principal, per_network, anonymous: 0 }
    }

    /// A maximum. No principal may hold more than a quarter of it, and neither may all clients without a key together.
    /// No client network may hold more than a quarter of the quarter for clients without a key.
    pub const fn quarter_per_principal(total: u64) -> Maxima {
        let quarter = total.div_ceil(4);
        Maxima { total, per_principal: quarter, per_network: quarter.div_ceil(4), anonymous: quarter }
    }

    const fn share<P>(&self, holder: &Holder<P>) -> u64 {
        match holder {
            Holder::Principal(_) => self.per_principal,
            Holder::Network(_) => self.per_network,
            Holder::Anonymous => self.anonymous,
        }
    }
}

#[derive(Debug)]
struct Held<P> {
    maxima: Maxima,
    total: u64,
    by_holder: HashMap<Holder<P>, u64>,
}

impl<P: Copy + Eq + Hash> Held<P> {
    fn add(&mut self, holders: [Option<Holder<P>>; 2], amount: u64) {
        self.total = self.total.saturating_add(amount);
        for holder in holders.into_iter().flatten() {
            let sum = self.by_holder.entry(holder).or_default();
            *sum = sum.saturating_add(amount);
        }
    }
}

impl<P: Copy + Eq + Hash> FairLimit<P> {
    /// Creates a limit on the total, on each principal, and on each client network. 0 means no limit.
    pub fn new(max: u64, max_per_principal: u64, max_per_network: u64) -> FairLimit<P> {
        FairLimit::with_maxima(Maxima::new(max, max_per_principal, max_per_network))
    }

    /// Creates a limit with these maxima.
    pub fn with_maxima(maxima: Maxima) -> FairLimit<P> {
        let held = Mutex::new(Held { maxima, total: 0, by_holder: HashMap::new() });
        FairLimit(Arc::new(Inner { held, released: Notify::new() }))
    }

    /// Changes the maxima. Amounts that are held stay held, even if they exceed the new maxima.
    pub fn set_maxima(&self, maxima: Maxima) {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner).maxima = maxima;
        self.0.released.notify_waiters();
    }

    /// Takes an amount for all of these holders at once, if the total and their shares allow it.
    ///
    /// A request may exceed a share while its holder has nothing else, and the total while nobody has anything,
    /// so that no single request is impossible.
    pub fn try_acquire(&self, holders: [Option<Holder<P>>; 2], amount: u64) -> Option<FairPermit<P>> {
        let mut permit = FairPermit { limit: self.clone(), holders, amount: 0 };
        permit.try_grow(amount).then_some(permit)
    }

    /// Returns the held total, and the maximum; 0 for no limit.
    pub fn load(&self) -> (u64, u64) {
        let held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        (held.total, held.maxima.total)
    }
}

/// A held amount of a [`FairLimit`], which is released on drop.
#[derive(Debug)]
pub struct FairPermit<P: Copy + Eq + Hash> {
    limit: FairLimit<P>,
    holders: [Option<Holder<P>>; 2],
    amount: u64,
}

impl<P: Copy + Eq + Hash> FairPermit<P> {
    /// Takes more, if the total and the shares allow it.
    pub fn try_grow(&mut self, amount: u64) -> bool {
        let inner = &*self.limit.0;
        // A single request always gets everything that no other permit holds, so no request is impossible.
        let fits =
            |held: u64, max: u64| max == 0 || held == self.amount || held.saturating_add(amount) <= max;
        let mut held = inner.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_allowed = amount == 0
            || fits(held.total, held.maxima.total)
                && self.holders.iter().flatten().all(|holder| {
                    fits(held.by_holder.get(holder).copied().unwrap_or(0), held.maxima.share(holder))
                });
        if is_allowed {
            self.amount = self.amount.saturating_add(amount);
            held.add(self.holders, amount);
        }
        is_allowed
    }

    /// Takes more, whatever the limits allow.
    pub fn grow_beyond_limits(&mut self, amount: u64) {
        self.amount = self.amount.saturating_add(amount);
        self.limit.0.held.lock().unwrap_or_else(PoisonError::into_inner).add(self.holders, amount);
    }

    /// Takes more, and waits up to `wait` until the total and the shares allow it. Returns whether it was
    /// taken.
    ///
    /// Waiters have no order: each release wakes all of them, and the first one wins, so a large amount can lose
    /// to small ones until `wait` is over. With an order, a large amount that exceeds the share of its holder
    /// would delay amounts that fit. Therefore keep `wait` short, and take the whole amount at once.
    pub async fn grow(&mut self, amount: u64, wait: Duration) -> bool {
        if self.try_grow(amount) {
            return true;
        }
        let deadline = Instant::now() + wait;
        loop {
            let limit = self.limit.clone();
            let mut released = std::pin::pin!(limit.0.released.notified());
            // Registered before the attempt, so that a release in between is not missed.
            released.as_mut().enable();
            if self.try_grow(amount) {
                return true;
            }
            if tokio::time::timeout_at(deadline, released).await.is_err() {
                return false;
            }
        }
    }

    /// Releases a part.
    pub fn shrink(&mut self, amount: u64) {
        let amount = amount.min(self.amount);
        if amount == 0 {
            return;
        }
        self.amount -= amount;
        let inner = &*self.limit.0;
        let mut held = inner.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.total = held.total.saturating_sub(amount);
        for holder in self.holders.iter().flatten() {
            if let Entry::Occupied(mut sum) = held.by_holder.entry(*holder) {
                *sum.get_mut() = sum.get().saturating_sub(amount);
                if *sum.get() == 0 {
                    sum.remove();
                }
            }
        }
        drop(held);
        inner.released.notify_waiters();
    }

    /// Returns the held amount.
    #[cfg(test)]
    pub const fn amount(&self) -> u64 {
        self.amount
    }
}

impl<P: Copy + Eq + Hash> Drop for FairPermit<P> {
    fn drop(&mut self) {
        self.shrink(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    /// The holder with this key.
    fn team(key: i64) -> Holder<i64> {
        Holder::Principal(key)
    }

    fn network(last: u8) -> Holder<i64> {
        Holder::Network(Ipv4Addr::new(192, 0, 2, last).into())
    }

    #[test]
    fn one_holder_cannot_take_the_share_of_others() {
        let limit = FairLimit::new(8, 2, 2);
        let greedy: Vec<_> =
            (0..9).filter_map(|_| limit.try_acquire([Some(team(1)), Some(network(1))], 1)).collect();
        assert_eq!(greedy.len(), 2);
        assert!(
            limit.try_acquire([Some(team(2)), Some(network(1))], 1).is_none(),
            "its network has its share"
        );
        let other = limit.try_acquire([Some(team(2)), Some(network(2))], 2).unwrap();
        assert!(limit.try_acquire([None, Some(network(3))], 3).is_some(), "a large amount is possible alone");
        drop((greedy, other));
        assert_eq!(limit.0.held.lock().unwrap().total, 0);
        assert!(limit.0.held.lock().unwrap().by_holder.is_empty());
    }

    #[test]
    fn maxima_change_while_amounts_are_held() {
        let limit = FairLimit::new(4, 0, 0);
        let held = limit.try_acquire([Some(team(1)), None], 4).unwrap();
        assert!(limit.try_acquire([Some(team(2)), None], 1).is_none());
        limit.set_maxima(Maxima::new(6, 0, 0));
        let more = limit.try_acquire([Some(team(2)), None], 2).unwrap();
        limit.set_maxima(Maxima::new(2, 0, 0));
        assert_eq!(limit.load(), (6, 2));
        drop(held);
        assert!(limit.try_acquire([Some(team(3)), None], 1).is_none(), "the other still has all of it");
        drop(more);
        assert!(limit.try_acquire([Some(team(3)), None], 2).is_some());
    }

    #[test]
    fn clients_without_a_key_share_a_quarter() {
        let limit = FairLimit::with_maxima(Maxima::quarter_per_principal(64));
        let anonymous = |last| [Some(network(last)), Some(Holder::Anonymous)];
        let take = |last| (0..9).map_while(|_| limit.try_acquire(anonymous(last), 1)).collect::<Vec<_>>();
        let held: Vec<_> = (0..9).map(take).collect();
        let counts: Vec<_> = held.iter().map(Vec::len).collect();
        assert_eq!(counts, [4, 4, 4, 4, 0, 0, 0, 0, 0], "a quarter of a quarter for each");
        assert!(limit.try_acquire([Some(team(1)), None], 16).is_some(), "the rest is left for teams");
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_with_a_release_or_after_its_time() {
        let limit = FairLimit::new(1, 0, 0);
        let first = limit.try_acquire([Some(team(1)), None], 1).unwrap();
        let mut second = limit.try_acquire([Some(team(2)), None], 0).unwrap();
        let start = Instant::now();
        assert!(!second.grow(1, Duration::from_millis(50)).await);
        assert_eq!(start.elapsed(), Duration::from_millis(50));
        let waiting = tokio::spawn(async move { second.grow(1, Duration::from_secs(1)).await });
        tokio::task::yield_now().await;
        drop(first);
        assert!(waiting.await.unwrap());
        assert_eq!(start.elapsed(), Duration::from_millis(50));
    }

    proptest! {
        #[test]
        fn limits_hold_for_any_sequence(steps in prop::collection::vec((0..4_i64, 0..4_u8, 1..5_u64), 1..60)) {
            let limit = FairLimit::with_maxima(Maxima::quarter_per_principal(16));
            let mut permits = Vec::new();
            for (id, last, amount) in steps {
                match limit.try_acquire([Some(team(id)), Some(network(last))], amount) {
                    Some(permit) => permits.push(permit),
                    None if !permits.is_empty() => drop(permits.remove(permits.len() / 2)),
                    None => prop_assert!(false, "nothing is held"),
                }
                let held = limit.0.held.lock().unwrap();
                prop_assert_eq!(held.total, permits.iter().map(FairPermit::amount).sum::<u64>());
                prop_assert!(held.total <= 16 && held.by_holder.values().all(|sum| *sum <= 4));
            }
        }
    }
}
