//! Properties of the queues, with simulated time.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::{
    domain::{principals::Principal, teams::TeamRowId},
    market::requester::MarketId,
};

const MILLISECOND: Duration = Duration::from_millis(1);

fn team(number: usize) -> WorkOwner {
    WorkOwner::Principal(MarketId(0), Principal::Team(TeamRowId(number as i64)))
}

/// Work in the simulation: the owner and what its work costs.
type Work = (usize, Duration);

/// Simulates owners that always have waiting work. Time advances from the end of one piece of work to the
/// end of the next.
struct Simulation {
    queues: Queues<Work>,
    now: Duration,
    /// Running work: when it ends, its number, its owner, its cost, and what was charged.
    running: BTreeMap<(Duration, usize), (usize, Duration, Duration)>,
    started: usize,
    /// The time that each owner occupied slots, for ended work.
    served: BTreeMap<usize, Duration>,
}

impl Simulation {
    fn new(slots: usize, share: Share) -> Simulation {
        Simulation {
            queues: Queues::new(slots, 10_000, share),
            now: Duration::ZERO,
            running: BTreeMap::new(),
            started: 0,
            served: BTreeMap::new(),
        }
    }

    fn submit(&mut self, owner: usize, cost: Duration) {
        self.queues.push(team(owner), (owner, cost), false, self.now).unwrap();
        self.start_granted();
    }

    fn start_granted(&mut self) {
        for Granted { work: (owner, cost), charged } in self.queues.grant_waiting(self.now) {
            self.started += 1;
            self.running.insert((self.now + cost, self.started), (owner, cost, charged));
        }
    }

    /// Ends the next piece of work and returns its owner.
    fn end_next(&mut self) -> usize {
        let ((ends_at, _), (owner, cost, charged)) = self.running.pop_first().expect("work is running");
        self.now = ends_at;
        *self.served.entry(owner).or_default() += cost;
        self.queues.release(team(owner), charged, cost, self.now);
        self.start_granted();
        owner
    }

    fn served(&self, owner: usize) -> Duration {
        self.served.get(&owner).copied().unwrap_or_default()
    }
}

