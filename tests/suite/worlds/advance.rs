//! What an advance carries out, and what it reports.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use marketplace::{
    domain::{
        events::EventType,
        jobs::JobKind,
        principals::KeyScope,
        webhooks::{AttemptError, AttemptResult},
    },
    market::Requester,
    operations::{
        access::Platform,
        keys, webhook_inbox,
        webhooks::{self, CheckedUrl, WebhookInput},
    },
    worlds::{DoneWork, FaultRule, FaultTiming, NewFault, START, WorkKind, WorkOutcome, World},
};

use super::{DAY, Sandbox, create_team, events, tables};
use crate::harness::TestMarket;

/// Microseconds per second.
const SECOND: i64 = 1_000_000;

fn create_webhook(world: &World, event_types: &[EventType]) {
    let market = world.market();
    let url =
        CheckedUrl::without_lookup(&market.settings().webhooks, "https://receiver.example/hook").unwrap();
    let input = WebhookInput { team: None, url: &url, description: "", event_types };
    market
        .write_blocking(|writer| webhooks::create(writer, Platform::of_process(), &input).map(drop))
        .unwrap();
}

/// Returns the groups, kinds, times in seconds since the start, and outcomes of work, without cleanups.
fn describe(
    done: &[DoneWork],
    start: marketplace::domain::time::Timestamp,
) -> Vec<(String, i64, WorkOutcome)> {
    let done = done.iter().filter(|work| work.kind.as_str() != "sweep");
    done.map(|work| {
        let kind = format!("{} {}", work.kind.group(), work.kind.as_str());
        (kind, (work.due_at.0 - start.0) / SECOND, work.outcome)
    })
    .collect()
}

#[test]
fn advance_reports_itself_and_lists_what_it_carried_out() {
    let sandbox = Sandbox::new(1);
    let world = sandbox.create("one", "demo");
    let before = events(&world).len();
    assert_eq!(world.advance_by(0, Requester::process()).unwrap(), []);
    assert_eq!(events(&world).len(), before, "no time has passed");
    let done = world.advance_by(90 * DAY, Requester::process().with_request_id("r-1")).unwrap();
    assert_eq!(world.clock().now, START.plus_micros(90 * DAY));
    let steps: Vec<&DoneWork> = done.iter().filter(|work| matches!(work.kind, WorkKind::Step(_))).collect();
    assert!(!steps.is_empty() && steps.iter().all(|step| step.outcome == WorkOutcome::Completed));
    assert!(done.iter().is_sorted_by_key(|work| work.due_at));
    assert!(steps.iter().all(|step| !step.subject_id.is_empty()));
    let cleanups = done.iter().filter(|work| work.kind.as_str() == "sweep").count();
    assert_eq!(cleanups, 90 * 4, "every six hours");
    let all = events(&world);
    let (_, kind, at, data) = all.last().unwrap();
    assert_eq!((*kind, *at), ("clock.advanced", world.clock().now));
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["from"], "2026-03-01T09:00:00.000Z");
    assert_eq!(data["to"], "2026-05-30T09:00:00.000Z");
    assert_eq!((data["steps"].as_u64(), data["jobs"].as_u64()), (Some(steps.len() as u64), Some(360)));
}

