//! Tests of the scheduler with tasks and threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::{
    clock::Clock,
    domain::{principals::Principal, teams::TeamRowId},
    market::requester::MarketId,
};

fn team(number: usize) -> WorkOwner {
    WorkOwner::Principal(MarketId(0), Principal::Team(TeamRowId(number as i64)))
}

fn requester(number: usize) -> Requester {
    Requester::unmetered(team(number))
}

proptest! {
    /// Any sequence of submitting, canceling, and ending work leaves all slots free, and starts each piece
    /// that was not canceled exactly once.
    #[test]
    fn work_starts_once_unless_it_is_canceled(
        slots in 1..4_usize,
        actions in prop::collection::vec((0..3_u8, 0..4_usize, any::<prop::sample::Index>()), 1..150),
    ) {
        let clock = Arc::new(Clock::stopped(crate::domain::time::Timestamp(0)));
        let scheduler =
            Scheduler::new(Activity::Read, slots, 1000, Share::LeaveOneForOthers, Stopwatch::start(Arc::clone(&clock)));
        let running = Arc::new(Mutex::new(Vec::new()));
        let started = Arc::new(AtomicUsize::new(0));
        let (mut places, mut submitted, mut canceled) = (Vec::new(), 0, 0);
        for (action, owner, index) in actions {
            match action {
                0 => {
                    let (running, started) = (Arc::clone(&running), Arc::clone(&started));
                    let start = move |permit| {
                        started.fetch_add(1, Ordering::Relaxed);
                        running.lock().unwrap().push(permit);
                    };
                    submitted += 1;
                    places.extend(scheduler.submit(requester(owner), start).unwrap());
                }
                1 if !places.is_empty() => {
                    let before = scheduler.inner.lock().free_and_waiting().1;
                    drop(places.swap_remove(index.index(places.len())));
                    canceled += before - scheduler.inner.lock().free_and_waiting().1;
                }
                _ => {
                    clock.advance(5_000);
                    let permit = running.lock().unwrap().pop();
                    drop(permit);
                }
            }
            prop_assert!(running.lock().unwrap().len() <= slots);
        }
        loop {
            let permit = running.lock().unwrap().pop();
            if permit.is_none() {
                break;
            }
        }
        prop_assert_eq!(started.load(Ordering::Relaxed), submitted - canceled);
        prop_assert_eq!(scheduler.inner.lock().free_and_waiting(), (slots, 0));
    }

}

fn new_scheduler(slots: usize, share: Share) -> (Arc<Clock>, Scheduler) {
    let clock = Arc::new(Clock::stopped(crate::domain::time::Timestamp(0)));
    let scheduler = Scheduler::new(Activity::Read, slots, 100, share, Stopwatch::start(Arc::clone(&clock)));
    (clock, scheduler)
}

#[tokio::test]
async fn dropped_future_leaves_the_queue() {
    let (_, scheduler) = new_scheduler(1, Share::LeaveOneForOthers);
    let permit = scheduler.acquire(requester(0)).await.unwrap();
    let mut waiting = Box::pin(scheduler.run::<()>(requester(1), |_| unreachable!("it was canceled")));
    assert!(futures_util::poll!(&mut waiting).is_pending());
    drop(waiting);
    assert_eq!(scheduler.inner.lock().free_and_waiting().1, 0);
    drop(permit);
    assert_eq!(scheduler.run(requester(1), |_| Ok(7)).await.unwrap(), 7);
}

#[tokio::test]
async fn panic_releases_the_slot() {
    let (_, scheduler) = new_scheduler(1, Share::LeaveOneForOthers);
    let result: Result<()> = scheduler.run(requester(0), |_| panic!("expected by the test")).await;
    assert!(result.is_err());
    scheduler.acquire(requester(0)).await.unwrap();
    assert_eq!(scheduler.held(team(0)), 0);
}

#[tokio::test]
async fn waiting_work_starts_although_the_runtime_is_blocked() {
    let (_, scheduler) = new_scheduler(1, Share::LeaveOneForOthers);
    let permit = scheduler.acquire(requester(0)).await.unwrap();
    let waiting = tokio::spawn({
        let scheduler = scheduler.clone();
        async move { scheduler.run(requester(1), |_| Ok(())).await }
    });
    tokio::task::yield_now().await;
    drop(permit);
    // Blocks the only thread of the runtime until the work on the other thread has ended.
    drop(scheduler.acquire_blocking(requester(2)).unwrap());
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn time_in_a_slot_is_counted_on_the_meter() {
    let (clock, scheduler) = new_scheduler(1, Share::LeaveOneForOthers);
    let cost = super::super::cost_meter::CostMeter::default();
    let counted = Requester::new(team(0), cost.clone());
    let permit = scheduler.acquire(counted).await.unwrap();
    clock.advance(70_000);
    drop(permit);
    assert_eq!(cost.total(), Duration::from_millis(70));
}

/// Work that gets a slot after a while, and work that gives up, have waited until then.
#[tokio::test]
async fn time_without_a_slot_is_counted_as_waiting() {
    let (clock, scheduler) = new_scheduler(1, Share::LeaveOneForOthers);
    let [served, gone] = [(); 2].map(|()| super::super::cost_meter::CostMeter::default());
    let permit = scheduler.acquire(requester(0)).await.unwrap();
    let mut waiting = Box::pin(scheduler.acquire(Requester::new(team(1), served.clone())));
    let mut leaving = Box::pin(scheduler.acquire(Requester::new(team(2), gone.clone())));
    assert!(futures_util::poll!(&mut waiting).is_pending() && futures_util::poll!(&mut leaving).is_pending());
    clock.advance(20_000);
    drop(leaving);
    clock.advance(50_000);
    drop(permit);
    let permit = waiting.await.unwrap();
    assert_eq!(permit.waited(), Duration::from_millis(70));
    clock.advance(5_000);
    drop(permit);
    let times = served.times();
    assert_eq!((times.read_wait, times.read), (Duration::from_millis(70), Duration::from_millis(5)));
    assert_eq!((gone.times().read_wait, gone.total()), (Duration::from_millis(20), Duration::ZERO));
}

#[tokio::test]
async fn transferred_slot_counts_for_the_other_owner() {
    let (_, scheduler) = new_scheduler(4, Share::AsManyAsFree);
    let first = scheduler.acquire(requester(0)).await.unwrap().try_transfer(requester(1)).unwrap();
    let second = scheduler.acquire(requester(0)).await.unwrap();
    assert_eq!((scheduler.held(team(0)), scheduler.held(team(1))), (1, 1));
    let second = second.try_transfer(requester(1)).unwrap();
    assert_eq!((scheduler.held(team(0)), scheduler.held(team(1))), (0, 2));
    drop((first, second));
    assert_eq!(scheduler.held(team(1)), 0);
}
