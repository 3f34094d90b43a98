//! Decisions on what somebody has seen: by two reviewers at once, and after a change.

use marketplace::{
    clock::fixture_record_id,
    domain::{listing_lifecycle::Operation, principals::KeyScope},
    market::Writer,
    store,
};
use serde_json::{Value, json};

use super::{decide, market, open, path_of, perform, review_status, reviewer};
use crate::{
    catalog::small_market::{listing, small_market_with},
    harness::{TestMarket, listing_lifecycle, markup},
    sales::listing_id,
};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// Replaces the description of a listing.
fn describe(market: &TestMarket, key: &str, description: &str) {
    let change = |writer: &mut Writer| {
        let listing = store::listings::find(writer.rows, listing_id(key))?.unwrap();
        let mut fields = store::listings::find_fields(writer.rows, listing.row_id)?;
        description.clone_into(&mut fields.description);
        listing_lifecycle::update(writer, listing.id, &fields)
    };
    market.write(change).unwrap();
}

#[tokio::test]
async fn second_reviewer_is_told_who_decided() {
    let market = market();
    let (ada, bob) = (reviewer(&market, "Ada").await, reviewer(&market, "Bob").await);
    let (of_ada, of_bob) = (open(&ada, &path_of("b")).await, open(&bob, &path_of("b")).await);
    let first = decide(&ada, &of_ada, "b", "request_changes", "Say whose harbors.").await;
    assert_eq!(first.status(), 303, "{}", first.visible());
    // The same form again does nothing else.
    let again = decide(&ada, &of_ada, "b", "request_changes", "Say whose harbors.").await;
    assert_eq!(again.location(), first.location());
    for (decision, note) in [("approve", ""), ("request_changes", "Other."), ("reject_for_good", "No.")] {
        let page = decide(&bob, &of_bob, "b", decision, note).await;
        page.expect(409, "Ada has requested changes of this listing already, at ");
        page.expect(409, "<bdi>Ada</bdi> has requested changes").expect(409, "Say whose harbors.");
        markup::parse(&page.text).unwrap();
    }
    assert_eq!(review_status(&market, "b"), "changes_requested");
    let page = open(&bob, &path_of("b")).await;
    page.expect(200, "This listing is not in review now.")
        .expect(200, "Changes requested</b> by <bdi>Ada</bdi>");
    assert!(!page.text.contains("value=\"approve\""), "{}", page.visible());
    // The operator API names the key, too.
    let carol = market.operator_key("Carol", KeyScope::All);
    let of_bob = open(&bob, &path_of("c")).await;
    let approve = format!("/operator/v1/listings/{}/approve", listing_id("c"));
    market.call(&carol, "POST", &approve, &Value::Null).await.ok();
    decide(&bob, &of_bob, "c", "approve", "").await.expect(409, "Carol has approved this listing already");
    let of_bob = open(&bob, &path_of("a")).await;
    perform(&market, "a", Operation::Withdraw);
    decide(&bob, &of_bob, "a", "approve", "").await.expect(409, "The vendor has withdrawn the listing");
}

#[tokio::test]
async fn decision_on_an_earlier_revision_is_refused_with_the_difference() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    let seen = open(&ada, &path_of("b")).await;
    market.clock().advance(DAY);
    perform(&market, "b", Operation::Withdraw);
    describe(&market, "b", "Of ten harbors.");
    perform(&market, "b", Operation::Submit);
    for (decision, note) in [("approve", ""), ("request_changes", "Why nine?"), ("certify", "")] {
        let stale = decide(&ada, &seen, "b", decision, note).await;
        stale.expect(409, "The listing was changed since you opened it").expect(409, "<del>nine</del>");
        stale.expect(409, "<ins>ten</ins>").expect(409, "Compared with round 1").expect(409, note);
        markup::parse(&stale.text).unwrap();
        assert_eq!(review_status(&market, "b"), "in_review");
    }
    for revision in ["", "nonsense", "2-00"] {
        let fields = [("decision", "approve"), ("revision", revision)];
        ada.submit(&seen, &path_of("b"), &fields).await.expect(409, "The listing was changed since");
    }
    // The refused form can be sent again: it contains the revision that it shows now.
    let stale = decide(&ada, &seen, "b", "request_changes", "Why ten?").await;
    let answer = ada.submit(&stale, &path_of("b"), &[("decision", "request_changes")]).await;
    assert_eq!(answer.status(), 303, "{}", answer.visible());
    assert_eq!(review_status(&market, "b"), "changes_requested");
    open(&ada, &path_of("b")).await.expect(200, "Why ten?");
}

