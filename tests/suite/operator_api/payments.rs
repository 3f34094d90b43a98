//! Payments outside the marketplace: what a key with the scope `payments` permits, and amounts that must match.

use marketplace::{
    domain::{listings::Actor, money::Cents},
    operations::{access::Platform, credit_purchases, teams},
};
use poem::http::Method;
use serde_json::{Value, json};

use super::sales_market::{
    DAY, OPERATOR, assert_invalid_transition, audited, event_types, get, last_event, patch, post, purchase,
    sales_market, team_id,
};
use crate::harness::{
    TestMarket, TestResponse,
    browser::Browser,
    documents::{self, Document},
    elements,
};

/// The operations that a key with the scope `payments` permits.
const PERMITTED: [&str; 13] = [
    "cancel_purchase",
    "complete_credit_purchase",
    "complete_purchase",
    "get_credit_purchase",
    "get_purchase",
    "get_team",
    "get_withdrawal",
    "list_credit_purchases",
    "list_purchases",
    "list_withdrawals",
    "mark_withdrawal_failed",
    "mark_withdrawal_paid",
    "reject_credit_purchase",
];

/// Creates a key with the scope `payments`. Returns its secret.
async fn payments_key(market: &TestMarket, operator: &str) -> String {
    let body = json!({"name": "Payments", "scope": "payments"});
    let created = market.call(operator, "POST", "/operator/v1/operator-keys", &body).await.expect_status(201);
    assert_eq!(created["key"]["scope"], "payments");
    created["secret"].as_str().unwrap().to_owned()
}

/// Sends a request to each operation of all documents, to records that do not exist.
#[tokio::test]
async fn key_permits_only_payments() {
    let market = TestMarket::demo();
    let key = payments_key(&market, "mkt_demo_operator").await;
    let mut permitted = Vec::new();
    for operation in documents::documents().iter().flat_map(Document::operations) {
        let steps = operation.path.split('/').map(|step| match step {
            "{job_id}" => "7",
            step if step.starts_with('{') => "00000000-0000-0000-0000-000000000000",
            step => step,
        });
        let path = steps.collect::<Vec<_>>().join("/");
        let method = Method::from_bytes(operation.method.as_bytes()).unwrap();
        let headers = [("x-api-key", key.as_str()), ("content-type", "application/json")];
        let response = market.send_body(method, &path, &headers, b"{}".to_vec()).await;
        if [200, 404, 422].contains(&response.status) && operation.path.starts_with("/operator/") {
            permitted.push(operation.id.as_str());
        } else {
            // What an upload grant permits needs no key.
            let needs_key = !operation.path.contains("/uploads/grants/{");
            assert!(
                !needs_key || matches!(response.status, 401 | 403),
                "{}: {}",
                operation.id,
                response.status
            );
        }
    }
    permitted.sort_unstable();
    assert_eq!(permitted, PERMITTED);
    for path in ["/metrics", "/v2/mcp/"] {
        let response = market.get(&key, path).await;
        assert!(matches!(response.status, 401 | 403 | 404 | 405), "{path}: {}", response.status);
    }
    Browser::new(&market).sign_in(&key).await.expect(422, "does not open the web app");
    let (id, created) = (team_key_id(&market).await, json!({}));
    let rotated = market
        .call("mkt_demo_operator", "POST", &format!("/operator/v1/operator-keys/{id}/rotate"), &created)
        .await
        .expect_status(201);
    assert_eq!(rotated["key"]["scope"], "payments", "a new key permits what the replaced one does");
}

/// Returns the ID of the key with the scope `payments`.
async fn team_key_id(market: &TestMarket) -> String {
    let page = market.get("mkt_demo_operator", "/operator/v1/operator-keys?scope=payments").await.ok();
    assert_eq!(page["items"].as_array().unwrap().len(), 1);
    page["items"][0]["id"].as_str().unwrap().to_owned()
}

