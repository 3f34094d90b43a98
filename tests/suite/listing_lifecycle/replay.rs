//! Replaying a recorded history writes the same rows as the operations that it records.

use marketplace::{
    clock::fixture_record_id,
    domain::{
        listing_lifecycle::{ListingState, Operation},
        listings::Actor,
        time::Timestamp,
    },
    market::Writer,
    operations::{access::Platform, certifications, listing_assets, listing_lifecycle},
    store::{self, notifications::Notification},
    string_enum::StringEnum,
};
use serde_json::{Value, json};

use super::{SECOND, draft_id, fields, rows};
use crate::{
    catalog::small_market::{listing, small_market_with},
    harness::{self, NOW, TestMarket, random::Random},
};

/// A step of a random history.
#[derive(Clone, Copy, Debug)]
enum Step {
    Perform(Operation),
    /// A quality run that started at the previous step ends. Whether it passed.
    Run(bool),
}

/// Returns a random history: allowed operations, and quality runs between them.
fn random_steps(random: &mut Random) -> Vec<Step> {
    let (mut state, mut steps) = (ListingState::NEW, Vec::new());
    for _ in 0..random.below(12) {
        if random.percent(25) {
            steps.push(Step::Run(random.percent(60)));
            continue;
        }
        // A history does not say what an update changed, so it replays as one that ends no approval.
        let not_recorded = [
            Operation::DeleteAsset,
            Operation::ChangeData,
            Operation::Certify,
            Operation::Revoke,
            Operation::UpdateTexts,
        ];
        let allowed = Operation::ALL.iter().copied().filter(|operation| {
            operation.event().is_some()
                && !not_recorded.contains(operation)
                && state.after(*operation).is_ok()
        });
        let operation = *random.pick(&allowed.collect::<Vec<_>>());
        state = state.after(operation).unwrap();
        steps.push(Step::Perform(operation));
    }
    steps
}

/// Returns the record of a listing with this history, and the records of its quality runs.
fn records(number: u64, steps: &[Step], started: Timestamp) -> (Value, Vec<Value>) {
    let time = |index: usize| started.plus_micros((index as i64 + 1) * SECOND).to_string();
    let (mut history, mut runs) = (Vec::new(), Vec::new());
    for (index, step) in steps.iter().enumerate() {
        match step {
            Step::Perform(operation) => {
                let event = operation.event().unwrap();
                history.push(json!({"event": event.as_str(), "at": time(index)}));
            }
            Step::Run(has_passed) => runs.push(json!({
                "key": format!("r{number}-{index}"), "listing": format!("l{number}"), "status": "completed",
                "triggered_by": "platform", "started_at": time(index), "completed_at": time(index),
                "checks": [{"kind": "automated", "check": "c", "label": "C", "mandatory": true, "status": if *has_passed { "passed" } else { "failed" }}],
            })),
        }
    }
    let record = listing(
        &format!("l{number}"),
        &json!({"assets": ["shared-files"], "created_at": started.to_string(), "history": history}),
    );
    (record, runs)
}

/// Performs the steps of a history as they would happen, each at its time.
fn perform_live(market: &TestMarket, number: u64, steps: &[Step], started: Timestamp) {
    let (key, title) = (format!("l{number}"), format!("Listing l{number}"));
    let id = fixture_record_id("listings", &key);
    let set_time = |at: Timestamp| market.clock().advance(at.0 - market.clock().now().0);
    let fields = fields(&title);
    set_time(started);
    let create = |writer: &mut Writer| {
        let seller = store::teams::find(writer.rows, fixture_record_id("teams", "seller"))?.unwrap();
        let vendor = Platform::of_process().vendor(seller).unwrap();
        let row_id = listing_lifecycle::create(writer, &vendor, Actor::Team, id, &fields)?;
        let asset = fixture_record_id("assets", "shared-files");
        let (asset, _) = store::assets::find_row_id_and_team(writer.rows, asset)?.unwrap();
        store::listings::attach_asset(writer.rows, row_id, asset)
    };
    market.write(create).unwrap();
    for (index, step) in steps.iter().enumerate() {
        set_time(started.plus_micros((index as i64 + 1) * SECOND));
        let work = |writer: &mut Writer| match step {
            Step::Run(has_passed) => {
                let row = store::listings::find(writer.rows, id)?.unwrap();
                certifications::apply_run_result(writer, Platform::of_process(), row.row_id, *has_passed)
            }
            Step::Perform(Operation::UpdateTerms) => {
                harness::listing_lifecycle::update(writer, id, &fields).map(|_| ())
            }
            Step::Perform(operation @ (Operation::Attach | Operation::Detach)) => {
                let vendor = Platform::of_process().vendor_of_listing(writer.rows, id)?;
                listing_assets::replay_change(writer, &vendor, Actor::Team, id, *operation).map(|_| ())
            }
            Step::Perform(operation) => {
                harness::listing_lifecycle::perform(writer, id, *operation).map(|_| ())
            }
        };
        market.write(work).unwrap_or_else(|error| panic!("{step:?} of {steps:?}: {error}"));
    }
}

