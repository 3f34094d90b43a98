//! Wallets, the ledger, and what moves money.

use serde_json::{Value, json};
use uuid::Uuid;

use super::sales_market::{
    DAY, OPERATOR, assert_invalid_transition, audited, credits, event_types, get, last_event, listed, post,
    purchase, sales_market, team_id,
};
use crate::harness::TestMarket;

/// Returns the body of an operation that moves money of a team.
fn amount(team: &str, amount: &str) -> Value {
    json!({"team_id": team_id(team), "amount": amount})
}

/// Returns a market in which the seller has available earnings of $45.00, and the purchase that they are from.
async fn market_with_earnings() -> (TestMarket, Value) {
    let market = sales_market();
    let bought = post(&market, "purchases", &purchase("buyer", "plain", "credits")).await.expect_status(201);
    market.clock().advance(8 * DAY);
    market.market().run_due_steps().unwrap();
    (market, bought)
}

#[tokio::test]
async fn wallet_shows_credits_and_earnings() {
    let market = sales_market();
    post(&market, "purchases", &purchase("buyer", "plain", "credits")).await.expect_status(201);
    let path = format!("wallets/{}", team_id("seller"));
    let wallet = |pending: &str, available: &str| {
        json!({
            "team_id": team_id("seller"), "credits": "1000.00", "earnings_total": "45.00",
            "earnings_pending": pending, "earnings_available": available, "currency": "USD",
        })
    };
    assert_eq!(get(&market, &path).await, wallet("45.00", "0.00"));
    market.clock().advance(8 * DAY);
    market.market().run_due_steps().unwrap();
    assert_eq!(get(&market, &path).await, wallet("0.00", "45.00"));
    let all = ["other", "buyer", "both", "seller"].map(|team| json!(team_id(team)));
    assert_eq!(listed(&market, "wallets", "team_id").await, all);
    let unknown = market.get(OPERATOR, &format!("/operator/v1/wallets/{}", Uuid::nil())).await;
    assert_eq!(unknown.expect_error(404), "not_found");
}

#[tokio::test]
async fn amounts_have_ascii_digits_and_two_decimals() {
    let (market, _) = market_with_earnings().await;
    let team = team_id("buyer");
    for amount in ["\u{665}.\u{660}\u{660}", "\u{ff15}.00", "5", "5.0", "5.000", "+5.00", " 5.00", "5e2", ""]
    {
        for path in ["credit-purchases", "adjustments", "conversions", "withdrawals"] {
            let refused = post(&market, path, &json!({"team_id": team, "amount": amount})).await;
            let problems = refused.problems();
            assert!(
                problems.iter().any(|problem| problem.starts_with("body.amount")),
                "{amount}: {problems:?}"
            );
        }
    }
}

