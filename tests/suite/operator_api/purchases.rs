//! Purchases that operators make in the names of buyers, and decide for the platform.

use serde_json::{Value, json};
use uuid::Uuid;

use super::sales_market::{
    DAY, OPERATOR, assert_invalid_transition, asset_id, audited, credits, event_types, get, last_event,
    listed, listing_id, post, purchase, sales_market, team_id,
};

/// Returns the path of an operation on a purchase.
fn path(purchase: &Value, operation: &str) -> String {
    format!("purchases/{}{operation}", purchase["id"].as_str().unwrap())
}

#[tokio::test]
async fn purchase_with_credits_is_completed_at_once() {
    let market = sales_market();
    let since = last_event(&market);
    let bought = post(&market, "purchases", &purchase("buyer", "plain", "credits")).await.expect_status(201);
    let now = json!(market.clock().now());
    assert_eq!(
        bought,
        json!({
            "id": bought["id"], "team_id": team_id("buyer"), "vendor_team_id": team_id("seller"),
            "listing_id": listing_id("plain"), "kind": "full", "status": "completed", "pay_with": "credits",
            "exclusive": false, "price": "50.00", "buyer_fee": "2.50", "platform_fee": "5.00", "total": "52.50",
            "net": "45.00", "currency": "USD", "scope": "all", "asset_count": 2,
            "asset_ids": [asset_id("c1"), asset_id("c2")], "offer_id": null,
            "agreement_document_id": bought["agreement_document_id"], "agreement_signed_at": now,
            "created_at": now, "expires_at": null, "paid_at": now, "cancelled_at": null, "refunded_at": null,
        })
    );
    assert!(bought["agreement_document_id"].is_string());
    assert_eq!(credits(&market, "buyer").await, "947.50");
    assert_eq!(get(&market, &path(&bought, "")).await, bought);
    assert_eq!(event_types(&market, since), ["purchase.created", "purchase.completed", "purchase.completed"]);
    assert_eq!(
        audited(&market, &bought["id"]).await,
        [("create_purchase".to_owned(), json!(team_id("buyer")))]
    );
}

#[tokio::test]
async fn purchase_by_invoice_is_completed_canceled_or_expires() {
    let market = sales_market();
    let create =
        async |team| post(&market, "purchases", &purchase(team, "plain", "invoice")).await.expect_status(201);
    let [first, second, third] = [create("buyer").await, create("other").await, create("both").await];
    assert_eq!(first["status"], "pending");
    assert_eq!(first["expires_at"], json!(market.clock().now().plus_days(14)));
    assert_eq!(listed(&market, "purchases?status=pending", "id").await.len(), 3);
    let since = last_event(&market);
    let completed = post(&market, &path(&first, "/complete"), &Value::Null).await.ok();
    assert_eq!((&completed["status"], &completed["expires_at"]), (&json!("completed"), &Value::Null));
    assert_eq!(event_types(&market, since), ["purchase.completed", "purchase.completed"]);
    assert_eq!(credits(&market, "buyer").await, "1000.00", "the money comes from outside");
    let canceled = post(&market, &path(&second, "/cancel"), &Value::Null).await.ok();
    assert_eq!(canceled["status"], "cancelled");
    assert_eq!(canceled["cancelled_at"], json!(market.clock().now()));
    assert_invalid_transition(
        &post(&market, &path(&first, "/complete"), &Value::Null).await,
        "completed",
        &["refund"],
    );
    assert_invalid_transition(
        &post(&market, &path(&second, "/cancel"), &Value::Null).await,
        "cancelled",
        &[],
    );
    assert_invalid_transition(
        &post(&market, &path(&third, "/refund"), &Value::Null).await,
        "pending",
        &["complete", "cancel"],
    );
    market.clock().advance(14 * DAY);
    market.market().run_due_steps().unwrap();
    let expired = get(&market, &path(&third, "")).await;
    assert_eq!((&expired["status"], &expired["expires_at"]), (&json!("cancelled"), &Value::Null));
    let operations: Vec<String> =
        audited(&market, &second["id"]).await.into_iter().map(|(operation, _)| operation).collect();
    assert_eq!(operations, ["cancel_purchase", "create_purchase"]);
}

#[tokio::test]
async fn refund_returns_the_money_while_it_is_possible() {
    let market = sales_market();
    let create =
        async |team| post(&market, "purchases", &purchase(team, "plain", "credits")).await.expect_status(201);
    let [first, second, third] = [create("buyer").await, create("other").await, create("both").await];
    let refunded = post(&market, &path(&first, "/refund"), &Value::Null).await.ok();
    assert_eq!(refunded["status"], "refunded");
    assert_eq!(refunded["refunded_at"], json!(market.clock().now()));
    assert_eq!(credits(&market, "buyer").await, "1000.00");
    // Earnings that the vendor has spent cannot be refunded.
    market.clock().advance(8 * DAY);
    let body = json!({"team_id": team_id("seller"), "amount": "90.00"});
    let spent = post(&market, "conversions", &body).await.expect_status(201);
    assert_eq!(spent["amount"], "90.00");
    let refused = post(&market, &path(&second, "/refund"), &Value::Null).await;
    assert_eq!(refused.expect_error(409), "insufficient_earnings");
    assert_eq!(credits(&market, "other").await, "947.50");
    market.clock().advance(30 * DAY);
    let refused = post(&market, &path(&third, "/refund"), &Value::Null).await;
    assert_eq!(refused.expect_error(409), "refund_window_closed");
}