/// Requests credits for a team, as it does in the web app. Returns the record.
async fn request_credits(market: &TestMarket) -> Value {
    let requested = market.write(|writer| {
        let platform = Platform::of_process();
        let member = platform.member(teams::resolve(writer.rows, &team_id("buyer").to_string())?)?;
        credit_purchases::request(writer, &member, Actor::Team, Cents(7_000))
    });
    get(market, &format!("credit-purchases/{}", requested.unwrap().id)).await
}

async fn withdraw(market: &TestMarket) -> Value {
    let body = json!({"team_id": team_id("seller"), "amount": "20.00"});
    post(market, "withdrawals", &body).await.expect_status(201)
}

async fn order(market: &TestMarket, team: &str) -> Value {
    post(market, "purchases", &purchase(team, "plain", "invoice")).await.expect_status(201)
}

/// Sends what became of a payment, with a key of the scope `payments`.
async fn report(market: &TestMarket, key: &str, path: &str, body: &Value) -> TestResponse {
    market.call(key, "POST", &format!("/operator/v1/{path}"), body).await
}

/// Checks both ends of a payment: one is reported, and the other one is then refused.
async fn check(
    market: &TestMarket,
    key: &str,
    collection: &str,
    record: &Value,
    [end, other]: [&str; 2],
    statuses: [&str; 2],
) {
    let id = &record["id"];
    let path = |verb: &str| format!("{collection}/{}/{verb}", id.as_str().unwrap());
    let amount = record.get("total").unwrap_or(&record["amount"]);
    let [right, wrong] = [json!({"amount": amount}), json!({"amount": "1.23", "currency": "USD"})];
    let [before, audits] = [last_event(market).0, audited(market, id).await.len() as i64];
    let missing = report(market, key, &path(end), &Value::Null).await;
    assert_eq!(missing.problems(), ["body.amount missing"], "{collection}");
    let refused = report(market, key, &path(end), &wrong).await;
    assert_eq!(refused.problems(), ["body.amount value_error"], "{collection}");
    let message = refused.json()["detail"][0]["msg"].as_str().unwrap().to_owned();
    assert!(message.contains("1.23") && message.contains(amount.as_str().unwrap()), "{message}");
    assert_eq!(report(market, OPERATOR, &path(end), &wrong).await.status, 422, "also with another scope");
    assert_eq!(get(market, path("").trim_end_matches('/')).await["status"], statuses[0]);
    assert_eq!([last_event(market).0, audited(market, id).await.len() as i64], [before, audits]);

    let first = report(market, key, &path(end), &right).await.ok();
    assert_eq!(first["status"], statuses[1]);
    let [after, audits] = [last_event(market).0, audited(market, id).await.len() as i64];
    assert!(after > before);
    assert_eq!(report(market, key, &path(end), &right).await.ok(), first, "{collection}");
    assert_eq!(report(market, OPERATOR, &path(end), &right).await.ok(), first, "{collection}");
    assert_eq!(report(market, key, &path(end), &wrong).await.status, 422);
    let contrary = report(market, key, &path(other), &right).await;
    assert_eq!(contrary.expect_error(409), "invalid_transition", "{collection}");
    let blank = report(market, OPERATOR, &path(end), &Value::Null).await;
    assert_eq!(blank.expect_error(409), "invalid_transition", "without an amount, nothing is repeated");
    assert_eq!([last_event(market).0, audited(market, id).await.len() as i64], [after, audits]);
}

#[tokio::test]
async fn amounts_must_match_and_reports_can_be_repeated() {
    let market = sales_market();
    post(&market, "purchases", &purchase("both", "plain", "credits")).await.expect_status(201);
    market.clock().advance(8 * DAY);
    market.market().run_due_steps().unwrap();
    let key = payments_key(&market, OPERATOR).await;
    for (verbs, status) in [(["complete", "cancel"], "completed"), (["cancel", "complete"], "cancelled")] {
        let team = if status == "completed" { "buyer" } else { "other" };
        let record = order(&market, team).await;
        check(&market, &key, "purchases", &record, verbs, ["pending", status]).await;
    }
    for (verbs, status) in [(["complete", "reject"], "completed"), (["reject", "complete"], "rejected")] {
        let record = request_credits(&market).await;
        check(&market, &key, "credit-purchases", &record, verbs, ["pending", status]).await;
    }
    for (verbs, status) in [(["paid", "failed"], "paid"), (["failed", "paid"], "failed")] {
        let record = withdraw(&market).await;
        check(&market, &key, "withdrawals", &record, verbs, ["requested", status]).await;
    }
}

