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
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::{
    Sandbox,
    faults::BUYER,
    tcp::{Server, content_length, header},
};

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

#[tokio::test(flavor = "multi_thread")]
async fn request_whose_body_has_not_arrived_holds_no_turn() {
    const VENDOR: &str = "mkt_demo_vendor";
    const PATH: &str = "/w/one/v2/asset-groups";
    let server = Server::start().await;
    for is_chunked in [false, true] {
        let body = json!({"name": format!("Sent slowly, {is_chunked}")}).to_string();
        let (first, last) = body.split_at(10);
        let length = format!("content-length: {}\r\n", body.len());
        let headers = if is_chunked { "transfer-encoding: chunked\r\n" } else { &length };
        let chunk = |part: &str| {
            if is_chunked { format!("{:x}\r\n{part}\r\n", part.len()) } else { part.to_owned() }
        };
        let mut slow = server.connect().await;
        slow.send_part("POST", PATH, VENDOR, headers, &chunk(first)).await;
        // Not the first request that the server reads, perhaps, but one of these is.
        for _ in 0..3 {
            let mut other = server.connect().await;
            other.send("GET", "/w/one/v2/wallet", BUYER, "", "").await;
            let head = other.head().await;
            assert!(head.starts_with("http/1.1 200"), "{head}");
            other.body(content_length(&head)).await;
        }
        let end = if is_chunked { "0\r\n\r\n" } else { "" };
        slow.stream.write_all(format!("{}{end}", chunk(last)).as_bytes()).await.unwrap();
        let head = slow.head().await;
        assert!(head.starts_with("http/1.1 201"), "{head}");
        assert!(!header(&head, "x-request-id").is_empty(), "{head}");
    }
}