fn market_with_shared_asset() -> TestMarket {
    let market = TestMarket::with_settings(|settings| settings.quality.credits_per_run = 0.0);
    let files = json!({"key": "shared-files", "team": "seller", "sku": "raw_data", "title": "Files",
        "created_at": "-P9D", "raw_data": {}});
    crate::catalog::small_market::seed_market(&market, &[], &json!({"assets": [files]}));
    market
}

/// A fixture set that records a history, and the operations of that history as they happen, write the same
/// rows.
#[test]
fn replayed_history_equals_live_operations() {
    let (replayed, live) = (market_with_shared_asset(), market_with_shared_asset());
    let mut random = Random::new(5);
    let started = Timestamp::parse(NOW).unwrap();
    let histories: Vec<Vec<Step>> = (0..60).map(|_| random_steps(&mut random)).collect();
    let (mut listing_records, mut run_records) = (Vec::new(), Vec::new());
    for (number, steps) in (0..).zip(&histories) {
        let (record, runs) = records(number, steps, started);
        listing_records.push(record);
        run_records.extend(runs);
        perform_live(&live, number, steps, started);
    }
    replayed.clock().advance(3_600 * SECOND);
    replayed.seed_json(&json!({"listings": listing_records, "quality_runs": run_records}));
    let mut events = 0;
    for (number, steps) in (0..).zip(&histories) {
        let id = fixture_record_id("listings", &format!("l{number}"));
        let read = |market: &TestMarket| {
            let found = market.read(|reader| Ok(rows(reader.rows, id))).unwrap();
            (found.entry, found.certified_at, found.history)
        };
        let expected = read(&live);
        events += expected.2.len();
        assert_eq!(without_row_ids(read(&replayed)), without_row_ids(expected), "{steps:?}");
    }
    assert!(events > 200, "{events}");
}

/// Removes the row IDs, which depend on the order in which listings were created.
fn without_row_ids<T, U>((entry, certified_at, history): (String, T, U)) -> (String, T, U) {
    let (_, rest) = entry.split_once(", id: ").unwrap();
    (rest.to_owned(), certified_at, history)
}

/// A replayed history sends no notifications and starts no quality runs: the set has those as records of
/// their own.
#[tokio::test]
async fn replayed_history_notifies_nobody() {
    let history = json!([{"event": "submitted", "at": "-P5D"}, {"event": "approved", "at": "-P4D"}]);
    let notification = json!({"key": "n", "team": "seller", "type": "listing_approved", "title": "Approved",
        "message": "As recorded.", "read": false, "created_at": "-P4D"});
    let market = small_market_with(
        &[listing("a", &json!({"history": history})), listing("b", &json!({"history": history}))],
        &json!({"notifications": [notification]}),
    );
    let sent = market.read(|reader| {
        let seller = store::teams::find(reader.rows, fixture_record_id("teams", "seller"))?.unwrap();
        store::notifications::list_newest(reader.rows, seller.row_id, 10)
    });
    let messages: Vec<String> = sent.unwrap().into_iter().map(|sent: Notification| sent.message).collect();
    assert_eq!(messages, ["As recorded."]);
    let quality = market.get("mkt_seller", &format!("/v2/listings/{}/qc", draft_id())).await.ok();
    assert_eq!(quality["latest_run"], Value::Null);
}