#[tokio::test]
async fn selections_and_samples_have_their_own_scope() {
    let market = sales_market();
    let mut selection = purchase("buyer", "plain", "credits");
    selection["asset_ids"] = json!([asset_id("c1")]);
    let bought = post(&market, "purchases", &selection).await.expect_status(201);
    assert_eq!((&bought["scope"], &bought["price"]), (&json!("selection"), &json!("20.00")));
    assert_eq!((&bought["asset_count"], &bought["asset_ids"]), (&json!(1), &json!([asset_id("c1")])));
    let mut sample = purchase("buyer", "plain", "credits");
    sample["kind"] = json!("sample");
    let bought = post(&market, "purchases", &sample).await.expect_status(201);
    assert_eq!((&bought["scope"], &bought["price"]), (&json!("sample"), &json!("2.00")));
    assert_eq!(listed(&market, "purchases?kind=sample", "id").await, [bought["id"].clone()]);
    sample["asset_ids"] = json!([asset_id("c1")]);
    assert_eq!(post(&market, "purchases", &sample).await.problems(), ["body.asset_ids value_error"]);
    let mut other = purchase("other", "plain", "credits");
    other["asset_ids"] = json!([asset_id("c2"), asset_id("c3")]);
    assert_eq!(
        post(&market, "purchases", &other).await.problems(),
        ["body.asset_ids.0 value_error", "body.asset_ids.1 unknown_reference"]
    );
    other["asset_ids"] = json!([]);
    assert_eq!(post(&market, "purchases", &other).await.problems(), ["body.asset_ids too_short"]);
}

#[tokio::test]
async fn refused_purchases_say_why() {
    let market = sales_market();
    let mut bid = purchase("buyer", "plain", "credits");
    bid["kind"] = json!("accepted_bid");
    assert_eq!(post(&market, "purchases", &bid).await.problems(), ["body.kind value_error"]);
    let unknown = json!({
        "team_id": Uuid::nil(), "listing_id": Uuid::nil(), "kind": "full", "pay_with": "credits",
    });
    assert_eq!(
        post(&market, "purchases", &unknown).await.problems(),
        ["body.listing_id not_found", "body.team_id not_found"]
    );
    for (team, listing) in [("buyer", "hidden"), ("seller", "plain")] {
        let refused = post(&market, "purchases", &purchase(team, listing, "credits")).await;
        assert_eq!(refused.expect_error(409), "conflict", "{team} {listing}");
    }
    let body = json!({"team_id": team_id("buyer"), "amount": "-947.51", "description": "Booked twice"});
    post(&market, "adjustments", &body).await.expect_status(201);
    let refused = post(&market, "purchases", &purchase("buyer", "plain", "credits")).await;
    assert_eq!(refused.expect_error(409), "insufficient_credits");
    assert_eq!(credits(&market, "buyer").await, "52.49");
    assert_eq!(listed(&market, "purchases", "id").await, [Value::Null; 0]);
    for operation in ["", "/complete", "/cancel", "/refund"] {
        let path = format!("/operator/v1/purchases/{}{operation}", Uuid::nil());
        let method = if operation.is_empty() { "GET" } else { "POST" };
        assert_eq!(market.call(OPERATOR, method, &path, &Value::Null).await.expect_error(404), "not_found");
    }
}

#[tokio::test]
async fn purchases_are_found_by_their_parties_and_status() {
    let market = sales_market();
    for (team, listing, pay_with) in
        [("buyer", "plain", "credits"), ("other", "files", "invoice"), ("buyer", "files", "credits")]
    {
        post(&market, "purchases", &purchase(team, listing, pay_with)).await.expect_status(201);
    }
    let listing = |key: &str| json!(listing_id(key));
    for (filter, listings) in [
        (format!("team_id={}", team_id("buyer")), vec![listing("files"), listing("plain")]),
        (format!("team_id={}&status=pending", team_id("other")), vec![listing("files")]),
        (
            format!("vendor_team_id={}&status=completed", team_id("seller")),
            vec![listing("files"), listing("plain")],
        ),
        (format!("listing_id={}", listing_id("files")), vec![listing("files"), listing("files")]),
        ("kind=sample".to_owned(), vec![]),
        (format!("vendor_team_id={}", Uuid::nil()), vec![]),
    ] {
        assert_eq!(listed(&market, &format!("purchases?{filter}"), "listing_id").await, listings, "{filter}");
    }
}