/// Assets can change while their listing is in review. Then its revision is another one in the same round.
#[tokio::test]
async fn change_of_an_asset_is_another_revision() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    let seen = open(&ada, &path_of("a")).await;
    assert!(!seen.text.contains("It has changed since it was submitted"), "{}", seen.visible());
    let asset = format!("/v2/raw-data/{}", fixture_record_id("assets", "a-files"));
    market.call("mkt_seller", "PATCH", &asset, &json!({"title": "Other files"})).await.ok();
    let stale = decide(&ada, &seen, "a", "approve", "").await;
    stale
        .expect(409, "The listing was changed since")
        .expect(409, "Assets changed: 1")
        .expect(409, "Other files");
    let page = open(&ada, &path_of("a")).await;
    page.expect(200, "It has changed since it was submitted").expect(200, "?since=1");
    open(&ada, &format!("{}?since=1", path_of("a"))).await.expect(200, "Assets changed: 1");
    assert_eq!(decide(&ada, &page, "a", "approve", "").await.status(), 303);
}

/// The number of tasks and the newest one stay the same.
#[tokio::test]
async fn new_version_of_a_task_is_another_revision() {
    let version = json!({"created_at": "-P59D", "current_state": "live", "lifecycle_stage": "accepted"});
    let task = json!({"key": "one", "name": "One", "created_at": "-P60D", "versions": [version]});
    let market = small_market_with(
        &[listing("a", &json!({"assets": ["set"], "history": [{"event": "submitted", "at": "-P3D"}]}))],
        &json!({
            "tasksets": [{"key": "s", "team": "seller", "name": "S", "created_at": "-P96D", "columns": [], "tasks": [task]}],
            "assets": [{"key": "set", "team": "seller", "sku": "taskset", "title": "Set", "created_at": "-P95D", "taskset": "s"}],
        }),
    );
    let ada = reviewer(&market, "Ada").await;
    let seen = open(&ada, &path_of("a")).await;
    assert!(!seen.text.contains("It has changed since it was submitted"), "{}", seen.visible());
    let key = market.operator_key("Carol", KeyScope::All);
    let versions = format!("/operator/v1/tasks/{}/versions", fixture_record_id("tasks", "s/one"));
    let version = json!({"current_state": "live", "brief": {"prompt": "Sort it."}});
    market.call(&key, "POST", &versions, &version).await.expect_status(201);
    let stale = decide(&ada, &seen, "a", "approve", "").await;
    stale.expect(409, "The listing was changed since").expect(409, "new versions of tasks: 1");
    let page = open(&ada, &path_of("a")).await;
    page.expect(200, "It has changed since it was submitted");
    assert_eq!(decide(&ada, &page, "a", "approve", "").await.status(), 303);
}

#[tokio::test]
async fn changes_are_shown_since_the_last_decision_or_approval() {
    let market = market();
    let ada = reviewer(&market, "Ada").await;
    perform(&market, "b", Operation::Approve);
    for (description, decision) in
        [("Of ten harbors.", Operation::RequestChanges), ("Of eleven harbors.", Operation::Certify)]
    {
        market.clock().advance(DAY);
        describe(&market, "b", description);
        perform(&market, "b", Operation::Submit);
        perform(&market, "b", decision);
    }
    let page = open(&ada, &path_of("b")).await;
    page.expect(200, "<del>ten</del>").expect(200, "Compared with round 2").expect(200, "round 3");
    let page = open(&ada, &format!("{}?since=approval", path_of("b"))).await;
    page.expect(200, "<del>nine</del>").expect(200, "Compared with round 1");
    open(&ada, &format!("{}?since=77", path_of("b"))).await.expect(200, "no longer stored");
}
