//! Bundles: deliveries of purchases, and downloads at signed URLs.

mod attestation_log;
mod attestations;
mod attested_checks;
mod croissant;
mod downloads;
mod fixed;
mod links;
mod samples;
mod verification;
mod zip_layout;

use std::collections::BTreeMap;

use marketplace::{
    domain::purchases::{PayWith, PurchaseKind},
    market::DATABASE_FILE,
};
use poem::http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::{
    catalog::small_market::{published, seed_market},
    harness::{
        BASE, TestMarket, TestResponse,
        archives::{unzip, zip_of},
        git::{Repositories, commit},
    },
    sales::{DAY, buy, give_credits, listing_id},
    vendor_api::seller_market::{seeded_id, seller_post, upload_zip},
};

/// The files of the repository.
const FILES: [(&str, &str); 5] = [
    ("LICENSE", "MIT"),
    ("README.md", "# Ledger\n\nKeeps accounts.\n"),
    ("src/lib.rs", "pub mod main;\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("docs/notes.txt", "Notes.\n"),
];

/// The files of the raw data.
const DATA: [(&str, &str); 3] = [("README.md", "Scans."), ("scans/1.txt", "one"), ("scans/2.txt", "two")];

/// A market in which the seller offers `all`: a codebase, raw data, a taskset with two tasks, and an environment.
struct Shop {
    market: TestMarket,
    _repositories: Repositories,
    /// IDs of the codebase, the raw data, the taskset asset, and the environment.
    assets: [String; 4],
}

fn taskset() -> Value {
    let version = |number: u32| {
        json!({"created_at": format!("-P{}D", 70 - number), "current_state": "live", "lifecycle_stage": "accepted",
            "brief": {"prompt": format!("Do {number}.")}, "builds": [{"status": "succeeded", "created_at": "-P50D"}],
            "traces": [{"model": "m", "reward": 0.5, "graded_at": "-P40D", "build_version": 1}]})
    };
    let task = |key: &str, versions: Value| json!({"key": key, "name": key, "created_at": "-P75D", "versions": versions});
    json!({"key": "set", "team": "seller", "name": "Set", "created_at": "-P80D", "columns": [],
        "tasks": [task("one", json!([version(1), version(2)])), task("two", json!([version(1)]))]})
}

/// Creates the market. `change` changes the record of the listing, given the IDs of its assets.
async fn shop_with(change: impl FnOnce(&mut Value, &[String; 4])) -> Shop {
    shop_of(&DATA, change).await
}

/// Creates the market with raw data that has these files.
async fn shop_of(data: &[(&str, &str)], change: impl FnOnce(&mut Value, &[String; 4])) -> Shop {
    let repositories = Repositories::new();
    let path = repositories.create("acme/ledger");
    commit(&path, &FILES, "Begin", &[]);
    let url = repositories.url();
    let market = TestMarket::with_settings(|settings| {
        settings.browse_gate.required_published = 0;
        settings.repositories.github_url = url;
    });
    let environment = json!({"key": "env", "team": "seller", "sku": "environment", "title": "Env", "created_at": "-P90D",
        "description": "A shell.", "domain_tags": ["finance"], "notes": "private",
        "environment": {"build_version": 2, "capabilities": ["filesystem"], "task_count": 3,
            "extra_columns": {"secret": "hidden"}}});
    let set_asset = json!({"key": "tasks", "team": "seller", "sku": "taskset", "title": "Tasks", "created_at": "-P79D",
        "domain_tags": ["finance"], "price_usd": 20, "taskset": "set"});
    let records = json!({"tasksets": [taskset()], "assets": [environment, set_asset]});
    seed_market(&market, &[], &records);
    let code = json!({"title": "Ledger", "exclusivity": "available", "price_usd": 30,
        "data": {"channel": "github", "repo_full_name": "acme/ledger"}});
    let code = seller_post(&market, "codebases", code).await["id"].as_str().unwrap().to_owned();
    let url = upload_zip(&market, "Seller house", &zip_of(data));
    let data = json!({"title": "Scans", "data": {"channel": "zip", "url": url}});
    let data = seller_post(&market, "raw-data", data).await["id"].as_str().unwrap().to_owned();
    market.run_background_on_a_thread().await;
    let assets = [code, data, seeded_id("assets", "tasks"), seeded_id("assets", "env")];
    // The listing is newer than its assets.
    market.clock().advance(DAY);
    let mut listing =
        published("all", 0, &json!({"assets": assets, "sample_price_usd": 1, "created_at": "-PT4H"}));
    for (index, at) in ["-PT3H", "-PT2H", "-PT1H"].iter().enumerate() {
        listing["history"][index]["at"] = json!(at);
    }
    change(&mut listing, &assets);
    market.seed_json(&json!({"listings": [listing]}));
    for team in ["buyer", "other", "both", "seller"] {
        give_credits(&market, team, 100_000);
    }
    Shop { market, _repositories: repositories, assets }
}

async fn shop() -> Shop {
    shop_with(|_, _| {}).await
}

impl Shop {
    /// Buys the listing or its sample, and prepares the bundle. Returns the ID of the purchase.
    async fn buy(&self, team: &str, kind: PurchaseKind) -> Uuid {
        let bought = buy(&self.market, team, listing_id("all"), kind, PayWith::Credits).unwrap();
        self.market.run_background_on_a_thread().await;
        bought.id
    }

    /// Changes rows as no operation can.
    fn execute(&self, sql: &str) {
        let rows = rusqlite::Connection::open(self.market.market().data_dir().join(DATABASE_FILE)).unwrap();
        rows.execute(sql, []).unwrap();
    }

    async fn detail(&self, team: &str) -> Value {
        let path = format!("/v2/listings/browse/{}", listing_id("all"));
        self.market.get(&format!("mkt_{team}"), &path).await.ok()
    }

    /// Returns the path and the query of a team's link.
    async fn link(&self, team: &str) -> String {
        let detail = self.detail(team).await;
        let url = detail["bundle_download_url"].as_str().unwrap_or_else(|| panic!("{team} has no link"));
        url.strip_prefix(BASE).unwrap().to_owned()
    }

    /// Requests a path without a key.
    async fn fetch(&self, path: &str, headers: &[(&str, &str)]) -> TestResponse {
        self.market.send(Method::GET, path, headers).await
    }

    /// Downloads the bundle of a team.
    async fn download(&self, team: &str) -> Vec<u8> {
        let response = self.fetch(&self.link(team).await, &[]).await;
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.bytes));
        assert_eq!(response.header("content-length"), response.bytes.len().to_string());
        response.bytes
    }
}

/// Returns the files of a bundle that do not depend on who bought it, and when: the entries, and the manifest.
fn delivered(bundle: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = unzip(bundle);
    files.retain(|path, _| path.contains('/') || path == "manifest.json");
    files
}

/// Returns the names of the files of an archive in a bundle.
fn names(archive: &[u8]) -> Vec<String> {
    unzip(archive).into_keys().collect()
}

/// Returns the lines of a file as JSON.
fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
