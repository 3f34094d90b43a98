//! Background work starts when a commit enqueues a job, when a job is due, or when another process may have
//! enqueued one. Nothing polls, and the clocks of these markets are stopped.

use std::cell::Cell;

use marketplace::{
    clock::Entropy,
    domain::{
        jobs::{JobKind, JobSubject, LEASE_MICROS, MAX_ATTEMPTS, Queue},
        time::Timestamp,
    },
    market::{Market, OpenMode, OpenOptions},
    operations::{self, background::BackgroundJobs},
    store,
};
use serde_json::{Value, json};
use tokio::runtime::Handle;

use crate::{
    catalog::small_market,
    harness::{TestMarket, archives::zip_of, market_options, waiting::poll_until},
    untrusted_files::child_processes::Program,
    vendor_api::seller_market::{
        OTHER, SELLER, empty_market, seller_call, seller_get, seller_post, upload_zip,
    },
};

/// Interval in microseconds at which a market deletes what has expired.
const CLEANUP_INTERVAL: i64 = 6 * 3_600_000_000;

fn start(market: &TestMarket) -> BackgroundJobs {
    BackgroundJobs::start(market.market(), &Handle::current()).unwrap()
}

/// Returns the time at which the next job is due, after the current one.
fn next_due_at(market: &TestMarket) -> Option<Timestamp> {
    let next = market.read(|reader| store::jobs::next_due_at(reader.rows, reader.now));
    next.unwrap()
}

/// Waits until the only job is the cleanup that is due `micros` from now.
async fn wait_for_next_cleanup(market: &TestMarket, micros: i64) {
    let next = market.clock().now().plus_micros(micros);
    poll_until("the cleanup", async || next_due_at(market) == Some(next)).await;
}

fn is_queued(market: &TestMarket, kind: JobKind, subject: JobSubject) -> bool {
    market.read(|reader| store::jobs::is_queued(reader.rows, kind, subject)).unwrap()
}

/// Requests a refresh of task quality, and waits until it is completed.
async fn refresh(market: &TestMarket) {
    seller_call(market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    poll_until("the refresh", async || {
        seller_get(market, "tasks/refresh-qc").await["refresh"]["status"] == "completed"
    })
    .await;
}

/// Work that was scheduled while the clock was ahead does not wait until that time.
#[tokio::test(flavor = "multi_thread")]
async fn cleanup_goes_on_after_the_clock_was_set_back() {
    let market = empty_market();
    let _jobs = start(&market);
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
    market.clock().advance(-400 * 4 * CLEANUP_INTERVAL);
    refresh(&market).await;
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commit_starts_the_job_that_it_enqueues() {
    let market = empty_market();
    let _jobs = start(&market);
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
    for _ in 0..3 {
        refresh(&market).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn job_starts_when_the_clock_reaches_its_time() {
    let market = empty_market();
    let _jobs = start(&market);
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
    market.clock().advance(CLEANUP_INTERVAL - 1);
    refresh(&market).await;
    wait_for_next_cleanup(&market, 1).await;
    market.clock().advance(1);
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_of_a_lost_worker_starts_when_its_lease_ends() {
    let market = empty_market();
    let _jobs = start(&market);
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
    let (kind, subject) = (JobKind::Cleanup, JobSubject(7));
    let claimed = market.write(|writer| {
        writer.enqueue(kind, subject)?;
        store::jobs::claim(writer.rows, Queue::Updates, 1, writer.now)
    });
    assert!(claimed.unwrap().is_some());
    market.clock().advance(LEASE_MICROS - 1);
    refresh(&market).await;
    assert!(is_queued(&market, kind, subject));
    market.clock().advance(1);
    poll_until("the job", async || !is_queued(&market, kind, subject)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn job_that_another_process_enqueues_starts_after_a_notification() {
    let market = empty_market();
    let _jobs = start(&market);
    wait_for_next_cleanup(&market, CLEANUP_INTERVAL).await;
    let command = Market::open(OpenOptions {
        entropy: Entropy::seeded(3),
        mode: OpenMode::Command,
        ..market_options(market.market().data_dir(), market.market().settings().clone())
    });
    let (kind, subject) = (JobKind::Cleanup, JobSubject(7));
    command.unwrap().write_blocking(|writer| writer.enqueue(kind, subject)).unwrap();
    market.market().wake_background();
    poll_until("the job", async || !is_queued(&market, kind, subject)).await;
}

/// The only place for analyses is taken by one that never ends. When the work is stopped, the analysis ends,
/// and can be claimed again.
#[tokio::test(flavor = "multi_thread")]
async fn analyses_delay_no_refresh_and_are_interrupted() {
    let program = Program::new(
        "case \"$2\" in *onfinement*) exit 1 ;; esac; echo start >> \"${0%program}starts\"; exec sleep 1000",
    );
    let market = TestMarket::with_program(program.path(), |settings| settings.jobs.started = 1);
    small_market::seed_market(&market, &[], &json!({}));
    let url = upload_zip(&market, "Seller house", &zip_of(&[("a.txt", "text")]));
    let body = json!({"title": "Scans", "data": {"channel": "zip", "url": url}});
    seller_post(&market, "raw-data", body).await;
    let starts = program.path().with_file_name("starts");
    // After two starts that were interrupted, the analysis is given up.
    for round in 1..=2 {
        let jobs = start(&market);
        poll_until("the analysis", async || {
            std::fs::read_to_string(&starts).is_ok_and(|text| text.lines().count() == round)
        })
        .await;
        refresh(&market).await;
        let claim = || operations::jobs::claim(market.market(), Queue::Analyses, 0).unwrap();
        assert_eq!(claim(), None, "the analysis is running");
        drop(jobs);
        let job = claim().expect("the analysis was interrupted");
        operations::jobs::release(market.market(), &job).unwrap();
    }
}

/// A refresh is given up after the starts that each kind of job has.
#[tokio::test]
async fn refresh_that_kills_the_server_fails() {
    let market = empty_market();
    seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    for _ in 0..MAX_ATTEMPTS {
        // A server claims the job and dies. The next server releases the job.
        let claimed = market.write(|writer| {
            let job = store::jobs::claim(writer.rows, Queue::Updates, 1, writer.now)?;
            store::jobs::release_all(writer.rows)?;
            Ok(job)
        });
        assert!(claimed.unwrap().is_some());
    }
    market.run_background();
    let state = seller_get(&market, "tasks/refresh-qc").await["refresh"].clone();
    assert_eq!((&state["status"], &state["refreshed"]), (&json!("failed"), &json!(0)));
    assert!(state["error"].as_str().unwrap().contains("Request another one"), "{state}");
    let next = seller_call(&market, "POST", "tasks/refresh-qc", Value::Null).await.expect_status(202);
    assert_ne!(next["refresh"]["id"], state["id"]);
}

/// The refreshes of several teams do not wait for each other to end, and a team has one job at a time.
#[tokio::test]
async fn refreshes_of_teams_take_turns() {
    let market = empty_market();
    for key in [SELLER, OTHER] {
        market.call(key, "POST", "/v2/tasks/refresh-qc", &Value::Null).await.expect_status(202);
    }
    let running = Cell::new(0);
    let claim = || {
        let job = operations::jobs::claim(market.market(), Queue::Updates, running.get()).unwrap();
        running.set(running.get() + 1);
        job
    };
    let (first, second) = (claim().unwrap(), claim().unwrap());
    assert_ne!(first.team, second.team);
    assert_eq!(claim(), None);
    for job in [first, second] {
        operations::jobs::release(market.market(), &job).unwrap();
    }
}
