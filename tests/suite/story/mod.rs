//! A story over HTTP with the keys of a vendor, a buyer, and an operator: from the upload to the earnings. Every POST
//! request is sent twice with the same idempotency key, and acts once. What the operator and the buyer send has the
//! name of the buyer wherever a client may write a text of its own, and nothing that the vendor gets has it.

mod records;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use marketplace::operations::webhook_sender::WebhookSender;
use poem::http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;

use crate::{
    anonymity::{Hidden, planted, text_of},
    harness::{
        BASE, TestMarket, TestResponse,
        archives::{unzip, zip_of},
        receiver::{Receiver, Reply},
    },
};

/// Key of the operator.
const OPERATOR: &str = "mkt_story_operator";

/// Name of the vendor.
const VENDOR: &str = "Quayside Works";

/// Name of the buyer.
const BUYER: &str = "Amberline Labs";

/// Microseconds per minute.
const MINUTE: i64 = 60_000_000;

/// Files of the codebase that is uploaded.
const FILES: [(&str, &str); 3] = [
    ("README.md", "# Harbor ledger\n\nBooks berths and dues.\n"),
    ("LICENSE", "MIT"),
    ("src/main.rs", "fn main() {}\n"),
];

/// A team with its key, and the endpoint of its webhook.
struct Party {
    id: String,
    key: String,
    webhook: Webhook,
}

/// A webhook with its endpoint.
struct Webhook {
    id: String,
    secret: String,
    endpoint: Receiver,
}

/// A market with the three.
struct Story {
    market: TestMarket,
    vendor: Party,
    buyer: Party,
    operators: Webhook,
    /// Whatever the vendor got in responses.
    seen_by_vendor: Mutex<String>,
    _sender: WebhookSender,
}

/// Sends a request with a request ID, POST requests twice. Time passes before.
async fn send(market: &TestMarket, key: &str, method: &str, path: &str, body: &Value) -> TestResponse {
    static SENT: AtomicUsize = AtomicUsize::new(0);
    let id = planted(BUYER, SENT.fetch_add(1, Ordering::Relaxed));
    let headers = [("x-request-id", id.as_str()), ("idempotency-key", id.as_str())];
    if method != "POST" {
        return market.call_with(key, method, path, body, &headers[..1]).await;
    }
    market.clock().advance(MINUTE);
    let first = market.call_with(key, method, path, body, &headers).await;
    let again = market.call_with(key, method, path, body, &headers).await;
    assert_eq!((first.status, &first.bytes), (again.status, &again.bytes), "{path}");
    first
}