#[test]
fn two_callers_carry_out_each_step_once() {
    let sandbox = Sandbox::new(2);
    let [one, other] = ["one", "other"].map(|name| sandbox.create(name, "demo"));
    let expected = one.advance_to(START.plus_micros(90 * DAY)).unwrap();
    let done: Vec<Vec<DoneWork>> = thread::scope(|scope| {
        let advance = || other.advance_to(START.plus_micros(90 * DAY)).unwrap();
        let threads = [(); 2].map(|()| scope.spawn(advance));
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert!(done.iter().any(Vec::is_empty), "the second caller finds nothing to do");
    assert_eq!(done.concat(), expected);
    assert_eq!(events(&one), events(&other));
}

#[test]
fn deliveries_are_retried_at_their_times() {
    let sandbox = Sandbox::new(1);
    let world = sandbox.create("one", "empty");
    create_webhook(&world, &[EventType::TeamCreated]);
    let received = Arc::new(Mutex::new(Vec::new()));
    let inbox = Arc::clone(&received);
    world.set_receiver(Arc::new(move |message| {
        inbox.lock().unwrap().push(message.clone());
        let outcome = if message.earlier_attempts < 2 { Err(AttemptError::Unreachable) } else { Ok(204) };
        AttemptResult { outcome, ..webhook_inbox::accept() }
    }));
    let start = world.clock().now;
    create_team(&world, "First");
    world.settle().unwrap();
    assert_eq!(received.lock().unwrap().len(), 1, "before the next request");
    let done = world.advance_by(DAY, Requester::process()).unwrap();
    let delivery = |seconds, outcome| ("delivery team.created".to_owned(), seconds, outcome);
    assert_eq!(
        describe(&done, start),
        [delivery(5, WorkOutcome::Retried), delivery(305, WorkOutcome::Completed)]
    );
    let received = received.lock().unwrap();
    assert!(received.iter().all(|message| message.id == received[0].id), "the same ID at each attempt");
    let times: Vec<i64> = received.iter().map(|message| message.timestamp - start.seconds()).collect();
    assert_eq!(times, [0, 5, 305], "of the world's clock");
    let signed = |index: usize| received[index].headers(received[index].timestamp);
    assert_ne!(signed(0), signed(1));
}

#[test]
fn reports_of_advances_do_not_change_what_webhooks_get() {
    let sandbox = Sandbox::new(2);
    let ids = [1, 3].map(|steps| {
        let world = sandbox.create(&format!("in-{steps}"), "empty");
        create_webhook(&world, &[]);
        let received = Arc::new(Mutex::new(Vec::new()));
        let inbox = Arc::clone(&received);
        world.set_receiver(Arc::new(move |message| {
            inbox.lock().unwrap().push((message.event_type, message.id.clone()));
            webhook_inbox::accept()
        }));
        for step in 1..=steps {
            let done = world.advance_to(START.plus_micros(step * 3 * DAY / steps)).unwrap();
            let last = done.last().unwrap();
            assert_eq!(last.kind, WorkKind::Delivery(EventType::ClockAdvanced), "operators get the report");
        }
        create_team(&world, "First");
        world.settle().unwrap();
        let mut received = received.lock().unwrap().clone();
        let all = received.len();
        received.sort_by(|one, other| one.1.cmp(&other.1));
        received.dedup_by(|one, other| one.1 == other.1);
        assert_eq!(received.len(), all, "each message has its own ID");
        received.retain(|(event_type, _)| *event_type != EventType::ClockAdvanced);
        received
    });
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn use_of_a_key_is_visible_to_the_next_request() {
    let sandbox = Sandbox::new(1);
    let world = sandbox.create("one", "demo");
    let create = |writer: &mut marketplace::market::Writer| {
        keys::create_for_operator(writer, Platform::of_process(), "Reader", KeyScope::All, None)
    };
    let (_, key) = world.market().write_blocking(create).unwrap();
    let market = TestMarket::of_world(Arc::clone(&world));
    let before = world.clock();
    let last_used = async || {
        let page = market.get(&key, "/operator/v1/operator-keys?limit=100").await.ok();
        let found = page["items"].as_array().unwrap().iter().find(|item| item["name"] == "Reader").cloned();
        found.unwrap()["last_used_at"].clone()
    };
    assert!(last_used().await.is_null());
    let now = world.clock().now.to_string();
    assert_eq!(last_used().await, now);
    assert_eq!(world.clock().now, before.now, "it does not move the clock");
    assert_eq!(world.clock().secret_count, before.secret_count);
}

#[test]
fn secrets_continue_in_forks_and_begin_anew_after_a_reset() {
    let sandbox = Sandbox::new(1);
    let world = sandbox.create("one", "empty");
    let create = || {
        let create = |writer: &mut marketplace::market::Writer| {
            keys::create_for_operator(writer, Platform::of_process(), "Key", KeyScope::All, None)
        };
        world.market().write_blocking(create).unwrap().1
    };
    let before = world.clock().secret_count;
    let (first, second) = (create(), create());
    assert_ne!(first, second);
    assert_eq!(world.clock().secret_count, before + 2);
    world.reset().unwrap();
    assert_eq!((create(), create()), (first, second));
}

/// Returns the tables of a world after an advance, and what was done.
fn tables_after(world: &World, days: i64) -> (Vec<DoneWork>, tables::Tables) {
    let done = world.advance_to(START.plus_micros(days * DAY)).unwrap();
    (done, tables::tables(&world.market()))
}

#[test]
fn cleanups_that_find_nothing_cost_nothing() {
    let sandbox = Sandbox::new(2);
    let [fast, slow] = ["fast", "slow"].map(|name| sandbox.create(name, "demo"));
    // With a fault for other jobs, each cleanup is carried out.
    let rule = FaultRule::Jobs(Some(JobKind::Estimate));
    slow.faults().add(NewFault { rule, timing: FaultTiming::default(), is_forced: false }).unwrap();
    let [(fast_done, fast_tables), (slow_done, slow_tables)] =
        [&fast, &slow].map(|world| tables_after(world, 100));
    assert_eq!(fast_done, slow_done);
    tables::assert_same(&fast_tables, &slow_tables, "after cleanups that were skipped");
    let (days, before) = (36_500, fast.market().statement_count());
    let (done, _) = tables_after(&fast, 100 + days);
    let cleanups = done.iter().filter(|work| work.kind.as_str() == "sweep").count();
    assert_eq!(cleanups as i64, 4 * days, "each of them is reported");
    let statements = fast.market().statement_count() - before;
    assert!(statements < 20_000, "{statements} statements for {cleanups} cleanups");
}
