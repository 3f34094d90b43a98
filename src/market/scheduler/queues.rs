//! The queues of a scheduler: who waits, who has which share, and who is next. No threads and no time of its
//! own, so that tests can simulate both.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    time::Duration,
};

use super::share::{RECENTLY, Share, ShareOfSlots};
use crate::market::requester::WorkOwner;

/// What work is charged at least, so that work too short to measure takes turns, too.
const MIN_COST: Duration = Duration::from_micros(20);

/// An owner with work that took longer has long work; see [`super::Share::LeaveOneForOthers`].
const LONG_WORK: Duration = Duration::from_millis(10);

/// Number of owners in memory at which idle ones are forgotten.
const MAX_IDLE_OWNERS: usize = 1024;

/// Identifies a waiter of an owner. Increases with each waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WaiterId(u64);

/// Work that was granted a slot.
pub(super) struct Granted<W> {
    pub(super) work: W,
    /// What its owner was charged.
    pub(super) charged: Duration,
}

/// The queue of a waiter is full.
#[derive(Debug)]
pub(super) struct QueueFull;

/// The state of an owner.
struct Usage<W> {
    /// The virtual time at which its next work starts.
    virtual_start: Duration,
    /// The cost of its most expensive recent work.
    recent_cost: Duration,
    /// The time until which its work is expected to be long.
    long_until: Duration,
    /// Number of slots that it occupies.
    held: usize,
    waiters: VecDeque<(WaiterId, W)>,
    /// Its key in `Queues::order`, while it has waiters.
    order_key: Option<(Duration, WaiterId)>,
}

/// The queues of all owners. `W` is the type of the work that waits in them.
pub(super) struct Queues<W> {
    slots: usize,
    free: usize,
    max_waiting: usize,
    waiting: usize,
    /// Since when some work has been waiting at every moment, while any waits.
    waiting_since: Duration,
    /// For how long some work may wait at every moment until the queues are overloaded.
    burst: Duration,
    share: ShareOfSlots,
    /// The virtual start of the latest work that was granted a slot. An owner that was idle continues from
    /// here, so it cannot save up time.
    virtual_now: Duration,
    next_id: WaiterId,
    owners: HashMap<WorkOwner, Usage<W>>,
    /// The owners that have waiters, by virtual start, then by their first waiter.
    order: BTreeMap<(Duration, WaiterId), WorkOwner>,
}

impl<W> fmt::Debug for Queues<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queues({} of {} slots free, {} waiting)", self.free, self.slots, self.waiting)
    }
}

impl<W> Queues<W> {
    pub(super) fn new(slots: usize, max_waiting: usize, share: Share) -> Queues<W> {
        Queues {
            slots,
            free: slots,
            max_waiting,
            waiting: 0,
            waiting_since: Duration::ZERO,
            burst: Duration::MAX,
            share: ShareOfSlots::new(share, slots),
            virtual_now: Duration::ZERO,
            next_id: WaiterId(0),
            owners: HashMap::new(),
            order: BTreeMap::new(),
        }
    }

    /// Whether any slot is occupied.
    pub(super) const fn is_in_use(&self) -> bool {
        self.free < self.slots
    }

    /// Returns how many slots are occupied, and how much work waits.
    pub(super) const fn load(&self) -> (usize, usize) {
        (self.slots - self.free, self.waiting)
    }

    /// Sets for how long some work may wait at every moment until the queues are overloaded.
    pub(super) const fn set_burst(&mut self, burst: Duration) {
        self.burst = burst;
    }

    /// Whether some work has been waiting at every moment for too long.
    pub(super) fn is_overloaded(&self, now: Duration) -> bool {
        self.waiting > 0 && now.saturating_sub(self.waiting_since) >= self.burst
    }

    /// Takes a slot for an owner that has no waiters, if it may have one. Returns what it was charged.
    /// [`Queues::grant_waiting`] is called whenever a waiter could start, so this overtakes nobody.
    pub(super) fn try_take(&mut self, owner: WorkOwner, now: Duration) -> Option<Duration> {
        self.share.note_active(owner, now);
        let usage = self.owners.entry(owner).or_default();
        if self.free == 0
            || !usage.waiters.is_empty()
            || !self.share.may_take(owner, usage.held, usage.long_until, self.free, now)
        {
            return None;
        }
        self.free -= 1;
        Some(usage.charge(&mut self.virtual_now))
    }

    /// Adds a waiter. An owner may have as many as there are free places, plus one, so that there are
    /// always places for another.
    pub(super) fn push(
        &mut self,
        owner: WorkOwner,
        work: W,
        is_exempt: bool,
        now: Duration,
    ) -> Result<WaiterId, QueueFull> {
        self.share.note_active(owner, now);
        let usage = self.owners.entry(owner).or_default();
        let free_places = self.max_waiting.saturating_sub(self.waiting);
        if !is_exempt && (free_places == 0 || usage.waiters.len() > free_places) {
            return Err(QueueFull);
        }
        let id = self.next_id;
        self.next_id.0 += 1;
        if usage.waiters.is_empty() {
            // An idle owner continues from now.
            usage.virtual_start = usage.virtual_start.max(self.virtual_now);
        }
        usage.waiters.push_back((id, work));
        if self.waiting == 0 {
            self.waiting_since = now;
        }
        self.waiting += 1;
        usage.update_order(owner, &mut self.order);
        Ok(id)
    }

    /// Removes a waiter, if it has not been granted a slot.
    pub(super) fn remove(&mut self, owner: WorkOwner, id: WaiterId) -> Option<W> {
        let usage = self.owners.get_mut(&owner)?;
        let index = usage.waiters.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        let (_, work) = usage.waiters.remove(index)?;
        self.waiting -= 1;
        usage.update_order(owner, &mut self.order);
        Some(work)
    }

