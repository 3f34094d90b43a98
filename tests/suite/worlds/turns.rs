//! The turns of the requests of a world.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use marketplace::{
    domain::jobs::{JobKind, JobSubject},
    store,
    worlds::{JobTiming, World},
};

use super::Sandbox;

fn is_job_queued(world: &World) -> bool {
    let is_queued = |reader: &marketplace::market::Reader| {
        store::jobs::is_queued(reader.rows, JobKind::Cleanup, JobSubject::NONE)
    };
    world.market().read_blocking(is_queued).unwrap()
}

fn enqueue_job(world: &World) {
    let enqueue =
        |writer: &mut marketplace::market::Writer| writer.enqueue(JobKind::Cleanup, JobSubject::NONE);
    world.market().write_blocking(enqueue).unwrap();
}

#[tokio::test]
async fn requests_run_one_at_a_time_in_the_order_of_their_admission() {
    let sandbox = Sandbox::new(1);
    let world = sandbox.create("one", "empty");
    let first = world.admit().await.unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let (mut second, mut third) = (pin!(world.admit()), pin!(world.admit()));
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert!(third.as_mut().poll(&mut context).is_pending());
    // A layer has a clone, and releases the turn early.
    let clone = first.clone();
    clone.release();
    assert!(first.is_released());
    let second = second.await.unwrap();
    assert!(third.as_mut().poll(&mut context).is_pending(), "it is the turn of the second one");
    first.release();
    drop(clone);
    assert!(third.as_mut().poll(&mut context).is_pending(), "a turn is released once");
    drop(second);
    third.await.unwrap();
}

#[tokio::test]
async fn request_that_no_longer_waits_leaves_its_place() {
    let sandbox = Sandbox::new(1);
    let world = sandbox.create("one", "empty");
    let first = world.admit().await.unwrap();
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut waiting = pin!(world.admit());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
    }
    drop(first);
    let Poll::Ready(_) = pin!(world.admit()).as_mut().poll(&mut context) else { panic!("the turn is free") };
}

#[tokio::test]
async fn due_jobs_run_before_the_next_request_or_when_the_clock_is_advanced() {
    let sandbox = Sandbox::new(1);
    let world: Arc<World> = sandbox.create("one", "empty");
    enqueue_job(&world);
    let before = world.clock();
    drop(world.admit().await.unwrap());
    assert!(!is_job_queued(&world));
    assert_eq!(world.clock(), before, "work that is due does not move the clock");
    world.set_job_timing(JobTiming::OnAdvance);
    enqueue_job(&world);
    drop(world.admit().await.unwrap());
    assert!(is_job_queued(&world));
    let done = world.advance_to(world.clock().now).unwrap();
    assert_eq!(done.iter().map(|work| work.kind.as_str()).collect::<Vec<_>>(), ["sweep"]);
    assert!(!is_job_queued(&world));
}

#[tokio::test]
async fn running_clock_carries_out_what_becomes_due_without_requests() {
    let sandbox = Sandbox::new(1);
    let world: Arc<World> = sandbox.create("one", "empty");
    let follower = tokio::spawn(World::follow_clock(Arc::downgrade(&world)));
    world.set_running(true);
    let mut commits = world.market().commits();
    enqueue_job(&world);
    while is_job_queued(&world) {
        commits.changed().await.unwrap();
    }
    world.set_running(false);
    sandbox.worlds().delete("one");
    drop(commits);
    drop(world);
    follower.await.unwrap();
}