proptest! {
    /// With k owners that always have waiting work, each gets at least 1/(k+1) of the time in every
    /// window, except for the longest piece of work of each, whatever the work costs and how many pieces
    /// wait.
    #[test]
    fn backlogged_owners_get_their_share_in_every_window(
        slots in 1..5_usize,
        costs in prop::collection::vec(1..40_u32, 2..6),
        backlogs in prop::collection::vec(1..30_usize, 6),
    ) {
        let mut simulation = Simulation::new(slots, Share::AsManyAsFree);
        simulation.queues = Queues::new(slots, 10_000, Share::LeaveOneForOthers);
        let cost = |owner: usize| MILLISECOND * costs[owner];
        for (owner, backlog) in backlogs.iter().enumerate().take(costs.len()) {
            // Enough work for every slot.
            for _ in 0..backlog + slots {
                simulation.submit(owner, cost(owner));
            }
        }
        let longest = MILLISECOND * costs.iter().copied().max().unwrap();
        let mut window_start = simulation.served.clone();
        for step in 1..600 {
            let owner = simulation.end_next();
            simulation.submit(owner, cost(owner));
            if step % 150 == 0 {
                let served = |p: usize| {
                    simulation.served(p).saturating_sub(window_start.get(&p).copied().unwrap_or_default())
                };
                let total: Duration = (0..costs.len()).map(served).sum();
                for p in 0..costs.len() {
                    let least = total / (costs.len() as u32 + 1);
                    let tolerance = longest * (2 * slots as u32 + 2);
                    prop_assert!(served(p) + tolerance >= least, "{p}: {:?} of {total:?}", served(p));
                }
                window_start = simulation.served.clone();
            }
        }
    }

    /// No slot stays free while work waits that may have it: only owners with long work leave one free.
    #[test]
    fn slots_are_used_while_work_waits(
        slots in 1..5_usize,
        work in prop::collection::vec((0..4_usize, 0..30_u32, any::<bool>()), 1..200),
    ) {
        let mut simulation = Simulation::new(slots, Share::LeaveOneForOthers);
        for (owner, milliseconds, ends) in work {
            simulation.submit(owner, MILLISECOND * milliseconds);
            if ends && !simulation.running.is_empty() {
                simulation.end_next();
            }
            let queues = &simulation.queues;
            if queues.free > 0 && queues.waiting > 0 {
                prop_assert!(slots > 1);
                for owner in queues.order.values() {
                    prop_assert!(!queues.may_take(*owner, simulation.now));
                    prop_assert_eq!(queues.held(*owner), slots - 1);
                }
            }
        }
        while !simulation.running.is_empty() {
            simulation.end_next();
        }
        let queues = &simulation.queues;
        prop_assert_eq!((queues.free, queues.waiting, queues.order.len()), (slots, 0, 0));
    }

    /// Once a team has had long work, it never occupies all slots in the 30 seconds afterwards, whatever
    /// short work it adds, and neither does any team while another one is active.
    #[test]
    fn short_work_does_not_hide_long_work(
        slots in 2..5_usize,
        work in prop::collection::vec((any::<bool>(), 0..4_u32), 1..200),
        other_is_active in any::<bool>(),
    ) {
        let mut queues: Queues<()> = Queues::new(slots, 0, Share::LeaveOneForOthers);
        let mut now = Duration::ZERO;
        let first = team(usize::from(other_is_active));
        let charged = queues.try_take(first, now).unwrap();
        now += MILLISECOND * 11;
        queues.release(first, charged, MILLISECOND * 11, now);
        let end = now + RECENTLY;
        let mut running = Vec::new();
        for (starts, milliseconds) in work {
            now += MILLISECOND * milliseconds;
            if starts {
                running.extend(queues.try_take(team(0), now));
            } else if let Some(charged) = running.pop() {
                queues.release(team(0), charged, MILLISECOND * milliseconds, now);
            }
            prop_assert!(now < end && running.len() < slots);
        }
        for charged in running {
            queues.release(team(0), charged, MILLISECOND, now);
        }
        now = end + RECENTLY;
        let taken = (0..slots).filter_map(|_| queues.try_take(team(0), now)).count();
        prop_assert_eq!(taken, slots, "all slots are available afterwards");
    }

    /// However many owners hold slots, each owner that holds none gets one at once as long as there
    /// are more slots than owners.
    #[test]
    fn slots_are_left_for_another_owner(greedy in 1..9_usize, slots in 16..300_usize) {
        let mut queues: Queues<()> = Queues::new(slots, 0, Share::AsManyAsFree);
        let mut has_taken = true;
        while has_taken {
            has_taken = false;
            for owner in 0..greedy {
                has_taken |= queues.try_take(team(owner), Duration::ZERO).is_some();
            }
        }
        for owner in 0..greedy {
            prop_assert!(queues.held(team(owner)) + 1 >= slots / (greedy + 1));
        }
        prop_assert!(queues.free + greedy >= slots / (greedy + 1));
        prop_assert!(queues.try_take(team(greedy), Duration::ZERO).is_some());
    }
}

/// An owner that may not take a free slot, because it has its share, keeps what it is owed meanwhile.
#[test]
fn owner_with_short_work_gets_its_share_beside_two_with_long_work() {
    let costs = [24, 1, 24];
    let mut simulation = Simulation::new(2, Share::LeaveOneForOthers);
    for owner in [0, 0, 0, 1, 1, 1, 2, 2, 2] {
        simulation.submit(owner, MILLISECOND * costs[owner]);
    }
    for _ in 0..2_000 {
        let owner = simulation.end_next();
        simulation.submit(owner, MILLISECOND * costs[owner]);
    }
    let total: Duration = (0..3).map(|owner| simulation.served(owner)).sum();
    for owner in 0..3 {
        let served = simulation.served(owner);
        assert!(served >= total * 3 / 10, "{owner}: {served:?} of {total:?}");
    }
}

