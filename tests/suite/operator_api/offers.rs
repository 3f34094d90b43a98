//! Offers that operators make, change, and decide in the names of teams.

use serde_json::{Value, json};
use uuid::Uuid;

use super::sales_market::{
    assert_invalid_transition, audited, credits, event_types, get, last_event, listed, listing_id, offer,
    patch, post, sales_market, team_id,
};

/// Returns the path of an offer, or of an operation on it.
fn path(offer: &Value, operation: &str) -> String {
    format!("offers/{}{operation}", offer["id"].as_str().unwrap())
}

#[tokio::test]
async fn offer_is_made_changed_and_accepted() {
    let market = sales_market();
    let since = last_event(&market);
    let made = post(&market, "offers", &offer("buyer", "plain", "40.00", "invoice")).await.expect_status(201);
    let now = json!(market.clock().now());
    assert_eq!(
        made,
        json!({
            "id": made["id"], "team_id": team_id("buyer"), "vendor_team_id": team_id("seller"),
            "listing_id": listing_id("plain"), "amount": "40.00", "currency": "USD", "pay_with": "invoice",
            "status": "submitted", "purchase_id": null, "created_at": now, "updated_at": now,
            "expires_at": json!(market.clock().now().plus_days(30)), "decided_at": null,
        })
    );
    let change = json!({"amount": "45.00", "currency": "USD", "pay_with": "credits"});
    let changed = patch(&market, &path(&made, ""), &change).await.ok();
    assert_eq!((&changed["amount"], &changed["pay_with"]), (&json!("45.00"), &json!("credits")));
    let accepted = post(&market, &path(&made, "/accept"), &Value::Null).await.ok();
    assert_eq!((&accepted["status"], &accepted["expires_at"]), (&json!("accepted"), &Value::Null));
    let purchase = get(&market, &format!("purchases/{}", accepted["purchase_id"].as_str().unwrap())).await;
    assert_eq!(
        (&purchase["kind"], &purchase["status"], &purchase["price"], &purchase["offer_id"]),
        (&json!("accepted_bid"), &json!("completed"), &json!("45.00"), &made["id"])
    );
    assert_eq!(credits(&market, "buyer").await, "952.75");
    assert_eq!(get(&market, &path(&made, "")).await, accepted);
    let types = event_types(&market, since);
    assert_eq!(
        types,
        [
            "offer.submitted",
            "offer.submitted",
            "offer.changed",
            "offer.changed",
            "offer.accepted",
            "offer.accepted",
            "purchase.created",
            "purchase.completed",
            "purchase.completed"
        ]
    );
    let operations = ["accept_offer", "update_offer", "create_offer"];
    assert_eq!(
        audited(&market, &made["id"]).await,
        operations.map(|operation| (operation.to_owned(), json!(team_id("buyer"))))
    );
}

#[tokio::test]
async fn offers_are_withdrawn_and_declined() {
    let market = sales_market();
    let first = post(&market, "offers", &offer("buyer", "plain", "0.01", "invoice")).await.expect_status(201);
    let second =
        post(&market, "offers", &offer("other", "plain", "9.99", "credits")).await.expect_status(201);
    let withdrawn = post(&market, &path(&first, "/withdraw"), &Value::Null).await.ok();
    assert_eq!(withdrawn["status"], "withdrawn");
    assert_eq!(withdrawn["decided_at"], json!(market.clock().now()));
    let declined = post(&market, &path(&second, "/decline"), &Value::Null).await.ok();
    assert_eq!((&declined["status"], &declined["purchase_id"]), (&json!("declined"), &Value::Null));
    for operation in ["/withdraw", "/accept", "/decline"] {
        let refused = post(&market, &path(&second, operation), &Value::Null).await;
        assert_invalid_transition(&refused, "declined", &[]);
    }
    assert_invalid_transition(
        &patch(&market, &path(&first, ""), &json!({"amount": "2.00"})).await,
        "withdrawn",
        &[],
    );
    // A team that lost its role can still end what it began.
    let third = post(&market, "offers", &offer("other", "plain", "5.00", "credits")).await.expect_status(201);
    patch(&market, &format!("teams/{}", team_id("other")), &json!({"roles": []})).await.ok();
    let refused = patch(&market, &path(&third, ""), &json!({"amount": "6.00"})).await;
    assert_eq!(refused.expect_error(409), "conflict");
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("PATCH /operator/v1/teams/"));
    post(&market, &path(&third, "/withdraw"), &Value::Null).await.ok();
}

