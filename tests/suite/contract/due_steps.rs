//! Due steps: what time alone changes happens before each write and by the timer, in order, at its own time, and
//! once.

use std::sync::{Arc, Mutex};

use marketplace::{
    clock::Clock,
    config::SettingsSources,
    domain::{
        collections::Collection,
        due_steps::{DueStep, StepKind, StepSubject},
        time::Timestamp,
    },
    error::{Error, Result},
    market::{Market, OpenOptions, Writer},
    operations::background::BackgroundJobs,
    store,
};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::harness::{NOW, market_options};

/// Number of microseconds in a second.
const SECOND: i64 = 1_000_000;

/// The steps that were carried out: their kinds and rows, the times of their writers, whether they were quiet, and the
/// IDs that they took.
type Log = Mutex<Vec<(StepKind, i64, Timestamp, bool, Uuid)>>;

/// The steps of all tests of this file. Each test has row IDs of its own, since a step is a plain function.
static LOG: Log = Mutex::new(Vec::new());

/// Rows whose steps fail.
const FAILING: std::ops::Range<i64> = 900..1_000;

fn run_step(writer: &mut Writer, step: &DueStep) -> Result<()> {
    let id = writer.new_id(Collection::Listings);
    let row = step.subject.0;
    store::secrets::insert(writer.rows, &format!("step {row}"), &[1; 32])?;
    if FAILING.contains(&row) {
        return Err(Error::internal("expected by the test"));
    }
    LOG.lock().unwrap().push((step.kind, row, writer.now, writer.is_quiet(), id));
    Ok(())
}

struct TestedMarket {
    market: Market,
    clock: Arc<Clock>,
    directory: Arc<tempfile::TempDir>,
}

fn open(directory: Arc<tempfile::TempDir>, now: Timestamp) -> TestedMarket {
    let mut sources = SettingsSources::new();
    sources.apply_demo().unwrap();
    let clock = Arc::new(Clock::stopped(now));
    let market = Market::open(OpenOptions {
        clock: Arc::clone(&clock),
        run_step,
        ..market_options(directory.path(), sources.resolve().unwrap())
    });
    TestedMarket { market: market.unwrap(), clock, directory }
}

fn start() -> Timestamp {
    Timestamp::parse(NOW).unwrap()
}

fn new_market() -> TestedMarket {
    open(Arc::new(tempfile::tempdir().unwrap()), start())
}

impl TestedMarket {
    fn schedule(&self, steps: &[(StepKind, i64, i64)]) {
        let schedule = |writer: &mut Writer| {
            steps.iter().try_for_each(|(kind, row, seconds)| {
                writer.schedule(*kind, StepSubject(*row), start().plus_micros(seconds * SECOND))
            })
        };
        self.market.write_blocking(schedule).unwrap();
    }

    fn write(&self) {
        self.market.write_blocking(|_| Ok(())).unwrap();
    }

    fn has_written(&self, row: i64) -> bool {
        let name = format!("step {row}");
        self.market.read_blocking(|reader| store::secrets::find(reader.rows, &name)).unwrap().is_some()
    }
}

/// Returns what the steps of these rows did, in order.
fn log(rows: std::ops::Range<i64>) -> Vec<(StepKind, i64, Timestamp, bool, Uuid)> {
    LOG.lock().unwrap().iter().filter(|step| rows.contains(&step.1)).copied().collect()
}

fn at(seconds: i64) -> Timestamp {
    start().plus_micros(seconds * SECOND)
}

#[test]
fn write_carries_out_due_steps_by_time_kind_and_row() {
    let market = new_market();
    let (deadline, offer) = (StepKind::DeadlinePasses, StepKind::OfferExpires);
    market.schedule(&[
        (offer, 102, 20),
        (offer, 101, 20),
        (deadline, 103, 20),
        (offer, 104, 10),
        (offer, 105, 31),
    ]);
    market.clock.advance(30 * SECOND);
    market.write();
    let steps: Vec<_> = log(100..200).into_iter().map(|(kind, row, now, ..)| (kind, row, now)).collect();
    let expected =
        [(offer, 104, at(10)), (deadline, 103, at(20)), (offer, 101, at(20)), (offer, 102, at(20))];
    assert_eq!(steps, expected);
    market.clock.advance(-20 * SECOND);
    market.write();
    market.clock.advance(20 * SECOND);
    market.write();
    assert_eq!(log(100..200).len(), 4, "a clock that jumps back repeats nothing");
}