#[tokio::test]
async fn body_of_a_payment_can_be_left_out() {
    let market = sales_market();
    let (first, second) = (order(&market, "buyer").await, order(&market, "other").await);
    let path = |order: &Value| format!("/operator/v1/purchases/{}/complete", order["id"].as_str().unwrap());
    let send = async |order: &Value, kind: &str, body: &str| {
        let headers = [("x-api-key", OPERATOR), ("content-type", kind), ("idempotency-key", "once")];
        market.send_body(Method::POST, &path(order), &headers, body.as_bytes().to_vec()).await
    };
    for body in ["x", "[]", "{\"amount\": \"52.50\"}"] {
        assert_eq!(send(&first, "text/plain", body).await.expect_error(400), "bad_request", "{body}");
    }
    assert_eq!(send(&first, "application/json", "[]").await.status, 422);
    assert_eq!(
        send(&first, "application/json", "{\"sum\": 1}").await.problems(),
        ["body.sum extra_forbidden"]
    );
    let completed = send(&first, "", " {} ").await.ok();
    assert_eq!(completed["status"], "completed");
    assert_eq!(send(&first, "application/json", "").await.ok(), completed, "the same request");
    let reused = send(&first, "application/json", "{\"amount\": \"52.50\"}").await;
    assert_eq!(reused.problems(), ["header.Idempotency-Key idempotency_key_reused"]);
    let with_amount = "{\"amount\": \"52.50\", \"currency\": null}";
    assert_eq!(
        send(&second, "application/json; charset=utf-8", with_amount).await.ok()["status"],
        "completed"
    );
}

#[tokio::test]
async fn events_of_payments_have_what_is_reported() {
    let market = sales_market();
    let since = last_event(&market);
    let ordered = order(&market, "buyer").await;
    assert_eq!(event_types(&market, since), ["purchase.created"]);
    let since = last_event(&market);
    request_credits(&market).await;
    assert_eq!(event_types(&market, since), ["credit_purchase.requested"]);
    let page = get(&market, "events?types=purchase.created&limit=100").await;
    let event = elements(&page["items"]).rfind(|event| event["subject"]["id"] == ordered["id"]).unwrap();
    assert_eq!(
        event["data"]["payment"],
        json!({"price": "50.00", "buyer_fee": "2.50", "pay_with": "invoice"})
    );
    assert_eq!(event["team_id"], ordered["team_id"]);
}

#[tokio::test]
async fn ended_keys_report_nothing() {
    let market = sales_market();
    let key = payments_key(&market, OPERATOR).await;
    let ordered = order(&market, "buyer").await;
    let path = format!("purchases/{}/complete", ordered["id"].as_str().unwrap());
    let page = get(&market, "operator-keys?scope=payments").await;
    let id = page["items"][0]["id"].as_str().unwrap();
    patch(&market, &format!("operator-keys/{id}"), &json!({"expires_at": null})).await.ok();
    post(&market, &format!("operator-keys/{id}/revoke"), &Value::Null).await.ok();
    assert_eq!(report(&market, &key, &path, &json!({"amount": "52.50"})).await.status, 401);
    let cancelled =
        post(&market, &format!("purchases/{}/cancel", ordered["id"].as_str().unwrap()), &json!({})).await;
    assert_eq!(cancelled.ok()["status"], "cancelled");
    assert_invalid_transition(&post(&market, &path, &json!({})).await, "cancelled", &[]);
}