#[tokio::test]
async fn refused_offers_say_why() {
    let market = sales_market();
    let unknown =
        json!({"team_id": Uuid::nil(), "listing_id": Uuid::nil(), "amount": "1.00", "pay_with": "invoice"});
    assert_eq!(
        post(&market, "offers", &unknown).await.problems(),
        ["body.listing_id not_found", "body.team_id not_found"]
    );
    for (amount, problem) in [
        (json!("0.00"), "greater_than_equal"),
        (json!("100000000.01"), "less_than_equal"),
        (json!("1.5"), "string_pattern_mismatch"),
        (json!("-1.00"), "string_pattern_mismatch"),
        (json!("1000000000000.00"), "string_pattern_mismatch"),
        (json!(1.5), "string_type"),
    ] {
        let mut body = offer("buyer", "plain", "1.00", "invoice");
        body["amount"] = amount;
        assert_eq!(
            post(&market, "offers", &body).await.problems(),
            [format!("body.amount {problem}")],
            "{body}"
        );
    }
    let large = offer("buyer", "plain", "1000000000000.00", "invoice");
    let refused = post(&market, "offers", &large).await.expect_status(422);
    assert!(refused["detail"][0]["msg"].as_str().unwrap().contains("at most 12 digits"), "{refused}");
    let mut euros = offer("buyer", "plain", "1.00", "invoice");
    euros["currency"] = json!("EUR");
    assert_eq!(post(&market, "offers", &euros).await.problems(), ["body.currency enum"]);
    for (team, listing) in [("buyer", "hidden"), ("buyer", "files"), ("seller", "plain")] {
        let refused = post(&market, "offers", &offer(team, listing, "1.00", "invoice")).await;
        assert_eq!(refused.expect_error(409), "conflict", "{team} {listing}");
    }
    post(&market, "offers", &offer("buyer", "plain", "1.00", "invoice")).await.expect_status(201);
    let again = post(&market, "offers", &offer("buyer", "plain", "2.00", "invoice")).await;
    assert_eq!(again.expect_error(409), "conflict");
    for operation in ["", "/withdraw", "/accept", "/decline"] {
        let path = format!("offers/{}{operation}", Uuid::nil());
        let method = if operation.is_empty() { "GET" } else { "POST" };
        let response = market
            .call(super::sales_market::OPERATOR, method, &format!("/operator/v1/{path}"), &Value::Null)
            .await;
        assert_eq!(response.expect_error(404), "not_found", "{path}");
    }
}

#[tokio::test]
async fn offers_are_found_by_their_parties_and_status() {
    let market = sales_market();
    for (team, listing) in [("buyer", "plain"), ("other", "plain"), ("buyer", "only")] {
        post(&market, "offers", &offer(team, listing, "7.00", "invoice")).await.expect_status(201);
    }
    let first = get(&market, "offers").await["items"][2].clone();
    post(&market, &path(&first, "/decline"), &Value::Null).await.ok();
    let listing = |key: &str| json!(listing_id(key));
    for (filter, listings) in [
        (format!("team_id={}", team_id("buyer")), vec![listing("only"), listing("plain")]),
        (format!("vendor_team_id={}", team_id("buyer")), vec![]),
        (format!("vendor_team_id={}&status=declined", team_id("seller")), vec![listing("plain")]),
        (format!("listing_id={}&status=submitted", listing_id("plain")), vec![listing("plain")]),
        (format!("team_id={}", Uuid::nil()), vec![]),
    ] {
        assert_eq!(listed(&market, &format!("offers?{filter}"), "listing_id").await, listings, "{filter}");
    }
    let page = get(&market, "offers?limit=2").await;
    assert_eq!((&page["total"], page["items"].as_array().unwrap().len()), (&json!(3), 2));
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = get(&market, &format!("offers?limit=2&cursor={cursor}")).await;
    assert_eq!((&rest["items"][0]["id"], &rest["next_cursor"]), (&first["id"], &Value::Null));
}