#[test]
fn step_stands_if_the_write_after_it_fails() {
    let market = new_market();
    market.schedule(&[(StepKind::OfferExpires, 201, 1)]);
    market.clock.advance(SECOND);
    let failed = market.market.write_blocking(|_| Err::<(), _>(Error::not_found("listing")));
    assert!(failed.is_err());
    assert!(market.has_written(201));
    assert_eq!(log(200..300).len(), 1);
}

#[test]
fn rescheduled_and_canceled_steps_do_not_happen_at_their_first_time() {
    let market = new_market();
    let kind = StepKind::OfferExpires;
    market.schedule(&[(kind, 301, 1), (kind, 302, 1)]);
    market.schedule(&[(kind, 301, 5)]);
    market.market.write_blocking(|writer| writer.unschedule(kind, StepSubject(302))).unwrap();
    market.clock.advance(4 * SECOND);
    market.write();
    assert_eq!(log(300..400), []);
    market.clock.advance(4 * SECOND);
    market.write();
    assert_eq!(log(300..400).iter().map(|step| (step.1, step.2)).collect::<Vec<_>>(), [(301, at(5))]);
}

/// The IDs depend only on the step, not on its time of execution or on other IDs.
#[test]
fn ids_of_a_step_depend_on_nothing_else() {
    let ids = [0, 3].map(|others| {
        let market = new_market();
        market.schedule(&[(StepKind::OfferExpires, 401, 1)]);
        for _ in 0..others {
            market.clock.new_id(Collection::Listings);
        }
        market.clock.advance((1 + others) * SECOND);
        market.write();
        log(400..500).last().unwrap().4
    });
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn step_that_fails_is_undone_reported_and_repeated_at_the_next_start() {
    let market = new_market();
    market.schedule(&[(StepKind::OfferExpires, 901, 1), (StepKind::OfferExpires, 501, 2)]);
    market.clock.advance(5 * SECOND);
    market.write();
    market.write();
    assert!(!market.has_written(901), "what the step wrote before it failed is undone");
    assert_eq!(log(500..600).len(), 1, "the steps after it are carried out");
    let found = marketplace::operations::verify::find_inconsistencies(&market.market).unwrap();
    assert_eq!(found, ["the due step offer_expires of row 901 failed: internal error: expected by the test"]);
    let directory = Arc::clone(&market.directory);
    drop(market);
    let market = open(directory, at(6));
    let next = market.market.read_blocking(|reader| store::due_steps::next_due_at(reader.rows)).unwrap();
    assert_eq!(next, Some(at(1)));
}

/// Steps that were overdue at the upgrade send no notifications; later steps do.
#[test]
fn steps_overdue_at_a_migration_are_quiet() {
    let market = new_market();
    market.schedule(&[(StepKind::OfferExpires, 601, 10), (StepKind::OfferExpires, 602, 30)]);
    let directory = Arc::clone(&market.directory);
    drop(market);
    let database = rusqlite_connection(&directory);
    database.execute("UPDATE due_steps SET is_migrated = 1", []).unwrap();
    drop(database);
    let market = open(directory, at(20));
    market.write();
    market.clock.advance(20 * SECOND);
    market.write();
    let steps: Vec<_> = log(600..700).into_iter().map(|step| (step.1, step.2, step.3)).collect();
    assert_eq!(steps, [(601, at(10), true), (602, at(30), false)]);
}

fn rusqlite_connection(directory: &tempfile::TempDir) -> rusqlite::Connection {
    rusqlite::Connection::open(directory.path().join("market.sqlite")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn timer_carries_out_steps_without_a_write() {
    let market = new_market();
    let _background = BackgroundJobs::start(&market.market, &Handle::current()).unwrap();
    market.schedule(&[(StepKind::OfferExpires, 701, 10)]);
    market.clock.advance(10 * SECOND);
    while log(700..800).is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(log(700..800)[0].2, at(10));
}

/// A backlog is carried out in several transactions, and completely before the write.
#[test]
fn backlog_is_carried_out_before_the_write() {
    let market = new_market();
    let steps: Vec<_> = (10_000..10_250).map(|row| (StepKind::OfferExpires, row, 1)).collect();
    market.schedule(&steps);
    market.clock.advance(SECOND);
    let commits = market.market.commit_count();
    market
        .market
        .write_blocking(|_| {
            assert_eq!(log(10_000..10_250).len(), 250);
            Ok(())
        })
        .unwrap();
    assert_eq!(market.market.commit_count() - commits, 4, "three of the steps, and one of the write");
}