#[tokio::test]
async fn ledger_entries_have_all_their_postings() {
    let (market, bought) = market_with_earnings().await;
    let id = bought["id"].as_str().unwrap();
    let page = get(&market, &format!("ledger-entries?purchase_id={id}")).await;
    let entries = page["items"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    let (buyer, seller) = (team_id("buyer"), team_id("seller"));
    let posting = |account: &str, team: Option<Uuid>, amount: &str| json!({"account": account, "team_id": team, "amount": amount});
    let [fee, sale] = [&entries[0], &entries[1]];
    assert_eq!((&fee["entry_type"], &sale["entry_type"]), (&json!("platform_fee"), &json!("sale")));
    assert_eq!(
        sale["postings"],
        json!([
            posting("credits", Some(buyer), "-52.50"),
            posting("earnings", Some(seller), "50.00"),
            posting("platform", None, "2.50")
        ])
    );
    assert_eq!(
        fee["postings"],
        json!([posting("earnings", Some(seller), "-5.00"), posting("platform", None, "5.00")])
    );
    assert_eq!((&sale["purchase_id"], &sale["currency"]), (&bought["id"], &json!("USD")));
    assert_eq!(get(&market, &format!("ledger-entries/{}", sale["id"].as_str().unwrap())).await, *sale);
    for (filter, types) in [
        (format!("team_id={buyer}&entry_type=sale"), vec!["sale"]),
        (format!("team_id={buyer}"), vec!["sale", "adjustment"]),
        (format!("entry_type=platform_fee&purchase_id={id}"), vec!["platform_fee"]),
        ("entry_type=withdrawal".to_owned(), vec![]),
        (format!("purchase_id={}", Uuid::nil()), vec![]),
    ] {
        let found = listed(&market, &format!("ledger-entries?{filter}"), "entry_type").await;
        assert_eq!(found, types.into_iter().map(Value::from).collect::<Vec<_>>(), "{filter}");
    }
}

#[tokio::test]
async fn credits_are_bought() {
    let market = sales_market();
    let since = last_event(&market);
    let mut body = amount("buyer", "20.05");
    body["currency"] = json!("USD");
    let bought = post(&market, "credit-purchases", &body).await.expect_status(201);
    assert_eq!((&bought["amount"], &bought["status"]), (&json!("20.05"), &json!("completed")));
    assert_eq!(credits(&market, "buyer").await, "1020.05");
    let entry =
        get(&market, &format!("ledger-entries/{}", bought["ledger_entry_id"].as_str().unwrap())).await;
    assert_eq!((&entry["entry_type"], &entry["credit_purchase_id"]), (&json!("adjustment"), &bought["id"]));
    assert_eq!(entry["postings"][1]["account"], "payments");
    let filter = format!("credit-purchases?team_id={}", team_id("buyer"));
    assert_eq!(listed(&market, &filter, "id").await, [bought["id"].clone()]);
    assert_eq!(get(&market, &format!("credit-purchases/{}", bought["id"].as_str().unwrap())).await, bought);
    // It is no adjustment of the platform.
    assert_eq!(get(&market, "adjustments").await["total"], 0);
    assert_eq!(event_types(&market, since), ["wallet.credited"]);
    for (value, problem) in [("0.00", "greater_than_equal"), ("10000000000.01", "less_than_equal")] {
        let refused = post(&market, "credit-purchases", &amount("buyer", value)).await;
        assert_eq!(refused.problems(), [format!("body.amount {problem}")]);
    }
}

#[tokio::test]
async fn credits_are_adjusted() {
    let market = sales_market();
    let body = json!({"team_id": team_id("buyer"), "amount": "-12.50", "description": "Booked twice"});
    let since = last_event(&market);
    let adjusted = post(&market, "adjustments", &body).await.expect_status(201);
    assert_eq!(
        adjusted,
        json!({
            "id": adjusted["id"], "team_id": team_id("buyer"), "amount": "-12.50", "currency": "USD",
            "description": "Booked twice", "created_at": json!(market.clock().now()),
        })
    );
    assert_eq!(event_types(&market, since), ["wallet.debited"]);
    assert_eq!(credits(&market, "buyer").await, "987.50");
    let id = adjusted["id"].as_str().unwrap();
    assert_eq!(get(&market, &format!("adjustments/{id}")).await, adjusted);
    assert_eq!(get(&market, &format!("ledger-entries/{id}")).await["postings"][0]["amount"], "-12.50");
    let filter = format!("adjustments?team_id={}", team_id("buyer"));
    assert_eq!(listed(&market, &filter, "amount").await, ["-12.50"]);
    assert_eq!(
        audited(&market, &adjusted["id"]).await,
        [("create_adjustment".to_owned(), json!(team_id("buyer")))]
    );
    let too_much = json!({"team_id": team_id("buyer"), "amount": "-987.51", "description": "All of it"});
    assert_eq!(post(&market, "adjustments", &too_much).await.expect_error(409), "insufficient_credits");
    let invalid = json!({"team_id": team_id("buyer"), "amount": "-0.00", "description": " "});
    assert_eq!(
        post(&market, "adjustments", &invalid).await.problems(),
        ["body.amount value_error", "body.description string_too_short"]
    );
    let conversion = market.get(OPERATOR, &format!("/operator/v1/conversions/{id}")).await;
    assert_eq!(conversion.expect_error(404), "not_found");
}

#[tokio::test]
async fn earnings_are_converted() {
    let (market, _) = market_with_earnings().await;
    let since = last_event(&market);
    let converted = post(&market, "conversions", &amount("seller", "5.00")).await.expect_status(201);
    assert_eq!((&converted["amount"], credits(&market, "seller").await), (&json!("5.00"), json!("1005.00")));
    let id = converted["id"].as_str().unwrap();
    assert_eq!(get(&market, &format!("conversions/{id}")).await, converted);
    let filter = format!("conversions?team_id={}", team_id("seller"));
    assert_eq!(listed(&market, &filter, "id").await, [converted["id"].clone()]);
    assert_eq!(get(&market, &format!("conversions?team_id={}", team_id("buyer"))).await["total"], 0);
    assert_eq!(event_types(&market, since), ["wallet.converted"]);
    let refused = post(&market, "conversions", &amount("seller", "40.01")).await;
    assert_eq!(refused.expect_error(409), "insufficient_earnings");
    let unknown = json!({"team_id": Uuid::nil(), "amount": "1.00"});
    assert_eq!(post(&market, "conversions", &unknown).await.problems(), ["body.team_id not_found"]);
}

#[tokio::test]
async fn withdrawals_are_paid_or_posted_back() {
    let (market, _) = market_with_earnings().await;
    let available =
        async || get(&market, &format!("wallets/{}", team_id("seller"))).await["earnings_available"].clone();
    let since = last_event(&market);
    let first = post(&market, "withdrawals", &amount("seller", "30.00")).await.expect_status(201);
    let second = post(&market, "withdrawals", &amount("seller", "10.00")).await.expect_status(201);
    assert_eq!((&first["status"], &first["decided_at"]), (&json!("requested"), &Value::Null));
    assert_eq!(available().await, "5.00");
    let refused = post(&market, "withdrawals", &amount("seller", "5.01")).await;
    assert_eq!(refused.expect_error(409), "insufficient_earnings");
    let path =
        |withdrawal: &Value, verb: &str| format!("withdrawals/{}{verb}", withdrawal["id"].as_str().unwrap());
    let paid = post(&market, &path(&first, "/paid"), &Value::Null).await.ok();
    assert_eq!((&paid["status"], &paid["reversal_entry_id"]), (&json!("paid"), &Value::Null));
    let failed = post(&market, &path(&second, "/failed"), &Value::Null).await.ok();
    assert_eq!(failed["status"], "failed");
    assert_eq!(available().await, "15.00");
    for field in ["ledger_entry_id", "reversal_entry_id"] {
        let entry = get(&market, &format!("ledger-entries/{}", failed[field].as_str().unwrap())).await;
        assert_eq!((&entry["withdrawal_id"], &entry["entry_type"]), (&failed["id"], &json!("withdrawal")));
    }
    assert_eq!(
        event_types(&market, since),
        ["withdrawal.requested", "withdrawal.requested", "withdrawal.paid", "withdrawal.failed"]
    );
    assert_invalid_transition(&post(&market, &path(&first, "/failed"), &Value::Null).await, "paid", &[]);
    assert_eq!(get(&market, &path(&first, "")).await, paid);
    let seller = team_id("seller");
    for (filter, expected) in [
        ("status=paid".to_owned(), vec![first["id"].clone()]),
        ("status=requested".to_owned(), vec![]),
        (format!("team_id={seller}"), vec![second["id"].clone(), first["id"].clone()]),
        (format!("team_id={}", team_id("buyer")), vec![]),
    ] {
        assert_eq!(listed(&market, &format!("withdrawals?{filter}"), "id").await, expected, "{filter}");
    }
    // A closed team can withdraw what it has earned, but no longer convert it.
    post(&market, &format!("teams/{seller}/close"), &Value::Null).await.ok();
    assert_eq!(post(&market, "conversions", &amount("seller", "1.00")).await.expect_error(409), "conflict");
    post(&market, "withdrawals", &amount("seller", "15.00")).await.expect_status(201);
}