    /// Grants free slots to waiters. Owners that have their share are skipped; each of them holds slots,
    /// so they are fewer than the slots. The oldest waiter of an owner is next, or the newest if the queues are overloaded:
    /// then some waiters are refused in any case, and the others should not have waited for long.
    pub(super) fn grant_waiting(&mut self, now: Duration) -> Vec<Granted<W>> {
        let mut granted = Vec::new();
        let is_overloaded = self.is_overloaded(now);
        while self.free > 0 && self.waiting > 0 {
            let may_take = |owner: &&WorkOwner| self.may_take(**owner, now);
            let Some(owner) = self.order.values().find(may_take).copied() else { break };
            let Some(usage) = self.owners.get_mut(&owner) else { break };
            let waiters = &mut usage.waiters;
            let next = if is_overloaded { waiters.pop_back() } else { waiters.pop_front() };
            let Some((_, work)) = next else { break };
            self.waiting -= 1;
            self.free -= 1;
            let charged = usage.charge(&mut self.virtual_now);
            usage.update_order(owner, &mut self.order);
            granted.push(Granted { work, charged });
        }
        granted
    }

    /// Whether a waiting owner may have another slot.
    fn may_take(&self, owner: WorkOwner, now: Duration) -> bool {
        let usage = self.owners.get(&owner);
        usage.is_some_and(|usage| self.share.may_take(owner, usage.held, usage.long_until, self.free, now))
    }

    /// Releases a slot. Replaces what was charged for the work by what it has cost.
    pub(super) fn release(&mut self, owner: WorkOwner, charged: Duration, cost: Duration, now: Duration) {
        self.share.note_active(owner, now);
        self.free += 1;
        let cost = cost.max(MIN_COST);
        if let Some(usage) = self.owners.get_mut(&owner) {
            usage.held -= 1;
            usage.virtual_start = (usage.virtual_start + cost).saturating_sub(charged);
            // One expensive piece of work counts for several that follow.
            usage.recent_cost = cost.max(usage.recent_cost * 3 / 4);
            if cost > LONG_WORK {
                usage.long_until = now + RECENTLY;
            }
            usage.update_order(owner, &mut self.order);
        }
        if self.owners.len() > MAX_IDLE_OWNERS {
            self.forget_idle(now);
        }
    }

    /// Moves a slot from one owner to another, if the latter may have one more. `charged` is what the
    /// former was charged; it gets that back. Returns what the latter was charged.
    pub(super) fn transfer(
        &mut self,
        from: WorkOwner,
        charged: Duration,
        to: WorkOwner,
        now: Duration,
    ) -> Option<Duration> {
        self.share.note_active(to, now);
        let free = self.free + 1;
        let usage = self.owners.entry(to).or_default();
        if !usage.waiters.is_empty() || !self.share.may_take(to, usage.held, usage.long_until, free, now) {
            return None;
        }
        let charged_to = usage.charge(&mut self.virtual_now);
        if let Some(usage) = self.owners.get_mut(&from) {
            usage.held -= 1;
            usage.virtual_start = usage.virtual_start.saturating_sub(charged);
            usage.update_order(from, &mut self.order);
        }
        Some(charged_to)
    }

    /// Forgets idle owners. Those that owe time or had long work are remembered unless they are too many.
    fn forget_idle(&mut self, now: Duration) {
        let virtual_now = self.virtual_now;
        let is_remembered = |usage: &Usage<W>| usage.virtual_start > virtual_now || usage.long_until > now;
        self.owners.retain(|_, usage| usage.is_active() || is_remembered(usage));
        if self.owners.len() > MAX_IDLE_OWNERS / 2 {
            self.owners.retain(|_, usage| usage.is_active());
        }
    }

    /// Numbers of free slots and of waiters.
    #[cfg(test)]
    pub(super) fn free_and_waiting(&self) -> (usize, usize) {
        (self.free, self.waiting)
    }

    #[cfg(test)]
    pub(super) fn held(&self, owner: WorkOwner) -> usize {
        self.owners.get(&owner).map_or(0, |usage| usage.held)
    }
}

impl<W> Default for Usage<W> {
    fn default() -> Usage<W> {
        Usage {
            virtual_start: Duration::ZERO,
            recent_cost: Duration::ZERO,
            long_until: Duration::ZERO,
            held: 0,
            waiters: VecDeque::new(),
            order_key: None,
        }
    }
}

impl<W> Usage<W> {
    /// Counts a slot, and advances the virtual time by what the work is expected to cost. Returns that.
    fn charge(&mut self, virtual_now: &mut Duration) -> Duration {
        if self.order_key.is_none() {
            // An idle owner continues from now. One that waited keeps what it is owed.
            self.virtual_start = self.virtual_start.max(*virtual_now);
        }
        let charged = self.recent_cost.max(MIN_COST);
        *virtual_now = self.virtual_start.max(*virtual_now);
        self.virtual_start += charged;
        self.held += 1;
        charged
    }

    /// Updates the place of the owner among those that wait.
    fn update_order(&mut self, owner: WorkOwner, order: &mut BTreeMap<(Duration, WaiterId), WorkOwner>) {
        let key = self.waiters.front().map(|(id, _)| (self.virtual_start, *id));
        if key == self.order_key {
            return;
        }
        if let Some(old) = std::mem::replace(&mut self.order_key, key) {
            order.remove(&old);
        }
        if let Some(key) = key {
            order.insert(key, owner);
        }
    }

    fn is_active(&self) -> bool {
        self.held > 0 || !self.waiters.is_empty()
    }
}