/// However many long pieces of work one owner has waiting, another owner's work starts at once, or
/// with a single slot, after the piece that is running.
#[test]
fn work_of_another_owner_waits_for_at_most_one_long_piece() {
    for (slots, ended_before) in [(1, 1), (2, 0), (4, 0)] {
        let mut simulation = Simulation::new(slots, Share::LeaveOneForOthers);
        for _ in 0..200 {
            simulation.submit(0, MILLISECOND * 500);
        }
        for _ in 0..20 {
            simulation.end_next();
        }
        simulation.submit(1, MILLISECOND);
        for _ in 0..ended_before {
            assert_eq!(simulation.queues.held(team(1)), 0);
            simulation.end_next();
        }
        assert_eq!(simulation.queues.held(team(1)), 1, "{slots} slots");
    }
}

/// An owner cannot save up time while it is idle.
#[test]
fn idle_owner_gets_no_more_than_its_share_afterwards() {
    let mut simulation = Simulation::new(1, Share::LeaveOneForOthers);
    for _ in 0..100 {
        simulation.submit(0, MILLISECOND);
    }
    for _ in 0..60 {
        simulation.end_next();
    }
    for _ in 0..40 {
        simulation.submit(1, MILLISECOND);
    }
    let order: Vec<usize> = (0..20).map(|_| simulation.end_next()).collect();
    let others = order.iter().filter(|owner| **owner == 1).count();
    assert!((9..=11).contains(&others), "{order:?}");
}

#[test]
fn newest_work_is_next_while_the_queues_are_overloaded() {
    let mut queues = Queues::new(1, 100, Share::AsManyAsFree);
    queues.set_burst(10 * MILLISECOND);
    let push = |queues: &mut Queues<u32>, number, at| {
        queues.push(team(0), number, false, at).unwrap();
    };
    let next = |queues: &mut Queues<u32>, at| {
        let granted = queues.grant_waiting(at).pop().expect("a slot is free");
        queues.release(team(0), granted.charged, MILLISECOND, at);
        granted.work
    };
    let numbered =
        |queues: &mut Queues<u32>, from, at| (from..from + 4).for_each(|number| push(queues, number, at));
    numbered(&mut queues, 0, MILLISECOND);
    assert_eq!([2, 10].map(|at| next(&mut queues, at * MILLISECOND)), [0, 1], "the oldest first in a burst");
    assert_eq!([11, 12].map(|at| next(&mut queues, at * MILLISECOND)), [3, 2], "the newest first after it");
    numbered(&mut queues, 4, 13 * MILLISECOND);
    assert_eq!(next(&mut queues, 14 * MILLISECOND), 4, "no work has been waiting for long");
}

#[test]
fn full_queue_rejects_one_owner_and_has_places_for_another() {
    let mut queues: Queues<()> = Queues::new(1, 10, Share::LeaveOneForOthers);
    let accepted = (0..100).filter(|_| queues.push(team(0), (), false, Duration::ZERO).is_ok()).count();
    assert_eq!(accepted, 6, "one more than half");
    assert!(queues.push(team(1), (), false, Duration::ZERO).is_ok());
    assert!(
        queues.push(team(0), (), true, Duration::ZERO).is_ok(),
        "work on threads of its own is always accepted"
    );
}

#[test]
fn idle_owners_are_forgotten() {
    let mut queues: Queues<()> = Queues::new(1, 10, Share::LeaveOneForOthers);
    for number in 0..50_000 {
        let charged = queues.try_take(team(number), Duration::ZERO).unwrap();
        queues.release(team(number), charged, MILLISECOND * 20, Duration::ZERO);
    }
    assert!(queues.owners.len() <= 1024 + 1);
}