/// Sends a POST request of the operator, which succeeds.
async fn operate(market: &TestMarket, path: &str, body: Value) -> Value {
    let response = send(market, OPERATOR, "POST", &format!("/operator/v1/{path}"), &body).await;
    assert!(response.status < 300, "{path}: {}", response.json());
    response.json()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

/// Creates a webhook for everything that a team, or the operators, may know.
async fn create_webhook(market: &TestMarket, team: Option<&str>) -> Webhook {
    let endpoint = Receiver::start(Reply::status(204));
    let created = operate(market, "webhooks", json!({"team_id": team, "url": endpoint.url})).await;
    Webhook { id: text(&created["webhook"]["id"]), secret: text(&created["secret"]), endpoint }
}

async fn create_party(market: &TestMarket, name: &str, role: &str) -> Party {
    let team = json!({"name": name, "roles": [role], "nda_accepted": true});
    let id = text(&operate(market, "teams", team).await["id"]);
    let key = text(&operate(market, "keys", json!({"team_id": id, "name": "story"})).await["secret"]);
    let webhook = create_webhook(market, Some(&id)).await;
    operate(market, "credit-purchases", json!({"team_id": id, "amount": "1000.00"})).await;
    Party { id, key, webhook }
}

impl Story {
    async fn begin() -> Story {
        let market = TestMarket::empty();
        market.seed_json(&json!({"operator_keys": [
            {"key": "story", "name": "story", "secret": OPERATOR, "created_at": "-P1D"},
        ]}));
        let sender = WebhookSender::start(market.market(), &Handle::current()).unwrap();
        let operators = create_webhook(&market, None).await;
        let vendor = create_party(&market, VENDOR, "vendor").await;
        let buyer = create_party(&market, BUYER, "buyer").await;
        Story { market, vendor, buyer, operators, seen_by_vendor: Mutex::default(), _sender: sender }
    }

    async fn operate(&self, path: &str, body: Value) -> Value {
        operate(&self.market, path, body).await
    }

    /// Sends a request of the vendor, which succeeds.
    async fn sell(&self, method: &str, path: &str, body: Value) -> Value {
        // The vendor's own request ID returns to it.
        let headers = [("x-request-id", "vendor")];
        if method == "POST" {
            self.market.clock().advance(MINUTE);
        }
        let response = self.market.call_with(&self.vendor.key, method, path, &body, &headers).await;
        assert!(response.status < 300, "{path}: {}", response.json());
        self.seen_by_vendor.lock().unwrap().push_str(&text_of(&response));
        response.json()
    }

    /// Returns what the buyer reads.
    async fn browse(&self, path: &str) -> Value {
        send(&self.market, &self.buyer.key, "GET", path, &Value::Null).await.ok()
    }

    /// Runs the background jobs, a minute later.
    fn run_background(&self) {
        self.market.clock().advance(MINUTE);
        self.market.run_background();
    }

    /// The vendor creates a codebase without data, and uploads another one. Returns the IDs of both.
    async fn create_assets(&self) -> [String; 2] {
        let mut codebase = crate::vendor_api::seller_market::complete_codebase();
        codebase["title"] = json!("Berth planner");
        let planner = self.sell("POST", "/v2/codebases", codebase.clone()).await;
        let grant = json!({"team_id": self.vendor.id, "title": "Harbor ledger"});
        let token = text(&self.operate("grants", grant).await["token"]);
        let zip = zip_of(&FILES);
        let grants = format!("/v2/vendor/uploads/grants/{token}");
        let file = json!({
            "file_name": "ledger.zip", "size_bytes": zip.len(), "content_type": "application/zip",
        });
        let plan = self.sell("POST", &grants, file).await;
        let url = text(&plan["url"]);
        let (path, length) = (url.strip_prefix(BASE).unwrap(), zip.len().to_string());
        let sent = self.market.send_body(Method::PUT, path, &[("content-length", &length)], zip).await;
        assert_eq!(sent.status, 200);
        let part = json!({"part_number": 1, "etag": sent.header("etag")});
        let complete = json!({"upload_id": plan["upload_id"], "parts": [part]});
        let ledger = text(&self.sell("POST", &format!("{grants}/complete"), complete).await["id"]);
        self.run_background();
        let path = format!("/v2/codebases/{ledger}");
        let analyzed = self.sell("GET", &path, Value::Null).await;
        let missing = analyzed["missing"].as_array().unwrap().iter().map(text);
        let rest: serde_json::Map<_, _> =
            missing.map(|name| (name.clone(), codebase[&name].clone())).collect();
        let complete = self.sell("PATCH", &path, Value::Object(rest)).await;
        assert_eq!((&complete["stage"], &planner["stage"]), (&json!("complete"), &json!("proposed")));
        [text(&planner["id"]), ledger]
    }

    /// The vendor lists its assets, the operator approves, and the listing is published. Returns its ID.
    async fn publish(&self, assets: &[String; 2]) -> String {
        let listing = json!({
            "team_id": self.vendor.id, "title": "Harbor ledger with a berth planner",
            "description": "Dues, berths, and tides.", "domain_tags": ["logistics"], "price": "900.00",
            "sample_price": "20.00", "sample": [{"asset_id": assets[1], "paths": ["src"]}],
            "accepts_bids": true, "asset_ids": assets,
        });
        let id = text(&self.operate("listings", listing).await["id"]);
        let mut stages = Vec::new();
        for verb in ["submit", "approve", "publish"] {
            let listing = self.operate(&format!("listings/{id}/{verb}"), Value::Null).await;
            stages.push(text(&listing["stage"]));
            self.run_background();
        }
        assert_eq!(stages, ["review", "ready", "active"]);
        id
    }

    /// The buyer finds the listing, and buys its sample. Returns the ID of the purchase.
    async fn buy_sample(&self, listing: &str, ledger: &str) -> String {
        let found = self.browse("/v2/listings/browse?query=berths").await;
        assert_eq!((&found["items"][0]["id"], &found["counts"]["all"]), (&json!(listing), &json!(1)));
        assert_eq!(found["items"][0]["team_name"], VENDOR);
        let purchase = json!({
            "team_id": self.buyer.id, "listing_id": listing, "kind": "sample", "pay_with": "credits",
        });
        let bought = self.operate("purchases", purchase).await;
        assert_eq!((&bought["status"], &bought["total"]), (&json!("completed"), &json!("21.00")));
        self.run_background();
        let files = self.download(listing).await;
        assert_eq!(files.len(), 1, "the sample has what the vendor chose");
        let sample = unzip(&files[&format!("{ledger}/sample.zip")]);
        assert_eq!(sample.into_keys().collect::<Vec<_>>(), ["src/main.rs"]);
        text(&bought["id"])
    }

    /// The buyer bids, the vendor accepts, and the buyer downloads the bundle. Returns the IDs of the offer and of the
    /// purchase.
    async fn bid(&self, listing: &str, assets: &[String; 2]) -> (String, String) {
        let bid = json!({
            "team_id": self.buyer.id, "listing_id": listing, "amount": "800.00", "pay_with": "credits",
        });
        let offer = text(&self.operate("offers", bid).await["id"]);
        let own = self.sell("GET", &format!("/v2/listings/{listing}"), Value::Null).await;
        assert_eq!(own["active_bid_count"], 1);
        let accepted = self.operate(&format!("offers/{offer}/accept"), Value::Null).await;
        assert_eq!(accepted["status"], "accepted");
        self.run_background();
        let files = self.download(listing).await;
        assert_eq!(files.len(), 2, "each asset has an entry");
        assert!(files[&format!("{}/upload.zip", assets[1])] == zip_of(&FILES), "the upload is delivered");
        let planner: Value = serde_json::from_slice(&files[&format!("{}/asset.json", assets[0])]).unwrap();
        assert_eq!(planner["title"], "Berth planner");
        let bought = self.browse("/v2/listings/browse/purchases").await;
        (offer, text(&bought["purchases"][0]["purchase"]["id"]))
    }

    /// Downloads the bundle of the buyer, and checks the digest of each entry. Returns the entries by path.
    async fn download(&self, listing: &str) -> BTreeMap<String, Vec<u8>> {
        let detail = self.browse(&format!("/v2/listings/browse/{listing}")).await;
        let url = text(&detail["bundle_download_url"]);
        let response = self.market.send(Method::GET, url.strip_prefix(BASE).unwrap(), &[]).await;
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.bytes));
        let mut files = unzip(&response.bytes);
        let manifest: Value = serde_json::from_slice(&files.remove("manifest.json").unwrap()).unwrap();
        for document in ["croissant.json", "attestation.json"] {
            assert!(files.remove(document).is_some(), "{document}");
        }
        let entries = manifest["entries"].as_array().unwrap();
        assert_eq!(entries.len(), files.len());
        for entry in entries {
            let path = text(&entry["path"]);
            let digest = format!("{:x}", Sha256::digest(&files[&path]));
            assert_eq!(entry["sha256"], digest, "{path}");
            assert_eq!(detail["bundle_manifest"][&path]["sha256"], digest, "{path}");
        }
        files
    }

    /// The vendor sees what it sold, and its earnings, which are pending, and then available.
    async fn earn(&self, listing: &str) {
        let sales = self.sell("GET", "/v2/listings/sales", Value::Null).await;
        assert_eq!(sales["total_earnings"], 738.0);
        let sold = sales["sales"].as_array().unwrap().iter();
        let sold: Vec<_> =
            sold.map(|sale| (&sale["listing_id"], &sale["purchase_kind"], &sale["amount"])).collect();
        let (listing, kinds) = (json!(listing), [json!("accepted_bid"), json!("sample")]);
        assert_eq!(
            sold,
            [(&listing, &kinds[0], &json!(720.0)), (&listing, &kinds[1], &json!(18.0))],
            "the price without the platform's fee"
        );
        let earnings = async |pending: &str, available: &str| {
            let wallet = self.sell("GET", "/v2/wallet", Value::Null).await;
            let expected = json!({"total": "738.00", "pending": pending, "available": available});
            assert_eq!(wallet["earnings"], expected);
        };
        earnings("738.00", "0.00").await;
        self.market.clock().advance(7 * 24 * 60 * MINUTE);
        // The server does this when the time has come.
        self.market.market().run_due_steps().unwrap();
        earnings("0.00", "738.00").await;
    }

    /// Checks that nothing identifies the buyer to the vendor.
    fn assert_buyer_is_unknown(&self) {
        let mut hidden = Hidden::default();
        hidden.add([&self.buyer.id, &self.buyer.key].map(String::clone));
        hidden.add([BUYER.to_owned()]);
        hidden.assert_absent("a response to the vendor", &self.seen_by_vendor.lock().unwrap());
        for request in self.vendor.webhook.endpoint.received() {
            hidden.assert_absent("a request to the vendor", &format!("{:?}", request.headers));
            hidden.assert_absent("a request to the vendor", &request.body);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vendor_sells_to_a_buyer_that_it_does_not_know() {
    let story = Story::begin().await;
    let assets = story.create_assets().await;
    let listing = story.publish(&assets).await;
    let sample = story.buy_sample(&listing, &assets[1]).await;
    let (offer, purchase) = story.bid(&listing, &assets).await;
    story.earn(&listing).await;
    story.assert_notifications().await;
    story.assert_histories(&listing, &offer, [&sample, &purchase]).await;
    story.assert_events_and_webhooks().await;
    story.assert_audit().await;
    story.assert_buyer_is_unknown();
}
