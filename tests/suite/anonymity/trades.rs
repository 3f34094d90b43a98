//! Trades over HTTP, by an operator in the names of buyers. Every request has the name of the buyer in `X-Request-Id`
//! and `Idempotency-Key`.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::planted;
use crate::harness::{TestMarket, TestResponse};

/// A buyer: its ID and its name.
#[derive(Clone, Debug)]
pub struct Buyer {
    pub id: String,
    pub name: String,
}

/// Sends requests in the names of buyers.
pub struct Trades<'a> {
    pub market: &'a TestMarket,
    /// Key of an operator.
    pub operator: &'a str,
    /// Number of requests so far.
    sent: AtomicUsize,
    /// Number of requests that changed something.
    accepted: AtomicUsize,
}

impl<'a> Trades<'a> {
    pub const fn new(market: &'a TestMarket, operator: &'a str) -> Trades<'a> {
        Trades { market, operator, sent: AtomicUsize::new(0), accepted: AtomicUsize::new(0) }
    }

    /// Number of requests that changed something.
    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Sends a request in the name of a buyer.
    async fn send(&self, buyer: &Buyer, method: &str, path: &str, body: &Value) -> TestResponse {
        let text = planted(&buyer.name, self.sent.fetch_add(1, Ordering::Relaxed));
        let mut headers = vec![("x-request-id", text.as_str())];
        if method == "POST" {
            headers.push(("idempotency-key", &text));
        }
        let path = format!("/operator/v1/{path}");
        let response = self.market.call_with(self.operator, method, &path, body, &headers).await;
        let allowed = [200, 201, 409, 422];
        assert!(allowed.contains(&response.status), "{method} {path}: {}", response.json());
        assert_eq!(response.header("x-request-id"), text, "the market takes the text");
        self.accepted.fetch_add(usize::from(response.status < 300), Ordering::Relaxed);
        response
    }

    /// Creates something, and returns its ID if that is allowed.
    async fn create(&self, buyer: &Buyer, path: &str, body: &Value) -> Option<String> {
        let created = self.send(buyer, "POST", path, body).await;
        (created.status == 201).then(|| created.json()["id"].as_str().unwrap().to_owned())
    }

    /// Bids, changes the bid, and withdraws it; bids again, and is declined; bids again, and is accepted.
    pub async fn bid(&self, buyer: &Buyer, listing: &str) {
        let offer = json!({
            "team_id": buyer.id, "listing_id": listing, "amount": "12.00", "pay_with": "credits",
        });
        for verb in ["withdraw", "decline", "accept"] {
            let Some(id) = self.create(buyer, "offers", &offer).await else { return };
            self.send(buyer, "PATCH", &format!("offers/{id}"), &json!({"amount": "13.00"})).await;
            self.send(buyer, "POST", &format!("offers/{id}/{verb}"), &Value::Null).await;
        }
    }

    /// Buys the sample and the listing, each with credits and by invoice, and returns what can be returned.
    pub async fn buy(&self, buyer: &Buyer, listing: &str) {
        let credits = json!({"team_id": buyer.id, "amount": "100000.00"});
        self.send(buyer, "POST", "credit-purchases", &credits).await;
        for (kind, pay_with, verb) in [
            ("sample", "invoice", "cancel"),
            ("sample", "credits", "refund"),
            ("full", "credits", "refund"),
            ("full", "invoice", "complete"),
        ] {
            let purchase = json!({
                "team_id": buyer.id, "listing_id": listing, "kind": kind, "pay_with": pay_with,
            });
            let Some(id) = self.create(buyer, "purchases", &purchase).await else { continue };
            self.send(buyer, "POST", &format!("purchases/{id}/{verb}"), &Value::Null).await;
        }
    }
}
